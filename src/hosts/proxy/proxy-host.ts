import { isLayerOne } from '../../networks/network.js';
import { withDefaults } from '../../primitives/option-table.js';
import { createFetchHandler } from '../../rpc/http.js';
import { servedMethods } from '../../rpc/method-info.js';
import { NODE_OPTIONS, type NodeInfo, type NodeOptions, textOf } from '../options/options.js';
import { type NodeTransport, nodeClosed } from '../provider/transport.js';
import { type ProxyConfig, requireConfig, serviceWorkerFailed } from './config.js';
import { answerSplit, forwardTo, type Mark } from './forward.js';
import { type Found, type StoredConfig, storedForm, Targets, withSecrets } from './stored-config.js';

/** What the proxy needs of the service worker. */
export interface ProxyEnvironment {
  readonly openNode: (options: NodeOptions) => Promise<NodeTransport>;
  readonly loadConfig: () => Promise<StoredConfig | undefined>;
  /** Stores the configuration, or deletes it if undefined. */
  readonly storeConfig: (config: StoredConfig | undefined) => Promise<void>;
  /** Asks all pages for the configuration with its keys. Does not wait for their answers. */
  readonly askPages: (accept: (config: ProxyConfig) => void) => void;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** The configuration in use, with its node. */
interface Active {
  readonly stored: StoredConfig;
  readonly targets: Targets;
  /** Whether a chain of the node has a method; the first one when left out. */
  readonly serves: (method: string, chain: number | undefined) => boolean;
  readonly node: LazyNode;
  /** With keys. Undefined after a restart of the worker, until it has the keys again. */
  options: NodeOptions | undefined;
}

/** How long pages may take to send the keys, ms. */
const KEYS_TIMEOUT_MS = 10_000;
const CLASSES_HEADER = 'plumbline-answers';
const LEVELS_HEADER = 'plumbline-levels';
const RELAYED_HEADER = 'plumbline-relayed';

/**
 * The proxy behind a service worker's events. After a restart it reads its configuration from the store. The keys come with the
 * next request that has them in its URL, or from the pages.
 */
export class ProxyHost {
  /** Undefined until it has been read (`loaded`), and when there is no configuration. */
  private active: Active | undefined;
  private loading: Promise<void> | undefined;
  private loaded = false;
  /** Resolves when the previous node is closed. The next node waits for it, because a store has one writer. */
  private closing: Promise<unknown> = Promise.resolve();
  private readonly waitingForKeys = new Set<() => void>();

  constructor(private readonly environment: ProxyEnvironment) {}

  /** The answer to a request of a page. Undefined, without waiting, when it is not for the proxy. */
  respond(request: Request): Promise<Response> | undefined {
    if (request.mode === 'navigate' || (request.method !== 'POST' && request.method !== 'OPTIONS')) return undefined;
    if (this.loaded && this.active?.targets.mayHave(request.url) !== true) return undefined;
    return this.answerOrPass(request);
  }

  /**
   * Uses and stores a configuration; the keys are not stored. The previous node answers requests under way.
   *
   * @throws PlumblineError `INVALID_PARAMETER` for a configuration that cannot be used, and `STORE_UNAVAILABLE`: the previous one
   *   stays
   */
  async configure(config: ProxyConfig): Promise<void> {
    requireConfig(config);
    await this.load().catch(() => {});
    const before = this.active;
    const stored = await storedForm(config, before?.stored.salt);
    if (before !== undefined && textOf(stored) === textOf(before.stored)) {
      if (before.options === undefined || textOf(before.options) === textOf(config.node)) {
        return this.giveKeys(before, config.node);
      }
    }
    await this.environment.storeConfig(stored);
    this.replace(this.activate(stored, config.node));
  }

