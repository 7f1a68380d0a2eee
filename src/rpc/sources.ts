import type { Block } from '../chain/block.js';
import { type Chain, endAll, type RemovalListener } from '../chain/chain.js';
import type { FoundLog } from '../chain/log-filter.js';
import { logsOfBlock } from '../chain/log-search.js';
import { PlumblineError } from '../errors.js';
import { equalBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { loadOnce } from '../scheduling/load-once.js';
import type { Source } from './method.js';
import { parseLogRequest } from './parse-log-filter.js';
import { optional, parseBoolean, parseHash, requireArray, requireObject, requireText } from './parse-params.js';
import { invalidParams } from './rpc-errors.js';

/** More blocks than a reorg of a devnet removes, unless it holds more states than usual. */
const MAX_TOLD = 1024;
/** As many blocks as a light node tells of as removed. It does not hold them otherwise. */
const MAX_TOLD_LIGHT = 128;

/** Most transactions whose receipts one subscription waits for. */
const MAX_HASHES = 200;

/** Receives the reason why a subscription left something out: its subscriber cannot be told. */
type OnError = (error: unknown) => void;
type SourceOf = (chain: Chain, parameter: unknown, onError: OnError) => Source;

type Format = typeof import('./schema/format.js');

let format: Format | undefined;
const loadFormat = loadOnce(async () => {
  format = await import('./schema/format.js');
  return format;
});

/** Runs `use` at once or, in the order of the calls, when the code that shows answers is loaded. */
function withFormat(use: (format: Format) => void, onError: OnError): void {
  if (format === undefined) loadFormat().then(use).catch(onError);
  else use(format);
}

/** What `eth_subscribe` can follow, by name. */
const SOURCES: Readonly<Record<string, SourceOf>> = {
  newHeads: (chain, _, onError) => (emit) =>
    chain.subscribe({ head: (block) => withFormat(({ formatHeader }) => emit(formatHeader(block)), onError) }),

  logs: (chain, parameter, onError) => {
    const { filter } = parseLogRequest(parameter ?? {});
    return (emit) => {
      /** Logs that the subscriber has, of the newest blocks, by their hashes. */
      const told = new Map<string, readonly FoundLog[]>();
      const removed: RemovalListener = ({ hash }) => {
        const logs = told.get(bytesToHex(hash)) ?? [];
        told.delete(bytesToHex(hash));
        if (logs.length === 0) return;
        withFormat(({ formatLog }) => {
          for (const log of logs) emit(formatLog({ ...log, removed: true }));
        }, onError);
      };
      return endAll(
        chain.subscribe({ removed }),
        followBlocks(
          chain,
          async (block) => ({ block, logs: await logsOfBlock(chain, block, filter) }),
          ({ block, logs }) => {
            if (logs.length === 0) return;
            remember(told, bytesToHex(block.hash), logs, chain.kind === 'light' ? MAX_TOLD_LIGHT : MAX_TOLD);
            withFormat(({ formatLog }) => {
              for (const log of logs) emit(formatLog(log));
            }, onError);
          },
          onError,
        ),
      );
    };
  },

  transactionReceipts: (chain, parameter, onError) => {
    const hashes = optional(parameter, parseHashes);
    return (emit) =>
      followBlocks(
        chain,
        async (block) => {
          const receipts = await chain.receipts(block);
          return hashes === undefined
            ? receipts
            : receipts.filter(({ transaction }) => hashes.has(bytesToHex(transaction.hash)));
        },
        (receipts) => {
          if (receipts.length > 0) withFormat(({ formatReceipt }) => emit(receipts.map(formatReceipt)), onError);
        },
        onError,
      );
  },

  /** The node is never syncing, so that there is nothing to tell. */
  syncing: () => () => () => {},

  newPendingTransactions: (chain, parameter, onError) => {
    const whole = optional(parameter, parseWhole) ?? false;
    return (emit) =>
      chain.subscribe({
        pending(transaction) {
          if (!whole) emit(bytesToHex(transaction.hash));
          else withFormat(({ formatPendingTransaction }) => emit(formatPendingTransaction(transaction)), onError);
        },
      });
  },
};

/**
 * The source that the parameters of `eth_subscribe` name.
 *
 * @param onError - receives the reason why the logs of a block were left out
 * @throws RpcError -32602 for an unknown name or a bad filter
 */
export function parseSource(chain: Chain, [name, parameter]: readonly unknown[], onError: OnError = () => {}): Source {
  const kind = requireText(name, 'subscription', 'params');
  const source = Object.hasOwn(SOURCES, kind) ? SOURCES[kind] : undefined;
  if (source === undefined) {
    throw invalidParams('subscription', `must be one of ${Object.keys(SOURCES).join(', ')}`);
  }
  return source(chain, parameter, onError);
}

/** Adds to a map of limited size; the oldest goes first. */
function remember<T>(told: Map<string, T>, hash: string, value: T, most: number): void {
  told.set(hash, value);
  const [oldest] = told.keys();
  if (told.size > most) told.delete(oldest!);
}

/** `{ transactionHashes }`, of which none means all, as in geth. */
function parseHashes(value: unknown): ReadonlySet<string> | undefined {
  const { transactionHashes } = requireObject(value, 'filter', 'params');
  const hashes = optional(transactionHashes, (present) => requireArray(present, 'transactionHashes', 'params')) ?? [];
  if (hashes.length > MAX_HASHES) throw invalidParams('transactionHashes', `has more than ${MAX_HASHES} hashes`);
  if (hashes.length === 0) return undefined;
  return new Set(hashes.map((hash, i) => bytesToHex(parseHash(hash, `transactionHashes[${i}]`))));
}

/** `true`, or `{ includeTransactions: true }`: geth's and Besu's clients differ here. */
function parseWhole(value: unknown): boolean {
  const flag = typeof value === 'object' ? (value as { includeTransactions?: unknown }).includeTransactions : value;
  return optional(flag, (present) => parseBoolean(present, 'includeTransactions')) ?? false;
}

/** How often a block is read, each time after another new head, before it is skipped. */
export const MAX_TRIES = 8;
/** Most blocks that wait, including the one that is being read. The oldest is skipped for one more. */
export const MAX_WAITING = 256;

interface Waiting {
  readonly block: Block;
  tries: number;
  error?: unknown;
}

/**
 * Reads something of each new block, one after the other in the order of the chain, and passes it to `tell`. A block that
 * cannot be read is tried again with the next head, and those after it wait. It is skipped after `MAX_TRIES`, or when more
 * than `MAX_WAITING` blocks wait. A block that has left the chain meanwhile is dropped.
 *
 * @param onError - receives the reason why a block was skipped
 * @returns a function that ends it
 */
export function followBlocks<Found>(
  chain: Pick<Chain, 'subscribe'>,
  read: (block: Block) => Promise<Found>,
  tell: (found: Found) => void,
  onError: (error: unknown) => void,
): () => void {
  const waiting: Waiting[] = [];
  let isRunning = false;
  let isAskedAgain = false;
  let isEnded = false;

  function skip({ block, error }: Waiting): void {
    waiting.shift();
    const reason = `block ${block.header.number} is skipped: ${MAX_WAITING} blocks are waiting`;
    onError(error ?? new PlumblineError('INTERNAL', reason, { reason }));
  }

  /** @returns whether to continue with the block that is first now */
  async function advance(first: Waiting): Promise<boolean> {
    let found: Found;
    try {
      found = await read(first.block);
    } catch (error) {
      if (waiting[0] !== first) return true;
      first.error = error;
      first.tries++;
      if (first.tries < MAX_TRIES) return false;
      skip(first);
      return true;
    }
    // Another block is first after a reorg meanwhile.
    if (waiting[0] !== first || isEnded) return true;
    waiting.shift();
    tell(found);
    return true;
  }

  async function run(): Promise<void> {
    isRunning = true;
    try {
      do {
        isAskedAgain = false;
        while (!isEnded && waiting[0] !== undefined && (await advance(waiting[0])));
      } while (isAskedAgain && !isEnded);
    } catch (error) {
      onError(error);
    } finally {
      isRunning = false;
    }
  }

  const stop = chain.subscribe({
    head(block) {
      while (waiting.length > 0 && waiting.at(-1)!.block.header.number >= block.header.number) waiting.pop();
      waiting.push({ block, tries: 0 });
      if (waiting.length > MAX_WAITING) skip(waiting[0]!);
      isAskedAgain = true;
      if (!isRunning) void run();
    },
    // A block that leaves the chain may come before the one in its place, or without any.
    removed(block) {
      const at = waiting.findIndex((other) => equalBytes(other.block.hash, block.hash));
      if (at >= 0) waiting.splice(at, 1);
    },
  });
  return () => {
    isEnded = true;
    stop();
  };
}
