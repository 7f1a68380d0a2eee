import { createHash } from 'node:crypto';
import { beaconBlockHeader } from '../../consensus/containers.js';
import { type ErrorCode, isPlumblineError } from '../../errors.js';
import { keccak256 } from '../../kernel/keccak.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import { readObject } from '../../proof/json-reader.js';
import { type AccessRule, refusal } from '../../rpc/http.js';
import { systemClock } from '../../scheduling/clock.js';
import { TokenBucket } from '../../upstream/endpoint.js';
import { isNotHeld } from '../../upstream/failure.js';
import { RestGroup } from '../../upstream/rest-group.js';
import type { PlumblineNode } from '../provider/node-handle.js';
import type { UntypedMethod } from '../provider/provider.js';
import { isProviderRpcError } from '../provider/provider-error.js';
import { Family } from './metrics.js';

/*
 * What the hash of a block fixes, as answers to GET under URLs that name the hash, so that any HTTP cache can serve them. One question has
 * one URL: other spellings are not found. `src/upstream/feed.ts` is the client.
 */

/** Options of a feed. */
export interface FeedOptions {
  /** How many requests of all clients together the server answers in a second. Default: 2 000. More requests get 429. */
  readonly ratePerSecond?: number;
  /** The same limit for one client, which may be a cache with many users behind it. Default: 1 000. */
  readonly ratePerClient?: number;
  /**
   * Beacon nodes of layer 1, if the node is not a devnet. The feed passes on their light-client routes. It does not verify their
   * answers: a client that follows layer 1 verifies them.
   */
  readonly consensus?: readonly string[];
}

const DEFAULT_RATE = 2_000;
const DEFAULT_RATE_PER_CLIENT = 1_000;
/** Clients whose rate is remembered; the one that asked least recently is forgotten first. */
const MAX_CLIENTS = 10_000;

const FOREVER = 'public, max-age=31536000, immutable';
const NOT_STORED = 'no-store';
/** How long caches may keep what can change: the newest block, and what is named by its number. */
const SHORT = 'public, max-age=1';
const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Retry-After',
  'cross-origin-resource-policy': 'cross-origin',
  // The origin compresses nothing; a cache may.
  vary: 'Accept-Encoding',
};
const METHODS = 'GET, HEAD, OPTIONS';

type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

/** An answer and how long it holds. Null or undefined is not held. */
interface Answer {
  readonly kind: string;
  readonly value: unknown;
  readonly cacheControl: string;
}

/** The names of a path, in its order. */
type Names = readonly [string, string, string];

/** A kind of object: its path, and how a node is asked for it. */
interface Kind {
  readonly kind: string;
  readonly path: RegExp;
  readonly holds: typeof FOREVER | typeof SHORT;
  read(ask: Ask, names: Names): Promise<unknown>;
}

const HASH = '(0x[0-9a-f]{64})';
const ADDRESS = '(0x[0-9a-f]{40})';
const at = (rest: string) => new RegExp(`^block/${HASH}/${rest}$`);
const fixed = (kind: string, path: RegExp, read: Kind['read']): Kind => ({ kind, path, holds: FOREVER, read });

const member = (value: unknown, name: string): unknown => (value as Readonly<Record<string, unknown>> | null)?.[name];

/** The code if it has this hash, else null. */
const codeOf = (codeHash: unknown, code: unknown) =>
  bytesToHex(keccak256(hexToBytes(code as Hex))) === codeHash ? code : null;

/** Members of a proof, in the order of docs/spec/state-trie.md 7.3. */
const PROOF_MEMBERS = [
  ...['key', 'leafIndex', 'leftLeafIndex', 'rightLeafIndex'],
  ...['proof', 'leftProof', 'rightProof', 'value', 'proofRelatedNodes'],
];

/** An item of a verified proof, as all origins write it: a node passes on what its endpoint wrote, with its order of members and its hex. */
function itemOf(item: unknown, key: string): unknown {
  if (item === null || item === undefined) return null;
  const text = JSON.stringify({ ...(item as object), key }, PROOF_MEMBERS);
  return JSON.parse(text.replace(/"0x[\da-f]*"/gi, (hex) => hex.toLowerCase()));
}

