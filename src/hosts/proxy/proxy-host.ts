import { isPlumblineError, PlumblineError } from '../../errors.js';
import { isLayerOne } from '../../networks/network.js';
import { isDeeperThan } from '../../primitives/bounded-input.js';
import { withDefaults } from '../../primitives/option-table.js';
import type { AnswerClass, AnswerReport } from '../../rpc/answer-report.js';
import { failure, type Reply, type RpcRequest, type RpcResponse, readRequest, success } from '../../rpc/envelope.js';
import { createFetchHandler, readBody } from '../../rpc/http.js';
import { servedMethods } from '../../rpc/method-info.js';
import { toRpcError } from '../../rpc/rpc-errors.js';
import { openDeadline } from '../../scheduling/deadline.js';
import { hanging } from '../../upstream/failure.js';
import { NODE_OPTIONS, type NodeInfo, type NodeOptions, textOf } from '../options/options.js';
import { type NodeTransport, nodeClosed } from '../provider/transport.js';
import { type ProxyConfig, requireConfig, serviceWorkerFailed } from './config.js';
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

/** How the requests of a payload are answered. */
interface Parts {
  /** Answers by the node. @throws when the node cannot be opened */
  readonly local: (payload: unknown) => Promise<Reply>;
  readonly serves: (method: string) => boolean;
  /** Answers methods that the node does not have. If undefined, the node answers them with errors. */
  readonly forward: Forward | undefined;
  /** Answers methods that the node has, while it cannot be opened. */
  readonly fallback: Forward | undefined;
  readonly maxBatch: number;
  readonly signal?: AbortSignal | undefined;
}

/** How a response is known. */
export interface Mark {
  /** `forwarded` when it is not verified, `error` for an error of the node. */
  readonly class: AnswerClass | 'error' | 'unreported';
  /** Left out where it rests on no block. */
  readonly level?: AnswerReport['level'];
  readonly relayed?: AnswerReport['relayed'];
}

/** A reply with a mark for each response. */
interface SplitReply extends Reply {
  readonly marks: readonly Mark[];
}

type Answer = { readonly response: RpcResponse; readonly mark: Mark };

const FORWARDED: Mark = { class: 'forwarded' };
const ERROR: Mark = { class: 'error' };

/**
 * Answers the requests of a payload: by the node if it has the method, otherwise by forwarding. Both run at the same time. The
 * responses are in the order of the requests.
 */
export async function answerSplit(payload: unknown, parts: Parts): Promise<SplitReply> {
  const isBatch = Array.isArray(payload);
  const items: unknown[] = isBatch ? payload : [payload];
  const requests = items.map(readRequest);
  const { forward, serves } = parts;
  const isAway = (i: number) => {
    const request = requests[i]!;
    return forward !== undefined && !('error' in request) && !serves(request.method);
  };
  const away = items.length > parts.maxBatch ? [] : items.map((_, i) => i).filter(isAway);
  if (away.length === 0) return own(payload, parts);

  const here = items.map((_, i) => i).filter((i) => !isAway(i));
  const [ours, theirs] = await Promise.all([
    here.length === 0
      ? []
      : own(
          here.map((i) => items[i]),
          parts,
        ).then(answersOf),
    forwardAll(
      away.map((i) => items[i]),
      parts,
      forward!,
    ),
  ]);
  const answers: Answer[] = [];
  for (const [i, request] of requests.entries()) {
    if (!('error' in request) && request.id === undefined) continue;
    const answer = (away.includes(i) ? theirs : ours).shift();
    if (answer !== undefined) answers.push(answer);
  }
  const bodies = answers.map(({ response }) => response);
  return { body: isBatch ? bodies : bodies[0], marks: answers.map(({ mark }) => mark) };
}

/** Forwards requests. If the URL does not answer JSON-RPC, the node answers with its errors. */
async function forwardAll(requests: readonly unknown[], parts: Parts, forward: Forward): Promise<Answer[]> {
  const responses = await forward(
    requests.map((request) => readRequest(request) as RpcRequest),
    parts.signal,
  );
  if (responses === undefined) return answersOf(await own(requests, parts));
  return responses.map((response) => ({ response, mark: FORWARDED }));
}

/** Answers by the node. If it cannot be opened, the fallback answers; without a fallback, each request gets the error. */
async function own(payload: unknown, parts: Parts): Promise<SplitReply> {
  const { local, fallback, signal } = parts;
  try {
    const reply = await local(payload);
    return { ...reply, marks: marksOf(reply) };
  } catch (error) {
    const isBatch = Array.isArray(payload);
    const requests = (isBatch ? payload : [payload]).map(readRequest);
    const sound = requests.filter((request): request is RpcRequest => !('error' in request));
    const useFallback = fallback !== undefined && sound.length === requests.length && signal?.aborted !== true;
    const responses = useFallback ? await fallback(sound, signal) : undefined;
    const bodies =
      responses ??
      requests
        .filter((request) => 'error' in request || request.id !== undefined)
        .map((request) => ('error' in request ? request : failure(request.id!, toRpcError(error))));
    return {
      body: isBatch ? bodies : bodies[0],
      marks: bodies.map(() => (responses === undefined ? ERROR : FORWARDED)),
    };
  }
}

function listOf(reply: Reply): readonly RpcResponse[] {
  const { body } = reply;
  return body === undefined ? [] : Array.isArray(body) ? (body as readonly RpcResponse[]) : [body as RpcResponse];
}

function marksOf(reply: Reply): SplitReply['marks'] {
  const reports = [...(reply.reports ?? [])];
  const responses = listOf(reply);
  const answers = responses.filter((response) => !('error' in response));
  // Each result has a report. An error has one only if its method began.
  const ofResults = reports.filter(({ errorCode }) => errorCode === undefined);
  if (ofResults.length !== answers.length)
    return responses.map((response) => ('error' in response ? ERROR : { class: 'unreported' }));
  return responses.map((response) => ('error' in response ? ERROR : ofResults.shift()!));
}

