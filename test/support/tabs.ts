import { keccak_256 } from '@noble/hashes/sha3.js';
import { onTestFinished } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import type { InlineExtras, NodeOptions } from '../../src/hosts/options/options.js';
import type { NodeTransport } from '../../src/hosts/provider/transport.js';
import { openShared, type SharingEnvironment, type SharingOptions } from '../../src/hosts/sharing/open-shared.js';
import type { Channel } from '../../src/hosts/sharing/peer-channels.js';
import type { Locks } from '../../src/hosts/sharing/writer-election.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Commit, PageStore } from '../../src/store/page-store.js';
import { StoreHealth } from '../../src/store/store-status.js';
import { KeptStore } from './dev-node.js';
import { type Gates, sharingOf, stubLog, stubNode } from './stub-node.js';

interface Request {
  readonly tab: Tab;
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Exclusive locks as in the Web Locks specification: queued in order, stolen, and released when their tab is killed.
 *
 * @source W3C Web Locks API, 2.5 to 4.3
 */
class LockWorld {
  private readonly queues = new Map<string, Request[]>();
  private readonly held = new Map<string, Request>();

  request(request: Request, { signal, steal }: LockOptions): void {
    const { name, tab, reject } = request;
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    if (steal) {
      this.held.get(name)?.reject(new DOMException('stolen', 'AbortError'));
      this.grant(request);
      return;
    }
    const queue = this.queues.get(name) ?? [];
    this.queues.set(name, queue);
    queue.push(request);
    signal?.addEventListener('abort', () => {
      if (!queue.includes(request) || tab.isDead) return;
      queue.splice(queue.indexOf(request), 1);
      reject(signal.reason);
    });
    this.next(name);
  }

  names(): string[] {
    return [...this.held.keys()];
  }

  /** The browser drops the locks and requests of a killed tab. */
  kill(tab: Tab): void {
    for (const queue of this.queues.values()) {
      for (const request of queue.filter((one) => one.tab === tab)) queue.splice(queue.indexOf(request), 1);
    }
    for (const [name, request] of this.held) {
      if (request.tab !== tab) continue;
      this.held.delete(name);
      this.next(name);
    }
  }

  private next(name: string): void {
    if (this.held.has(name)) return;
    const request = this.queues.get(name)?.shift();
    if (request !== undefined) this.grant(request);
  }

  private grant(request: Request): void {
    this.held.set(request.name, request);
    queueMicrotask(async () => {
      try {
        request.resolve(await request.work());
      } catch (error) {
        request.reject(error);
      }
      if (this.held.get(request.name) !== request) return;
      this.held.delete(request.name);
      this.next(request.name);
    });
  }
}

/** A page, or the worker in it. After `kill` it sends and writes nothing. */
export class Tab {
  isDead = false;
  /** Its thread is blocked, so events wait. */
  private isHung = false;
  private isStoreHung = false;
  private readonly channels = new Set<BroadcastChannel>();
  private waiting: (() => void)[] = [];

  constructor(private readonly browser: TestBrowser) {}

  get environment(): Partial<SharingEnvironment> {
    return {
      locks: this.browser.hasLocks ? this.locks : undefined,
      channel: (name) => this.channel(name),
      openStore: async () => this.store(),
    };
  }

  /** Ends the tab at once, as closing a page does. */
  kill(): void {
    this.isDead = true;
    for (const channel of this.channels) channel.close();
    this.browser.locks.kill(this);
  }

  /** @param withStore - its calls of the store wait too */
  hang(withStore = false): void {
    this.isHung = true;
    this.isStoreHung = withStore;
  }

  resume(): void {
    this.isHung = false;
    this.isStoreHung = false;
    for (const go of this.waiting.splice(0)) go();
  }

  private readonly locks: Locks = {
    request: (name, options, work) =>
      new Promise((resolve, reject) => {
        if (this.isDead) return;
        const alive = (tell: (value: unknown) => void) => (value: unknown) => this.run(() => tell(value));
        const inTab = () => new Promise<unknown>((done, fail) => this.run(() => work().then(done, fail)));
        const request = { tab: this, name, work: inTab, resolve: alive(resolve), reject: alive(reject) };
        this.browser.locks.request(request, options);
      }),
    query: async () => ({
      held: this.browser.locks.names().map((name) => ({ name, mode: 'exclusive', clientId: '' })),
      pending: [],
    }),
  };

