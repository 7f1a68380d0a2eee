/**
 * The client of a feed: JSON-RPC calls as GETs of objects whose URLs name a block by its hash, as `src/hosts/cli/feed.ts` serves them. All
 * nodes that ask about one block ask for the same URLs, so that any HTTP cache between can answer them. What comes back is as little trusted
 * as any answer. Loaded with the first request to a feed.
 */

import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import { bytesToHex } from '../primitives/hex.js';
import type { Clock } from '../scheduling/clock.js';
import { SharedWork } from '../scheduling/shared-work.js';
import { type Address, urlBelow } from './address.js';
import { type Call, faultOutcome, isMethodMissing, type Outcome, type Transport } from './failure.js';
import { exchangeHttp, type HttpOptions } from './http.js';
import { errorBody, parseJson } from './json-rpc.js';
import { readRestReply } from './rest.js';

/** What a feed is asked with. */
interface FeedParts {
  readonly address: Address;
  readonly http: HttpOptions;
  readonly clock: Clock;
  /** Age of a newest block from which on it is a fault, by its own time and by `clock`, milliseconds. */
  readonly maxAgeMs: number;
}

/** GETs of one call at a time. */
const AT_ONCE = 6;
/** How long the newest block answers calls about `latest` other than for the block itself, milliseconds. */
const LATEST_MS = 1_000;
/** Hashes of blocks by number, and code hashes, that are remembered. */
const MAX_KNOWN = 1_024;
/** Hashes by number are used until the last newest block is this old here, milliseconds: later there may be another branch. */
const KNOWN_MS = 30_000;

const HASH = /^0x[0-9a-f]{64}$/;
const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]{0,12})$/;
const NO_CODE = bytesToHex(EMPTY_CODE_HASH);
const METHOD_MISSING = -32601;
const UNAVAILABLE = -32000;

/** What came of a GET, and the bytes of its body. */
interface Fetched {
  readonly outcome: Outcome;
  readonly length: number;
}

/** A GET without an answer. It never leaves this file. */
class Unanswered extends Error {
  constructor(readonly outcome: Outcome) {
    super('unanswered');
  }
}

/** A header as far as the feed is concerned. Whoever asked for it checks it. */
interface NamedHeader {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
}

interface Head {
  readonly chainId: unknown;
  readonly header: NamedHeader;
}

/** Calls by method; another method is not served. */
type Calls = Readonly<Record<string, (params: readonly unknown[], get: Get) => Promise<unknown>>>;

/** The JSON of a path. @throws `Unanswered` */
type Get = (path: string) => Promise<unknown>;