const KINDS: readonly Kind[] = [
  {
    kind: 'head',
    path: /^head\/(latest|finalized|0x(?:0|[1-9a-f][0-9a-f]{0,12}))$/,
    holds: SHORT,
    async read(ask, [block]) {
      const [chainId, header] = await Promise.all([ask('eth_chainId'), ask('eth_getHeaderByNumber', block)]);
      return header === null ? null : { chainId, header };
    },
  },
  fixed('header', at('header'), (ask, [hash]) => ask('eth_getHeaderByHash', hash)),
  fixed('body', at('body'), (ask, [hash]) => ask('eth_getBlockByHash', hash, true)),
  fixed('receipts', at('receipts'), (ask, [hash]) => ask('eth_getBlockReceipts', hash)),
  fixed('access-list', at('access-list'), (ask, [hash]) => ask('eth_getBlockAccessList', hash)),
  fixed('account', at(`account/${ADDRESS}`), (ask, [blockHash, address]) =>
    ask('eth_getProof', address, [], { blockHash }),
  ),
  fixed('slot', at(`slot/${ADDRESS}/${HASH}`), async (ask, [blockHash, address, key]) =>
    member(member(await ask('eth_getProof', address, [key], { blockHash }), 'storageProof'), '0'),
  ),
  fixed('code', new RegExp(`^code/${HASH}/${ADDRESS}$`), async (ask, [codeHash, address]) =>
    codeOf(codeHash, await ask('eth_getCode', address, 'latest')),
  ),
  // A devnet answers for its newest block with what was edited since.
  fixed('code', at(`code/${ADDRESS}`), async (ask, [blockHash, address]) => {
    const block = { blockHash };
    const [account, code] = await Promise.all([
      ask('eth_getProof', address, [], block),
      ask('eth_getCode', address, block),
    ]);
    return codeOf(member(account, 'codeHash'), code);
  }),
  fixed('zk-account', at(`zk/${ADDRESS}`), async (ask, [hash, address]) => ({
    accountProof: itemOf(member(await ask('linea_getProof', address, [], hash), 'accountProof'), address),
    storageProofs: [],
  })),
  fixed('zk-slot', at(`zk/${ADDRESS}/${HASH}`), async (ask, [hash, address, key]) => ({
    proof: itemOf(member(member(await ask('linea_getProof', address, [key], hash), 'storageProofs'), '0'), key),
  })),
];

/** Errors that say that the node does not have what is asked for. Any other one may pass. */
const NOT_HELD: readonly ErrorCode[] = [
  ...(['BLOCK_NOT_FOUND', 'BLOCK_NOT_PROVABLE', 'BLOCK_PRUNED', 'BLOCK_INCOMPLETE', 'STATE_NOT_HELD'] as const),
  ...(['METHOD_NOT_FOUND', 'METHOD_NOT_ENABLED', 'STATE_ROOT_MISSING'] as const),
];

/** A 404, or a 503 for what may pass: a client asks nothing more of this origin until then. */
function refused(error: unknown): Response {
  const isTold = isProviderRpcError(error);
  const code = isTold ? error.code : -32603;
  const words = isTold ? error.message : 'the origin could not answer';
  if (isTold && NOT_HELD.includes(error.reason)) return failed(404, code, words);
  if (isProviderRpcError(error, 'UPSTREAM_ERROR') && isNotHeld(error.details))
    return failed(404, error.details.code, words);
  // Of a beacon node, which answers with a status.
  if (isPlumblineError(error, 'UPSTREAM_ERROR') && [400, 404].includes(error.details.code))
    return failed(404, error.details.code, 'the beacon nodes of the origin do not have it');
  return failed(503, code, words, { 'retry-after': '1' });
}

/**
 * Answers GET below `/feed/`, and for one chain of several below `/chain/<id>/feed/`. Of a request, the target counts as it was sent: a cache
 * keeps each spelling as an object of its own.
 *
 * @param rule - its hosts count. Pages of any origin may ask: what a cache holds must be the same for all
 * @returns undefined for another path
 */