  /** Runs `work` in this tab's thread. */
  private run(work: () => void): void {
    if (this.isDead) return;
    if (this.isHung) this.waiting.push(() => this.run(work));
    else work();
  }

  private channel(name: string): Channel {
    const real = new BroadcastChannel(name);
    this.channels.add(real);
    const channel: Channel = {
      onmessage: null,
      postMessage: (message) => this.run(() => real.postMessage(message)),
      close: () => {
        this.channels.delete(real);
        real.close();
      },
    };
    real.onmessage = (event) => this.run(() => channel.onmessage?.(event as unknown as MessageEvent));
    return channel;
  }

  private store(): PageStore {
    const { store } = this.browser;
    const gone = () => new PlumblineError('STORE_UNAVAILABLE', 'gone', { reason: 'the tab is dead' });
    const checked = async <T>(work: () => Promise<T>) => {
      if (this.isStoreHung) await new Promise<void>((resolve) => this.run(resolve));
      if (this.isDead) throw gone();
      return work();
    };
    return Object.assign(new MemoryStore(), {
      health: new StoreHealth('durable'),
      get: (...args: Parameters<PageStore['get']>) => checked(() => store.get(...args)),
      keys: (...args: Parameters<PageStore['keys']>) => checked(() => store.keys(...args)),
      getMany: (...args: Parameters<PageStore['getMany']>) => checked(() => store.getMany(...args)),
      commit: (commit: Commit) => checked(() => store.commit(commit)),
      close: async () => {},
    });
  }
}

/** Several tabs with one database and one set of locks. */
export class TestBrowser {
  readonly store = new KeptStore();
  readonly locks = new LockWorld();
  readonly name = `tabs-${crypto.randomUUID()}`;
  private readonly nodes: { tab: Tab; node: NodeTransport }[] = [];

  constructor(readonly hasLocks = true) {
    onTestFinished(async () => {
      for (const { tab, node } of this.nodes.reverse()) {
        tab.resume();
        if (!tab.isDead) await node.close().catch(() => {});
      }
    });
  }

  tab(): Tab {
    return new Tab(this);
  }

  async open(
    tab: Tab,
    open: SharingOptions['open'],
    more: { options?: NodeOptions; extras?: InlineExtras; sharing?: Partial<SharingOptions> } = {},
  ): Promise<NodeTransport> {
    const { options = {}, extras = {}, sharing = {} } = more;
    const opening = openShared({ ...options, storeName: this.name }, extras, {
      open,
      environment: tab.environment,
      ...sharing,
    });
    const node = await opening;
    this.nodes.push({ tab, node });
    return node;
  }
}

/** How long a writer may be silent in tests, ms. */
export const HUNG_AFTER_MS = 1_000;
/** Hash of a transaction. */
export const hashOf = (raw: string) => bytesToHex(keccak_256(hexToBytes(raw)));

/** Opens `count` tabs with one node each, one after the other. The first node is the writer. */
export async function tabs(count: number, gates: Gates = {}, browser = new TestBrowser()) {
  const logs = Array.from({ length: count }, stubLog);
  const opened: { tab: ReturnType<TestBrowser['tab']>; node: NodeTransport }[] = [];
  for (const log of logs) {
    const tab = browser.tab();
    const sharing = { hungAfterMs: HUNG_AFTER_MS };
    opened.push({ tab, node: await browser.open(tab, stubNode(log, gates), { sharing }) });
  }
  return { browser, logs, tabs: opened.map(({ tab }) => tab), nodes: opened.map(({ node }) => node) };
}

/** The role of each node. */
export const rolesOf = async (nodes: readonly NodeTransport[]) =>
  (await Promise.all(nodes.map(sharingOf))).map(({ role }) => role);

/** Resolves when one node has next said something to all others. */
export function heardFrom(browser: TestBrowser, id: string): Promise<void> {
  const channel = new BroadcastChannel(`plumbline-writer-${browser.name}`);
  return new Promise((resolve) => {
    channel.onmessage = ({ data }) => {
      if ((data as { from?: unknown } | undefined)?.from !== id) return;
      channel.close();
      resolve();
    };
  });
}