  /** Opens the node. @throws PlumblineError `WORKER_FAILED` without a configuration; the errors of opening */
  async open(): Promise<NodeInfo> {
    await this.load();
    if (this.active === undefined) throw serviceWorkerFailed('it has no configuration; call registerRpcProxy first');
    return this.active.node.use(({ info }) => info);
  }

  /** Deletes the configuration, and closes the node after requests under way. Later requests go to the network. */
  async stop(): Promise<void> {
    this.loaded = true;
    this.replace(undefined);
    await this.environment.storeConfig(undefined);
    await this.closing;
  }

  private async answerOrPass(request: Request): Promise<Response> {
    try {
      await this.load();
    } catch (error) {
      // The configuration cannot be read, so this request may be for the proxy. It must not go to the network then.
      if (await looksLikeRpc(request)) return this.refuseAll(request, error);
    }
    const { active } = this;
    const found = await active?.targets.find(request.url);
    if (active === undefined || found === undefined) return this.environment.fetch(request);
    return this.answer(active, found, request);
  }

  private async answer(active: Active, found: Found, request: Request): Promise<Response> {
    const { forward, fallback, node } = active.stored;
    const { requestTimeoutMs, maxBatch } = withDefaults(NODE_OPTIONS, node);
    takeKeysFrom(active, found);
    const { chain } = active.stored.targets[found.index]!;
    const forwarding = forwardTo(request, requestTimeoutMs);
    let marks: readonly Mark[] = [];
    const handler = createFetchHandler(async (payload, call) => {
      const reply = await answerSplit(payload, {
        // Uses a newer configuration if there is one by now, because the node of the older one may be closed.
        local: (part) => (this.active ?? active).node.use((open) => open.dispatch('l2', part, call?.signal, { chain })),
        serves: (method) => active.serves(method, chain),
        forward: forward ? forwarding : undefined,
        fallback: fallback === 'network' ? forwarding : undefined,
        maxBatch,
        signal: call?.signal,
      });
      marks = reply.marks;
      return reply;
    });
    const response = await handler(request);
    const { headers } = response;
    if (marks.length > 0) {
      headers.set(CLASSES_HEADER, listed(marks.map((mark) => mark.class)));
      headers.set(LEVELS_HEADER, listed(marks.map(({ level }) => level ?? 'none')));
      if (marks.some(({ relayed }) => relayed === true)) headers.set(RELAYED_HEADER, 'true');
      headers.set('access-control-expose-headers', `${CLASSES_HEADER}, ${LEVELS_HEADER}, ${RELAYED_HEADER}`);
    }
    return response;
  }

  private refuseAll(request: Request, error: unknown): Promise<Response> {
    const local = () => Promise.reject(error);
    const maxBatch = NODE_OPTIONS.maxBatch.or;
    const parts = { local, serves: () => true, forward: undefined, fallback: undefined, maxBatch };
    return createFetchHandler((payload) => answerSplit(payload, parts))(request);
  }

  private load(): Promise<void> {
    this.loading ??= this.environment
      .loadConfig()
      .then((stored) => {
        if (!this.loaded && stored !== undefined) this.active = this.activate(stored, undefined);
        this.loaded = true;
      })
      .catch((error: unknown) => {
        this.loading = undefined;
        if (!this.loaded) throw error;
      });
    return this.loading;
  }

  private activate(stored: StoredConfig, options: NodeOptions | undefined): Active {
    const { chain, chains = [] } = stored.node;
    const first = namesOf(chain ?? chains[0]);
    const names = new Map(chains.map((one) => [one.network.chainId, namesOf(one)]));
    const active: Active = {
      stored,
      targets: new Targets(stored.targets, stored.salt),
      serves: (method, chain) => ((chain === undefined ? undefined : names.get(chain)) ?? first).has(method),
      node: new LazyNode(async () => {
        await this.closing;
        return this.environment.openNode(await this.optionsOf(active));
      }),
      options: options ?? (stored.missing.length === 0 ? stored.node : undefined),
    };
    return active;
  }