export function openFeed(node: PlumblineNode, options: FeedOptions, rule: Pick<AccessRule, 'allowedHosts'>) {
  const { ratePerSecond = DEFAULT_RATE, ratePerClient = DEFAULT_RATE_PER_CLIENT, consensus = [] } = options;
  const metrics = feedMetrics();
  const mayAnswer = rateLimit(ratePerSecond, ratePerClient);
  const beacon =
    consensus.length === 0 ? undefined : new RestGroup({ role: 'l1-consensus', endpoints: [...consensus] });

  async function answerTo(place: string, path: string, search: string, signal: AbortSignal): Promise<Answer> {
    const asked = providerAt(node, place);
    const ask: Ask = (method, ...params) => asked!.request<UntypedMethod>({ method, params }, { signal });
    if (asked !== undefined && path.startsWith('eth/'))
      return consensusAnswer((target) => beaconGet(node, beacon, target, signal), `/${path}${search}`);
    for (const { kind, path: pattern, holds, read } of KINDS) {
      const match = asked === undefined || search !== '' ? null : pattern.exec(path);
      if (match === null) continue;
      return { kind, value: await read(ask, match.slice(1) as unknown as Names), cacheControl: holds };
    }
    return { kind: 'other', value: null, cacheControl: NOT_STORED };
  }

  const respond = async (request: Request, place: string, path: string, search: string, client: string) => {
    const { method } = request;
    if (method === 'OPTIONS')
      return new Response(null, {
        status: 204,
        headers: {
          ...HEADERS,
          'access-control-allow-methods': METHODS,
          'access-control-allow-headers': 'If-None-Match',
          'access-control-max-age': '86400',
        },
      });
    if (method !== 'GET' && method !== 'HEAD')
      return failed(405, -32600, 'a feed answers GET only', { allow: METHODS });
    if (path === 'metrics' && place === '')
      return new Response(metrics.text(), { headers: { 'content-type': 'text/plain', 'cache-control': NOT_STORED } });
    if (!mayAnswer(client)) {
      metrics.count('other', 429, 0);
      return failed(429, -32005, 'Request limit exceeded', { 'retry-after': '1' });
    }
    let kind = 'other';
    let response: Response;
    try {
      const answer = await answerTo(place, path, search, request.signal);
      kind = answer.kind;
      response = isHeld(answer)
        ? held(request, answer)
        : failed(404, -32001, 'block not found, or not this part of it');
    } catch (error) {
      response = refused(error);
    }
    metrics.count(kind, response.status, Number(response.headers.get('content-length') ?? 0));
    return response;
  };

  return async (request: Request, target: string, client: string): Promise<Response | undefined> => {
    const [, place, path, search] = /^((?:\/chain\/\d{1,15})?)\/feed\/([^?]*)(.*)$/s.exec(target) ?? [];
    if (place === undefined || path === undefined || search === undefined) return undefined;
    return refusal(request, { ...rule, allowedOrigins: '*' }) ?? respond(request, place, path, search, client);
  };
}

const isHeld = ({ value }: Answer) => value !== null && value !== undefined;

/** The node, or one chain of it; undefined for a chain that it does not have. */
function providerAt(node: PlumblineNode, place: string): Pick<PlumblineNode, 'request'> | undefined {
  if (place === '') return node;
  const id = place.slice('/chain/'.length);
  const found = (node.info.chains ?? [node.info]).find(({ chainId }) => String(chainId) === id);
  return found && node.chain(found.chainId);
}

/** The answer of the beacon API: of a devnet's layer 1, or of the beacon nodes of the feed. @returns null if it is not held */
async function beaconGet(
  node: PlumblineNode,
  beacon: RestGroup | undefined,
  target: string,
  signal: AbortSignal,
): Promise<unknown> {
  if (beacon !== undefined) return beacon.get(target, { signal });
  const { l1 } = node as unknown as { l1: Pick<PlumblineNode, 'request'> };
  const answer = await l1.request<UntypedMethod>({ method: 'beacon_get', params: [target, 'json'] }, { signal });
  const { status, body } = answer as { status: number; body: unknown };
  return status === 200 ? body : null;
}

const LIGHT_CLIENT = '/eth/v1/beacon/light_client';
const UPDATES = new RegExp(`^${LIGHT_CLIENT}/updates\\?start_period=(0|[1-9]\\d{0,8})&count=([1-9]\\d{0,2})$`);
const BOOTSTRAP = new RegExp(`^${LIGHT_CLIENT}/bootstrap/${HASH}$`);
const PASSED = /^\/eth\/v1\/(?:beacon\/(?:genesis|light_client\/(?:finality|optimistic)_update)|config\/spec)$/;

