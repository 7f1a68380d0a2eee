import { PlumblineError } from '../../errors.js';
import { DEFAULT_MAX_BATCH } from '../../rpc/handle.js';
import { createFetchHandler } from '../../rpc/http/http.js';
import { servedMethods } from '../../rpc/method-table.js';
import { type NodeInfo, type NodeOptions, REQUEST_TIMEOUT_MS, textOf } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import type { ProxyConfig } from './config.js';
import { forwardTo } from './forward.js';
import { LazyNode } from './lazy-node.js';
import { withSecrets } from './secrets.js';
import { answerSplit } from './split.js';
import { type StoredConfig, storedForm } from './stored-config.js';
import { type Found, Targets } from './targets.js';

/** What the proxy needs of the worker around it. */
export interface Surroundings {
  readonly openNode: (options: NodeOptions) => Promise<NodeTransport>;
  readonly kept: () => Promise<StoredConfig | undefined>;
  readonly keep: (config: StoredConfig | undefined) => Promise<void>;
  /** Asks the pages for the configuration they gave, keys included. Those that say nothing are not waited for. */
  readonly askPages: (accept: (config: ProxyConfig) => void) => void;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** One configuration at work. */
interface Active {
  readonly stored: StoredConfig;
  readonly targets: Targets;
  readonly serves: (method: string) => boolean;
  readonly node: LazyNode;
  /** With keys. Undefined after the worker was started anew, until it has them again. */
  options: NodeOptions | undefined;
}

/** How long pages may take to give keys back. */
const KEYS_TIMEOUT_MS = 10_000;
const CLASSES_HEADER = 'plumbline-answers';

/**
 * The proxy behind a service worker's events. All of it but keys comes back from the store after the worker was ended;
 * keys come back with the next request that has them in its address, or from the pages.
 */
export class ProxyHost {
  /** Undefined until it was read (`loaded`), and where there is none. */
  private active: Active | undefined;
  private loading: Promise<void> | undefined;
  private loaded = false;
  /** The end of what ran before, which the next node waits for: a store has one writer. */
  private closing: Promise<unknown> = Promise.resolve();
  private readonly waitingForKeys = new Set<() => void>();

  constructor(private readonly around: Surroundings) {}

  /** The answer to a request of a page; undefined, at once, when it is none of ours. */
  respond(request: Request): Promise<Response> | undefined {
    if (request.mode === 'navigate' || (request.method !== 'POST' && request.method !== 'OPTIONS')) return undefined;
    if (this.loaded && this.active?.targets.mayHave(request.url) !== true) return undefined;
    return this.answerOrPass(request);
  }

  /**
   * Takes a configuration over, and keeps it without its keys. Requests under way are answered by the node before.
   *
   * @throws PlumblineError `STORE_UNAVAILABLE`
   */
  async configure(config: ProxyConfig): Promise<void> {
    await this.load().catch(() => {});
    const before = this.active;
    const stored = await storedForm(config, before?.stored.salt);
    if (before !== undefined && textOf(stored) === textOf(before.stored)) {
      if (before.options === undefined || textOf(before.options) === textOf(config.node)) {
        return this.giveKeys(before, config.node);
      }
    }
    await this.around.keep(stored);
    this.replace(this.activate(stored, config.node));
  }

  /** Opens the node. @throws what opening throws */
  async open(): Promise<NodeInfo> {
    await this.load();
    if (this.active === undefined) throw failed('it is not configured');
    return this.active.node.use(({ info }) => info);
  }

  /** Forgets the configuration and closes the node, after requests under way; later ones go to the network. */
  async stop(): Promise<void> {
    this.loaded = true;
    this.replace(undefined);
    await this.around.keep(undefined);
    await this.closing;
  }

  private async answerOrPass(request: Request): Promise<Response> {
    try {
      await this.load();
    } catch (error) {
      // What it was to answer cannot be read: a JSON-RPC request must not go to the network for that.
      if (await looksLikeRpc(request)) return this.refuseAll(request, error);
    }
    const { active } = this;
    const found = await active?.targets.find(request.url);
    if (active === undefined || found === undefined) return this.around.fetch(request);
    return this.answer(active, found, request);
  }

  private async answer(active: Active, found: Found, request: Request): Promise<Response> {
    const { forward, fallback, node } = active.stored;
    restoreFrom(active, found);
    const hand = forwardTo(request, node.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
    let classes: readonly string[] = [];
    const handler = createFetchHandler(async (payload, call) => {
      const reply = await answerSplit(payload, {
        // Of a configuration that came meanwhile, if so: the node before it may be closed by now.
        local: (part) => (this.active ?? active).node.use((open) => open.dispatch('l2', part, call?.signal)),
        serves: active.serves,
        forward: forward ? hand : undefined,
        fallback: fallback === 'network' ? hand : undefined,
        maxBatch: node.maxBatch ?? DEFAULT_MAX_BATCH,
        signal: call?.signal,
      });
      classes = reply.classes;
      return reply;
    });
    const response = await handler(request);
    if (classes.length > 0) {
      response.headers.set(CLASSES_HEADER, (new Set(classes).size === 1 ? classes.slice(0, 1) : classes).join(', '));
      response.headers.set('access-control-expose-headers', CLASSES_HEADER);
    }
    return response;
  }

  private refuseAll(request: Request, error: unknown): Promise<Response> {
    const local = () => Promise.reject(error);
    const parts = { local, serves: () => true, forward: undefined, fallback: undefined, maxBatch: DEFAULT_MAX_BATCH };
    return createFetchHandler((payload) => answerSplit(payload, parts))(request);
  }

  private load(): Promise<void> {
    this.loading ??= this.around
      .kept()
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
    const { chain } = stored.node;
    const kind = chain?.kind ?? 'devnet';
    const names = new Set(servedMethods(kind, chain?.network?.methodPrefix ?? 'linea'));
    const active: Active = {
      stored,
      targets: new Targets(stored.targets, stored.salt),
      serves: (method) => names.has(method),
      node: new LazyNode(async () => {
        await this.closing;
        return this.around.openNode(await this.optionsOf(active));
      }),
      options: options ?? (stored.missing.length === 0 ? stored.node : undefined),
    };
    return active;
  }

  private replace(next: Active | undefined): void {
    const before = this.active;
    this.active = next;
    this.loaded = true;
    // Those who wait for keys of a configuration that is gone will not get them.
    for (const goOn of [...this.waitingForKeys]) goOn();
    if (before !== undefined) this.closing = Promise.all([this.closing, before.node.close()]).catch(() => {});
  }

  /** @throws PlumblineError `WORKER_FAILED` when no page gives the keys back */
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
      this.around.askPages((config) => void this.takeBack(active, config));
    });
    if (active.options === undefined) throw failed('it was started anew, and no page has given its keys back');
    return active.options;
  }

  /** Takes keys from a page, if what it had registered is what is kept. */
  private async takeBack(active: Active, config: ProxyConfig): Promise<void> {
    const stored = await storedForm(config, active.stored.salt);
    if (textOf(stored) === textOf(active.stored)) this.giveKeys(active, config.node);
  }

  private giveKeys(active: Active, options: NodeOptions): void {
    active.options ??= options;
    for (const goOn of [...this.waitingForKeys]) goOn();
  }
}

/** Brings keys back that stand in the address of a request, if there are no others. */
function restoreFrom(active: Active, { index, address }: Found): void {
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

function failed(reason: string): PlumblineError<'WORKER_FAILED'> {
  return new PlumblineError('WORKER_FAILED', `the service worker: ${reason}`, { reason });
}
