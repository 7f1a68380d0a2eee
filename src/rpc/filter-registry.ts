import type { BlockReference } from '../chain/block.js';
import type { Chain, ChainCall } from '../chain/chain.js';
import type { FoundLog } from '../chain/log-filter.js';
import { logsOfBlock } from '../chain/log-search.js';
import { isPlumblineError, PlumblineError } from '../errors.js';
import { bytesToBigInt, bytesToKey, equalBytes } from '../primitives/bytes.js';
import { toQuantity } from '../primitives/quantity.js';
import { nextTurn } from '../scheduling/turns.js';
import type { LogBounds, LogRequest } from './parse-log-filter.js';
import { requireBlock } from './resolve-block.js';
import { invalidParams } from './rpc-errors.js';

/** A filter without a request for this long expires. */
export const FILTER_IDLE_MS: number = 5 * 60_000;
/** Most filters of all clients. Above it the client with the most loses one. */
const MAX_FILTERS_OF_ALL = 1024;
/** Most hashes of pending transactions one filter keeps; the oldest go first. */
const MAX_WAITING = 10_000;
/** Most blocks whose logs a filter keeps, in case they leave the chain: as far as reorgs reach. A light node does not hold them otherwise. */
const MAX_GIVEN_BLOCKS = 1024;
const MAX_GIVEN_BLOCKS_LIGHT = 128;
const ID_BYTES = 16;
/** Part of an answer that logs may take: their length as JSON is known about, and what does not fit in the end would be lost. */
const SHARE_OF_LOGS = 0.8;
const EVERYTHING: LogBounds = { from: undefined, to: undefined };

/** Limits of filters, and their clock. */
export interface FilterOptions {
  /** Milliseconds of any clock that does not run backwards. */
  readonly now: () => number;
  /** Most filters of one client; no limit of their own when left out. */
  readonly maxFilters?: number | undefined;
  /** Most bytes of the logs of one answer, as JSON; no limit when left out. */
  readonly maxAnswerBytes?: number | undefined;
}

/** What is new for a filter since the last request: logs, or hashes of blocks or transactions, 32 bytes each. */
export type FilterChanges = { readonly logs: readonly FoundLog[] } | { readonly hashes: readonly Uint8Array[] };

/** How far a filter of blocks or logs has got. */
interface Following {
  /** First block that no answer has covered. */
  next: number;
  /** Hash of the head, 32 bytes, that the last answer reached, and the value of `next` then. */
  answered: { readonly head: Uint8Array; readonly next: number } | undefined;
}

/** Logs that answers had. */
interface Given {
  /** By the hashes of their blocks, the oldest first. */
  readonly given: Map<string, FoundLog[]>;
  /** Those of blocks that have left the chain since. */
  removed: readonly FoundLog[];
}

type Kind =
  | ({ readonly kind: 'logs'; readonly request: LogRequest } & Following & Given)
  | ({ readonly kind: 'blocks' } & Following)
  | { readonly kind: 'transactions'; readonly waiting: Uint8Array[] };

type Filter = Kind & { readonly client: unknown; usedAt: number };

/**
 * The filters of `eth_newFilter`, `eth_newBlockFilter` and `eth_newPendingTransactionFilter`. Only pending transactions are
 * kept for a filter. Logs and blocks are looked up for each request, so that an idle filter costs little. The registry
 * listens to the chain only while there are filters, and needs no timer. The number of filters is limited for each client:
 * anything that identifies one, such as an address or a session. Requests without one count as one client.
 */