function answersOf(reply: SplitReply): Answer[] {
  return listOf(reply).map((response, i) => ({ response, mark: reply.marks[i]! }));
}

/**
 * Sends calls to an endpoint in one request. Returns one response for each call that has an id, with that id, in order. Only the
 * form of the responses is checked. Undefined when the URL does not answer JSON-RPC.
 */
type Forward = (calls: readonly RpcRequest[], signal?: AbortSignal) => Promise<RpcResponse[] | undefined>;

/** Largest response, bytes. Traces of long transactions are large. */
const MAX_BYTES = 64 * 2 ** 20;
/** Depth of a response. A trace of nested calls has two levels for each of up to 1024 calls. */
const MAX_DEPTH = 4096;
/** Status codes of a page's own server for a path that only the worker answers. */
const NOT_AN_ENDPOINT = [404, 405, 501];

/**
 * Forwards to the URL that the page requested, with the headers and credentials of its request. Redirects are not followed, so
 * nothing is sent to another origin.
 */
export function forwardTo(request: Request, timeoutMs: number): Forward {
  return async (calls, signal) => {
    const deadline = openDeadline(signal, timeoutMs);
    try {
      const answered = calls.filter(({ id }) => id !== undefined);
      const body = await deadline.run(() => exchange(request, bodyOf(calls), deadline.signal));
      return body === undefined ? undefined : answered.map((call, i) => responseTo(call.id!, i + 1, body, request));
    } catch (error) {
      const isHanging = isPlumblineError(error, 'REQUEST_TIMED_OUT') && error === deadline.signal.reason;
      const told = toRpcError(isHanging ? unavailable(request.url, hanging(timeoutMs)) : error);
      return calls.filter(({ id }) => id !== undefined).map(({ id }) => failure(id!, told));
    } finally {
      deadline.close();
    }
  };
}

/** The calls with new ids, because a page may use an id twice. */
function bodyOf(calls: readonly RpcRequest[]): string {
  let next = 1;
  const sent = calls.map(({ id, method, params }) => ({
    jsonrpc: '2.0',
    ...(id !== undefined && { id: next++ }),
    method,
    params,
  }));
  return JSON.stringify(sent.length === 1 ? sent[0] : sent);
}

/** The parsed body of the response. An empty body is an empty list. */
async function exchange(request: Request, body: string, signal: AbortSignal): Promise<unknown> {
  const { url, headers, credentials, referrerPolicy } = request;
  let response: Response;
  try {
    const rules = { credentials, referrerPolicy, cache: 'no-store', redirect: 'manual', mode: 'cors' } as const;
    response = await fetch(url, { method: 'POST', headers, body, signal, ...rules });
  } catch {
    if (signal.aborted) throw signal.reason;
    // The error of `fetch` is dropped: its message may quote the URL, which may hold a key.
    throw unavailable(
      url,
      'no connection: down, or no CORS headers for this page, which a browser does not tell apart; check both',
    );
  }
  if (response.type === 'opaqueredirect')
    throw unavailable(url, 'it redirects, which is not followed; use the URL it redirects to');
  const text = await readBody(response, MAX_BYTES);
  if (text === 'too-large') throw malformed(url, `the answer is larger than ${MAX_BYTES} bytes`, response.status);
  if (isDeeperThan(text ?? '', MAX_DEPTH))
    throw malformed(url, `the answer is nested deeper than ${MAX_DEPTH} levels`, response.status);
  try {
    return text === '' && response.ok ? [] : JSON.parse(text ?? '');
  } catch {
    if (NOT_AN_ENDPOINT.includes(response.status)) return undefined;
    throw malformed(url, 'the answer is not JSON', response.status);
  }
}

/** The response to call number `sent`, with the page's id. A single error without an id answers all calls. */
function responseTo(
  id: NonNullable<RpcRequest['id']> | null,
  sent: number,
  body: unknown,
  { url }: Request,
): RpcResponse {
  const responses: unknown[] = Array.isArray(body) ? body : [body];
  const own = responses.find((response) => isObject(response) && String(response.id) === String(sent));
  const only = responses.length === 1 ? responses[0] : undefined;
  const found = own ?? (isObject(only) && (only.id === null || only.id === undefined) ? only : undefined);
  if (isObject(found)) {
    const { result, error } = found;
    if (isObject(error) && Number.isSafeInteger(error.code)) {
      const { code, message, data } = error as { code: number; message?: unknown; data?: unknown };
      const said = { code, message: String(message ?? ''), ...(data !== undefined && { data }) };
      const { origin } = new URL(url);
      return failure(id, { ...said, reason: 'UPSTREAM_ERROR', details: { origin, ...said, forwarded: true } });
    }
    if ('result' in found && found === own) return success(id, result);
  }
  return failure(id, toRpcError(malformed(url, 'the answer to this call is missing')));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function unavailable(url: string, reason: string): PlumblineError {
  const { origin } = new URL(url);
  const endpoints = [{ origin, kind: 'unavailable', reason }] as const;
  return new PlumblineError('UPSTREAM_UNAVAILABLE', `${origin}: ${reason}`, { endpoints });
}

function malformed(url: string, reason: string, status?: number): PlumblineError {
  const { origin } = new URL(url);
  const more = status === undefined ? {} : { status };
  const message = `${origin}: ${status === undefined ? '' : `status ${status}: `}${reason}`;
  return new PlumblineError('UPSTREAM_MALFORMED', message, {
    endpoints: [{ origin, kind: 'malformed', reason, ...more }],
  });
}