/** How a feed exchanges one call. */
export function feedExchange({ address, http, clock, maxAgeMs }: FeedParts): Transport['exchange'] {
  const running = new Map<string, SharedWork<Fetched>>();
  const hashes = new KnownHashes();
  const codeHashes = new Map<string, string>();
  let newest: { readonly head: Head; readonly at: number } | undefined;
  /** Bytes of GETs that no exchange has reported yet. Several may wait for one GET. */
  let bytes = 0;

  async function fetchObject(path: string, signal: AbortSignal): Promise<Fetched> {
    const reply = await exchangeHttp(address, urlBelow(address, path), undefined, http, signal);
    const { bytesReceived: length } = reply;
    bytes += length;
    if ('fault' in reply) return { outcome: { kind: 'fault', fault: reply.fault }, length };
    const error = [400, 404].includes(reply.status) ? errorBody(parseJson(reply.body), address.redactor) : undefined;
    return { outcome: error === undefined ? readRestReply(address, reply) : { kind: 'error', error }, length };
  }

  /** For the GETs of one call, which together have no more bytes than one answer may have. */
  function getWith(signal: AbortSignal): Get {
    let left = http.maxResponseBytes;
    return async (path) => {
      let work = running.get(path);
      if (work === undefined || work.isOver) {
        work = new SharedWork((shared) => fetchObject(path, shared));
        running.set(path, work);
      }
      try {
        const { outcome, length } = await work.wait(signal);
        if (outcome.kind !== 'result') throw new Unanswered(outcome);
        left -= length;
        if (left >= 0) return outcome.result;
        const reason = `the objects of one call have more than ${http.maxResponseBytes} bytes`;
        throw new Unanswered(faultOutcome('malformed', reason));
      } finally {
        if (running.get(path) === work) running.delete(path);
      }
    };
  }

  /** A block by a name that may mean another one later. */
  async function head(name: string, get: Get): Promise<Head> {
    const found = headFrom(await get(`head/${name}`));
    if (name === 'latest') {
      const ageMs = clock.now() - Number(found.header.timestamp) * 1000;
      if (ageMs > maxAgeMs) {
        const age = `${Math.round(ageMs / 1000)} s old by the clock here, and maxAgeMs allows ${maxAgeMs / 1000} s`;
        throw new Unanswered(faultOutcome('unavailable', `the newest block of the feed is ${age}`));
      }
      newest = { head: found, at: clock.now() };
      hashes.learnNewest(found.header);
    }
    return found;
  }

  /** Whether the newest block was asked for in the last milliseconds. */
  function isRecent(withinMs: number): boolean {
    const ageMs = newest === undefined ? -1 : clock.now() - newest.at;
    return ageMs >= 0 && ageMs <= withinMs;
  }

  const recentHead = async (get: Get): Promise<Head> => (isRecent(LATEST_MS) ? newest!.head : head('latest', get));

  const knownHash = (number: string) => (isRecent(KNOWN_MS) ? hashes.at(number) : undefined);

  async function hashOf(block: unknown, get: Get): Promise<string> {
    const named = typeof block === 'object' && block !== null ? (block as { blockHash?: unknown }).blockHash : block;
    const text = String(named).toLowerCase();
    if (HASH.test(text)) return text;
    if (text === 'latest') return (await recentHead(get)).header.hash;
    if (text !== 'finalized' && !QUANTITY.test(text)) throw failed(UNAVAILABLE, `a feed has no block ${text}`);
    return knownHash(text) ?? (await head(text, get)).header.hash;
  }

  async function header(hash: string, get: Get): Promise<unknown> {
    const found = await get(`block/${hash}/header`);
    if (isHeader(found)) hashes.learnParent(found);
    return found;
  }

  async function account(hash: string, address: string, get: Get): Promise<object> {
    const found = objectFrom(await get(`block/${hash}/account/${address}`));
    const { codeHash } = found as { codeHash?: unknown };
    if (typeof codeHash === 'string' && HASH.test(codeHash)) remember(codeHashes, hash + address, codeHash);
    return found;
  }

  const calls: Calls = {
    eth_chainId: async (_, get) => (await recentHead(get)).chainId,
    eth_getBlockByNumber: ([name, isFull], get) =>
      orNull(async () => {
        if (isFull === true) return get(`block/${await hashOf(name, get)}/body`);
        const known = knownHash(String(name));
        return known === undefined ? (await head(String(name), get)).header : header(known, get);
      }),
    eth_getBlockByHash: ([hash, isFull], get) =>
      orNull(() => (isFull === true ? get(`block/${lower(hash)}/body`) : header(lower(hash), get))),
    eth_getBlockReceipts: ([block], get) => orNull(async () => get(`block/${await hashOf(block, get)}/receipts`)),
    eth_getBlockAccessList: ([block], get) => orNull(async () => get(`block/${await hashOf(block, get)}/access-list`)),
    // Each slot has a URL of its own: slots that many read are then the same object for all.
    async eth_getProof([address, keys, block], get) {
      // A guess at what will be read, sent along with the question for the newest block: it would be a request for each.
      if (block === 'latest') throw failed(UNAVAILABLE, 'a feed proves nothing at latest; name a block');
      const hash = await hashOf(block, get);
      const [proved, storageProof] = await Promise.all([
        account(hash, lower(address), get),
        all(keysFrom(keys), (key) => get(`block/${hash}/slot/${lower(address)}/${key}`)),
      ]);
      return { ...proved, storageProof };
    },
    async eth_getCode([address, block], get) {
      const hash = await hashOf(block, get);
      const at = lower(address);
      const codeHash = codeHashes.get(hash + at) ?? (objectFrom(await account(hash, at, get)) as NamedCode).codeHash;
      if (codeHash === NO_CODE) return '0x';
      try {
        return await get(`code/${codeHash}/${at}`);
      } catch (error) {
        // The account has other code by now.
        if (!(error instanceof Unanswered) || error.outcome.kind !== 'error') throw error;
        return get(`block/${hash}/code/${at}`);
      }
    },
    async linea_getProof([address, keys, block], get) {
      const path = `block/${await hashOf(block, get)}/zk/${lower(address)}`;
      const [proved, found] = await Promise.all([
        get(path),
        all(keysFrom(keys), async (key) => (objectFrom(await get(`${path}/${key}`)) as { proof?: unknown }).proof),
      ]);
      const storageProofs = found.every((proof) => proof === null) ? [] : found;
      return { ...objectFrom(proved), storageProofs };
    },
  };

  return async ([call], signal) => {
    const { method, params } = call as Call;
    let outcome: Outcome;
    // Ends the GETs that go on once one of them has failed.
    const controller = new AbortController();
    const end = () => controller.abort(signal.reason);
    signal.addEventListener('abort', end);
    try {
      signal.throwIfAborted();
      if (!Object.hasOwn(calls, method)) throw failed(METHOD_MISSING, `a feed does not serve ${method}`);
      outcome = { kind: 'result', result: await calls[method]!(params, getWith(controller.signal)) };
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      outcome = error.outcome;
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
    const bytesReceived = bytes;
    bytes = 0;
    return { reply: [outcome], bytesSent: 0, bytesReceived };
  };
}

interface NamedCode {
  readonly codeHash: string;
}

/**
 * The hashes of the newest block and of blocks below it, each the parent of the next, so that a block that is asked for by its number has the
 * URL of its hash. A newest block that does not join them ends what was known.
 */
class KnownHashes {
  private readonly byNumber = new Map<number, string>();

  at(number: string): string | undefined {
    return QUANTITY.test(number) ? this.byNumber.get(Number(number)) : undefined;
  }

  learnNewest({ number, hash, parentHash }: NamedHeader): void {
    const { byNumber } = this;
    const height = Number(number);
    for (const above of [...byNumber.keys()]) if (above > height) byNumber.delete(above);
    if (byNumber.get(height - 1) !== parentHash) byNumber.clear();
    remember(byNumber, height - 1, parentHash);
    remember(byNumber, height, hash);
  }

  /** Of a header that was asked for by its hash, which may be of another branch. */
  learnParent({ number, hash, parentHash }: NamedHeader): void {
    const height = Number(number);
    if (this.byNumber.get(height) === hash && !this.byNumber.has(height - 1))
      remember(this.byNumber, height - 1, parentHash);
  }
}

function remember<K>(map: Map<K, string>, key: K, value: string): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_KNOWN) map.delete(map.keys().next().value!);
}