export class FilterRegistry {
  private readonly filters = new Map<string, Filter>();
  /** Hashes of blocks that have left the chain. */
  private readonly left = new Set<string>();
  private readonly limit: number;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly chain: Chain,
    private readonly options: FilterOptions,
  ) {
    this.limit = options.maxFilters ?? Number.POSITIVE_INFINITY;
  }

  /** Follows logs of the blocks from now on, within the bounds of the request. @throws PlumblineError `FILTER_LIMIT` */
  async addLogs(request: LogRequest, client?: unknown, call: ChainCall = {}): Promise<string> {
    const following = await this.fromHead(call);
    return this.add({ kind: 'logs', request, removed: [], given: new Map(), ...following }, client);
  }

  /** Follows new blocks. @throws PlumblineError `FILTER_LIMIT` */
  async addBlocks(client?: unknown, call: ChainCall = {}): Promise<string> {
    return this.add({ kind: 'blocks', ...(await this.fromHead(call)) }, client);
  }

  /** Follows transactions that enter the pool. @throws PlumblineError `FILTER_LIMIT` */
  addTransactions(client?: unknown): string {
    return this.add({ kind: 'transactions', waiting: [] }, client);
  }

  /**
   * @param call - its signal ends a search of many blocks; the next request then covers them again
   * @throws PlumblineError `FILTER_NOT_FOUND`
   */
  async changes(id: string, call: ChainCall = {}): Promise<FilterChanges> {
    const filter = this.use(id);
    if (filter.kind === 'transactions') return { hashes: filter.waiting.splice(0) };
    if (filter.kind === 'blocks') return { hashes: await this.newBlocks(filter, call) };
    const { range, filter: wanted } = filter.request;
    if ('blockHash' in range) return { logs: [] };
    const { maxAnswerBytes } = this.options;
    const maxBytes = maxAnswerBytes && Math.floor(maxAnswerBytes * SHARE_OF_LOGS);
    // More than an answer may have is given in several: half of the blocks, until they fit.
    const found = await this.advance(call, filter, range, async (from, last) => {
      for (let to = last; ; to = from + Math.floor((to - from) / 2)) {
        try {
          return { found: await this.chain.logs({ from, to, filter: wanted, maxBytes }, call), to };
        } catch (error) {
          if (to === from || !isPlumblineError(error, 'ANSWER_TOO_LARGE')) throw error;
        }
      }
    });
    // A block may have left the chain during the search.
    const logs = found.filter(({ transaction }) => !this.left.has(bytesToKey(transaction.block.hash)));
    const { removed } = filter;
    filter.removed = [];
    keepGiven(filter.given, logs, this.chain.kind === 'light' ? MAX_GIVEN_BLOCKS_LIGHT : MAX_GIVEN_BLOCKS);
    return { logs: [...removed, ...logs] };
  }

  /**
   * All logs of a filter, from the start of its range.
   *
   * @param call - as for `changes`
   * @throws PlumblineError `FILTER_NOT_FOUND`; as `findLogs`
   */
  async logs(id: string, call: ChainCall = {}): Promise<readonly FoundLog[]> {
    const filter = this.use(id);
    if (filter.kind !== 'logs') throw notFound(id);
    return findLogs(this.chain, filter.request, { ...call, maxAnswerBytes: this.options.maxAnswerBytes });
  }

  /** @returns whether there was such a filter */
  remove(id: string): boolean {
    this.forgetIdle();
    const removed = this.filters.delete(id);
    this.stopWhenEmpty();
    return removed;
  }

  private add(kind: Kind, client: unknown): string {
    this.forgetIdle();
    const { limit } = this;
    const counts = new Map<unknown, number>();
    for (const filter of this.filters.values()) counts.set(filter.client, (counts.get(filter.client) ?? 0) + 1);
    if ((counts.get(client) ?? 0) >= limit) {
      throw new PlumblineError('FILTER_LIMIT', `there are ${limit} filters already: uninstall one first`, { limit });
    }
    if (this.filters.size >= MAX_FILTERS_OF_ALL) this.dropOne(counts);
    const id = toQuantity(bytesToBigInt(crypto.getRandomValues(new Uint8Array(ID_BYTES))));
    this.filters.set(id, { ...kind, client, usedAt: this.options.now() });
    this.unsubscribe ??= this.listen();
    return id;
  }

  /** Removes the filter of the client with the most that was not asked for the longest. @param counts - filters by client */
  private dropOne(counts: ReadonlyMap<unknown, number>): void {
    const [most] = [...counts].sort(([, a], [, b]) => b - a)[0]!;
    const own = [...this.filters].filter(([, { client }]) => client === most);
    const [id] = own.sort(([, a], [, b]) => a.usedAt - b.usedAt)[0]!;
    this.filters.delete(id);
  }

  private use(id: string): Filter {
    this.forgetIdle();
    const filter = this.filters.get(id);
    if (filter === undefined) throw notFound(id);
    filter.usedAt = this.options.now();
    return filter;
  }

  private newBlocks(filter: Following, call: ChainCall): Promise<readonly Uint8Array[]> {
    return this.advance(call, filter, EVERYTHING, async (first, last) => {
      const hashes: Uint8Array[] = [];
      for (let number = first; number <= last; number++) {
        await nextTurn();
        call.signal?.throwIfAborted();
        const block = await this.chain.block({ number }, call);
        if (block !== undefined) hashes.push(block.hash);
      }
      return { found: hashes, to: last };
    });
  }

  /** Calls `find` with the blocks that no answer has covered. They count as covered up to the one that it names, unless it fails. */
  private async advance<Found>(
    call: ChainCall,
    following: Following,
    { from, to }: LogBounds,
    find: (first: number, last: number) => Promise<{ readonly found: readonly Found[]; readonly to: number }>,
  ): Promise<readonly Found[]> {
    const { header, hash } = await this.chain.head(call);
    const last = to === undefined ? header.number : Math.min(header.number, await numberOf(this.chain, to, call));
    const first = from !== undefined && 'number' in from ? Math.max(following.next, from.number) : following.next;
    if (first > last) return [];
    following.next = last + 1;
    following.answered = { head: hash, next: last + 1 };
    let covered = first - 1;
    try {
      const { found, to } = await find(first, last);
      covered = to;
      return found;
    } finally {
      if (covered < last) {
        following.next = Math.min(following.next, covered + 1);
        following.answered = undefined;
      }
    }
  }

  private async fromHead(call: ChainCall): Promise<Following> {
    const { header, hash } = await this.chain.head(call);
    const next = header.number + 1;
    return { next, answered: { head: hash, next } };
  }

  private listen(): () => void {
    return this.chain.subscribe({
      head: ({ header, hash }) => {
        this.forgetIdle();
        this.left.delete(bytesToKey(hash));
        for (const filter of this.filters.values()) {
          if (filter.kind === 'transactions') continue;
          const { answered, next } = filter;
          // A head at or below what was covered means a reorg: these blocks are new. But a light chain may announce its
          // blocks late. If they end with the head that the last answer reached, they are the same blocks.
          filter.next = answered && equalBytes(answered.head, hash) ? answered.next : Math.min(next, header.number);
        }
      },
      removed: ({ hash }) => {
        this.left.add(bytesToKey(hash));
        if (this.left.size > MAX_GIVEN_BLOCKS) this.left.delete(this.left.keys().next().value!);
        for (const filter of this.filters.values()) {
          if (filter.kind !== 'logs') continue;
          const given = filter.given.get(bytesToKey(hash)) ?? [];
          filter.given.delete(bytesToKey(hash));
          filter.removed = [...filter.removed, ...given.map((log) => ({ ...log, removed: true as const }))].slice(
            -MAX_WAITING,
          );
        }
      },
      shortened: (head) => {
        for (const filter of this.filters.values()) {
          if (filter.kind === 'transactions') continue;
          filter.next = Math.min(filter.next, head + 1);
          filter.answered = undefined;
        }
      },
      pending: ({ hash }) => {
        this.forgetIdle();
        for (const filter of this.filters.values()) {
          if (filter.kind !== 'transactions') continue;
          filter.waiting.push(hash);
          if (filter.waiting.length > MAX_WAITING) filter.waiting.shift();
        }
      },
    });
  }

  private forgetIdle(): void {
    const latest = this.options.now() - FILTER_IDLE_MS;
    for (const [id, filter] of this.filters) if (filter.usedAt < latest) this.filters.delete(id);
    this.stopWhenEmpty();
  }

  private stopWhenEmpty(): void {
    if (this.filters.size > 0) return;
    this.unsubscribe?.();
    this.unsubscribe = undefined;
    this.left.clear();
  }
}