/**
 * An answer of the beacon API that light clients need. Updates are fixed once all their periods are over, and the first of the next one is
 * there; until then there may be a better one. What has another form, such as the error of a gateway, is not for caches to keep.
 */
export async function consensusAnswer(get: (target: string) => Promise<unknown>, target: string): Promise<Answer> {
  const [, start, count] = UPDATES.exec(target) ?? [];
  if (start !== undefined && count !== undefined) {
    const end = Number(start) + Number(count);
    const next = `${LIGHT_CLIENT}/updates?start_period=${end}&count=1`;
    const [value, after] = await Promise.all([get(target), get(next).catch(() => undefined)]);
    const isOver = areOfPeriods(value, Number(start), Number(count)) && areOfPeriods(after, end, 1);
    return { kind: 'updates', value, cacheControl: isOver ? FOREVER : SHORT };
  }
  if (BOOTSTRAP.test(target)) {
    const value = await get(target);
    const isIts = rootIn(value) === target.slice(-66).toLowerCase();
    return { kind: 'bootstrap', value, cacheControl: isIts ? FOREVER : SHORT };
  }
  const value = PASSED.test(target) ? await get(target) : null;
  return { kind: value === null ? 'other' : 'consensus', value, cacheControl: SHORT };
}

/** Slots of a period, of the presets mainnet and minimal. */
const PERIODS = [8_192, 64] as const;

/** Whether a value is a list of updates, one of each period. Their signatures are checked by who uses them. */
function areOfPeriods(value: unknown, start: number, count: number): boolean {
  if (!Array.isArray(value) || value.length !== count) return false;
  type Update = { readonly data?: { readonly attested_header?: { readonly beacon?: { readonly slot?: unknown } } } };
  const slots = value.map((update: Update | null) => Number(update?.data?.attested_header?.beacon?.slot ?? Number.NaN));
  return PERIODS.some((period) => slots.every((slot, i) => Math.floor(slot / period) === start + i));
}

/** Root of the block of a bootstrap; undefined for what is none. */
function rootIn(value: unknown): Hex | undefined {
  try {
    const { beacon } = readObject(readObject(readObject(value, '').data, 'data').header, 'data.header');
    return bytesToHex(beaconBlockHeader.hashTreeRoot(beaconBlockHeader.fromJson(beacon, 'data.header.beacon')));
  } catch {
    return undefined;
  }
}

/** The answer with its tag, or 304 where the client has it. */
function held(request: Request, { value, cacheControl }: Answer): Response {
  const body = Buffer.from(JSON.stringify(value));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = { ...HEADERS, etag, 'cache-control': cacheControl };
  const known = (request.headers.get('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return new Response(null, { status: 304, headers });
  const typed = { ...headers, 'content-type': 'application/json', 'content-length': String(body.length) };
  return new Response(request.method === 'HEAD' ? null : body, { headers: typed });
}

function failed(status: number, code: number, message: string, more: Record<string, string> = {}): Response {
  const headers = { ...HEADERS, ...more, 'cache-control': NOT_STORED };
  return Response.json({ code, message }, { status, headers });
}

/** @returns whether a request of a client may be answered now */
function rateLimit(ratePerSecond: number, ratePerClient: number): (client: string) => boolean {
  const all = new TokenBucket(ratePerSecond, ratePerSecond, systemClock);
  const clients = new Map<string, TokenBucket>();
  return (client) => {
    const own = clients.get(client) ?? new TokenBucket(ratePerClient, ratePerClient, systemClock);
    clients.delete(client);
    clients.set(client, own);
    if (clients.size > MAX_CLIENTS) clients.delete(clients.keys().next().value!);
    if (own.waitMs(1) > 0 || all.waitMs(1) > 0) return false;
    own.take(1);
    all.take(1);
    return true;
  };
}

/** Counts what the origin answered. */
function feedMetrics() {
  const requests = new Family(
    'plumbline_feed_requests_total',
    'counter',
    'Requests that reached the origin; 304: the cache had it.',
  );
  const bytes = new Family('plumbline_feed_bytes_total', 'counter', 'Bytes of bodies that the origin sent.');
  return {
    count(kind: string, status: number, length: number): void {
      requests.add({ kind, status: String(status) });
      if (status === 200) bytes.add({ kind }, length);
    },
    text: () => `${[...requests.lines(), ...bytes.lines()].join('\n')}\n`,
  };
}