const lower = (text: unknown) => String(text).toLowerCase();

function failed(code: number, message: string): Unanswered {
  return new Unanswered({ kind: 'error', error: { code, message } });
}

const malformed = () => new Unanswered(faultOutcome('malformed', 'not an object of a feed'));

function objectFrom(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed();
  return value;
}

function isHeader(value: unknown): value is NamedHeader {
  const { number, hash, parentHash, timestamp } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    [hash, parentHash].every((one) => typeof one === 'string' && HASH.test(one)) &&
    [number, timestamp].every((one) => typeof one === 'string' && QUANTITY.test(one))
  );
}

function headFrom(value: unknown): Head {
  const { chainId, header } = objectFrom(value) as { chainId?: unknown; header?: unknown };
  if (!isHeader(header)) throw malformed();
  return { chainId, header };
}

/** Keys of storage slots as URLs have them. */
function keysFrom(keys: unknown): string[] {
  return (Array.isArray(keys) ? keys : []).map((key) => `0x${lower(key).slice(2).padStart(64, '0')}`);
}

/** Null for what the feed does not hold, as nodes answer. */
async function orNull(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    const isNotHeld = error instanceof Unanswered && error.outcome.kind === 'error';
    if (isNotHeld && !isMethodMissing((error.outcome as Extract<Outcome, { kind: 'error' }>).error)) return null;
    throw error;
  }
}

/** A few at a time, in their order. */
async function all<T>(keys: readonly string[], read: (key: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < keys.length; i += AT_ONCE)
    found.push(...(await Promise.all(keys.slice(i, i + AT_ONCE).map(read))));
  return found;
}