/** Adds the logs of an answer to those that were given, the newest `most` blocks of them. */
function keepGiven(given: Map<string, FoundLog[]>, logs: readonly FoundLog[], most: number): void {
  for (const log of logs) {
    const key = bytesToKey(log.transaction.block.hash);
    const others = given.get(key);
    if (others === undefined) given.set(key, [log]);
    else others.push(log);
  }
  for (const key of given.keys()) {
    if (given.size <= most) break;
    given.delete(key);
  }
}

function notFound(id: string): PlumblineError<'FILTER_NOT_FOUND'> {
  return new PlumblineError('FILTER_NOT_FOUND', 'there is no such filter', { id });
}

const LATEST: BlockReference = { tag: 'latest' };

/**
 * The logs that a request asks for; without bounds, those of the newest block. A range may have any number of blocks: bytes and time limit
 * the search, and it yields the thread.
 *
 * @param call - its `maxAnswerBytes` count the logs as JSON
 * @throws PlumblineError `BLOCK_NOT_FOUND`, `ANSWER_TOO_LARGE`; RpcError -32602 for an end above the head, or below
 *   the start
 */
export async function findLogs(
  chain: Chain,
  { range, filter }: LogRequest,
  call: ChainCall = {},
): Promise<readonly FoundLog[]> {
  if ('blockHash' in range) {
    return logsOfBlock(chain, await requireBlock({ chain }, { hash: range.blockHash }, call), filter, call);
  }
  const { from = LATEST, to = LATEST } = range;
  const [first, last] = [await numberOf(chain, from, call), await numberOf(chain, to, call)];
  // A tag names a block of the chain. The head is read last: one that was read before may be older than `last`.
  if ('number' in to && last > (await chain.head(call)).header.number)
    throw invalidParams('toBlock', 'is above the head', 'block range params');
  if (first > last) throw invalidParams('fromBlock', 'is above toBlock', 'block range params');
  return chain.logs({ from: first, to: last, filter, maxBytes: call.maxAnswerBytes }, call);
}

/** Number of the block that a bound names. For a number no block is needed: it may be above the head. */
export async function numberOf(chain: Chain, bound: BlockReference, call?: ChainCall): Promise<number> {
  return 'number' in bound ? bound.number : (await requireBlock({ chain }, bound, call)).header.number;
}