  private replace(next: Active | undefined): void {
    const before = this.active;
    this.active = next;
    this.loaded = true;
    // The keys of the previous configuration will not come.
    this.endKeyWaits();
    if (before !== undefined) this.closing = Promise.all([this.closing, before.node.close()]).catch(() => {});
  }

  /** @throws PlumblineError `WORKER_FAILED` when no page sends the keys */
  private async optionsOf(active: Active): Promise<NodeOptions> {
    if (active.options !== undefined) return active.options;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, KEYS_TIMEOUT_MS);
      const { waitingForKeys } = this;
      function done() {
        clearTimeout(timer);
        waitingForKeys.delete(done);
        resolve();
      }
      waitingForKeys.add(done);
      // What a page sends that is no configuration has no keys.
      this.environment.askPages((config) => void this.takeKeys(active, config).catch(() => {}));
    });
    if (active.options === undefined)
      throw serviceWorkerFailed('it was restarted and no page has sent the keys of its endpoints; load the page again');
    return active.options;
  }

  /** Takes the keys from a page if it has the same configuration. */
  private async takeKeys(active: Active, config: ProxyConfig): Promise<void> {
    const stored = await storedForm(config, active.stored.salt);
    if (textOf(stored) === textOf(active.stored)) this.giveKeys(active, config.node);
  }

  private giveKeys(active: Active, options: NodeOptions): void {
    active.options ??= options;
    this.endKeyWaits();
  }

  private endKeyWaits(): void {
    for (const end of [...this.waitingForKeys]) end();
  }
}

/** The methods of a chain. */
function namesOf(chain: NodeOptions['chain']): ReadonlySet<string> {
  const network = chain?.network;
  const isRollup = network === undefined || !isLayerOne(network);
  return new Set(servedMethods(chain?.kind ?? 'devnet', network?.methodPrefix ?? 'linea', isRollup));
}

/** Takes the keys from the URL of a request, if all missing keys are in it. */
function takeKeysFrom(active: Active, { index, address }: Found): void {
  const { missing, node } = active.stored;
  if (active.options !== undefined || address === undefined || missing.some(({ target }) => target !== index)) return;
  active.options = withSecrets(
    node,
    missing.map(({ path }) => ({ path, value: address })),
  );
}

async function looksLikeRpc(request: Request): Promise<boolean> {
  const text = await request
    .clone()
    .text()
    .catch(() => '');
  return text.includes('"jsonrpc"');
}

/** In the order of the answers; one, where all are the same. */
function listed(words: readonly string[]): string {
  return (new Set(words).size === 1 ? words.slice(0, 1) : words).join(', ');
}

/** A node that the first request opens. If opening fails, or the node ends, the next request opens it again. */
class LazyNode {
  private opened: Promise<NodeTransport> | undefined;
  private closed = false;
  private readonly busy = new Set<Promise<unknown>>();

  constructor(private readonly open: () => Promise<NodeTransport>) {}

  /** @throws PlumblineError `NODE_CLOSED`; the errors of opening and of `work` */
  use<T>(work: (node: NodeTransport) => T | Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(nodeClosed());
    const used = this.node().then(work);
    this.busy.add(used);
    const done = () => this.busy.delete(used);
    used.then(done, done);
    return used;
  }

  /** Closes the node when all `use` calls under way have ended. */
  async close(): Promise<void> {
    this.closed = true;
    while (this.busy.size > 0) await Promise.allSettled([...this.busy]);
    const node = await this.opened?.catch(() => undefined);
    this.opened = undefined;
    await node?.close();
  }

  private node(): Promise<NodeTransport> {
    if (this.opened !== undefined) return this.opened;
    const opening = this.open().then((node) => {
      node.onFailure(forget);
      return node;
    });
    const forget = () => {
      if (this.opened === opening) this.opened = undefined;
    };
    opening.catch(forget);
    this.opened = opening;
    return opening;
  }
}
