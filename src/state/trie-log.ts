import { RLP } from '@ethereumjs/rlp';
import { PlumblineError } from '../errors.js';
import { bytesToBigInt, equalBytes, padStart, plainBytes } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import type { AccountAfter, SlotChange, ZkAccountChange } from './world-state.js';

/** The state changes of one block, as a Besu node with the Shomei plugin reports them. */
export interface TrieLog {
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  readonly blockNumber: number;
  /** For `WorldState.applyBlock`. Entries without an account and slots without a key are left out. */
  readonly changes: readonly ZkAccountChange[];
  /** Bit mask of plugin features. */
  readonly zkCompare?: bigint;
  /** Seconds. */
  readonly timestamp?: bigint;
}

type Item = Uint8Array | readonly Item[];

/** An account in the log; its code hash is not used. */
interface LoggedAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Root of the Merkle-Patricia storage trie, 32 bytes. */
  readonly evmStorageRoot: Uint8Array;
}

const EMPTY_EVM_ROOT = hexToBytes('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421');

/**
 * Decodes a trie log, strictly: canonical RLP, integers without leading zeros, exact lengths. Extra items at the end of
 * an entry or of the log are ignored, as the format requires.
 *
 * @param encoded - one RLP item
 * @throws PlumblineError `TRIE_LOG_MALFORMED`
 * @source docs/spec/state-trie.md 6
 *
 * @example
 * ```ts
 * import { decodeTrieLog, openState } from 'plumbline-l2/state';
 *
 * const trieLog = Uint8Array.from([0xe2, 0xa0, ...new Uint8Array(32), 0x80]);
 * const { blockNumber, changes } = decodeTrieLog(trieLog);
 * const state = await openState({ scheme: 'poseidon2' });
 * state.applyBlock(blockNumber, changes).length; // => 32
 * ```
 */
export function decodeTrieLog(encoded: Uint8Array): TrieLog {
  const [blockHash, blockNumber, ...rest] = fields(decodeRlp(encoded), 'log', 2);
  const number = scalar(blockNumber, 'log.blockNumber', 8);
  if (number > Number.MAX_SAFE_INTEGER) throw malformed('log.blockNumber', 'must be at most 2^53 - 1');
  const afterEntries = rest.findIndex((item) => !Array.isArray(item));
  const entries = afterEntries === -1 ? rest : rest.slice(0, afterEntries);
  const [zkCompare, timestamp] = rest.slice(entries.length);
  return {
    blockHash: exactly(blockHash, 'log.blockHash', 32),
    blockNumber: Number(number),
    changes: entries.flatMap((entry, i) => accountChange(entry, `log.entries[${i}]`) ?? []),
    ...(zkCompare === undefined ? {} : { zkCompare: scalar(zkCompare, 'log.zkCompare', 32) }),
    ...(timestamp === undefined ? {} : { timestamp: scalar(timestamp, 'log.timestamp', 8) }),
  };
}

function accountChange(entry: Item, path: string): ZkAccountChange | undefined {
  const [addressItem, codeItem, accountItem, storageItem] = fields(entry, path, 4);
  const address = exactly(addressItem, `${path}.address`, 20);
  const code = isNone(codeItem) ? undefined : bytes(fields(codeItem, `${path}.code`, 3)[1], `${path}.code.updated`);
  const slots = isNone(storageItem)
    ? []
    : list(storageItem, `${path}.storage`).flatMap((slot, i) => slotChange(slot, `${path}.storage[${i}]`) ?? []);
  if (isNone(accountItem)) return undefined;

  const [priorItem, updatedItem, clearedItem] = fields(accountItem, `${path}.account`, 3);
  const prior = account(priorItem, `${path}.account.prior`);
  const updated = account(updatedItem, `${path}.account.updated`);
  const destroyed = flag(clearedItem, `${path}.account.cleared`);
  if (
    prior &&
    updated &&
    destroyed &&
    slots.length === 0 &&
    !equalBytes(prior.evmStorageRoot, updated.evmStorageRoot)
  ) {
    throw malformed(path, 'recreates an account with another storage root, but lists no slot');
  }
  const after: AccountAfter | undefined = updated && {
    nonce: updated.nonce,
    balance: updated.balance,
    ...(code === undefined ? {} : { code }),
  };
  return {
    address,
    ...(prior === undefined ? {} : { before: { nonce: prior.nonce, balance: prior.balance } }),
    ...(after === undefined ? {} : { after }),
    destroyed,
    slots,
  };
}

function account(item: Item | undefined, path: string): LoggedAccount | undefined {
  if (isNone(item)) return undefined;
  const [nonce, balance, root, codeHash] = fields(item, path, 4);
  if (!isNone(codeHash)) exactly(codeHash, `${path}.keccakCodeHash`, 32);
  return {
    nonce: scalar(nonce, `${path}.nonce`, 8),
    balance: scalar(balance, `${path}.balance`, 32),
    evmStorageRoot: isNone(root) ? EMPTY_EVM_ROOT : exactly(root, `${path}.evmStorageRoot`, 32),
  };
}

function slotChange(item: Item, path: string): SlotChange | undefined {
  const [keyHash, prior, updated, cleared, key] = fields(item, path, 4);
  exactly(keyHash, `${path}.keyHash`, 32);
  const before = word(prior, `${path}.prior`);
  const after = word(updated, `${path}.updated`);
  const change = { before, after, cleared: flag(cleared, `${path}.cleared`) };
  return key === undefined ? undefined : { ...change, key: word(key, `${path}.slotKey`) };
}

function decodeRlp(encoded: Uint8Array): Item {
  try {
    if (encoded.length > 0) return RLP.decode(plainBytes(encoded)) as Item;
  } catch (cause) {
    // Invalid RLP, or lists nested so deeply that the stack overflows.
    throw malformed('log', 'must be one canonical RLP item', cause);
  }
  throw malformed('log', 'is empty');
}

function isNone(item: Item | undefined): boolean {
  return item instanceof Uint8Array && item.length === 0;
}

function list(item: Item | undefined, path: string): readonly Item[] {
  if (item === undefined || item instanceof Uint8Array) throw malformed(path, 'must be a list');
  return item;
}

/** Items of a list that must have at least `minimum` items. */
function fields(item: Item | undefined, path: string, minimum: number): readonly Item[] {
  const items = list(item, path);
  if (items.length < minimum) throw malformed(path, `must have at least ${minimum} items, got ${items.length}`);
  return items;
}

function bytes(item: Item | undefined, path: string): Uint8Array {
  if (!(item instanceof Uint8Array)) throw malformed(path, 'must be a byte string');
  return item;
}

function exactly(item: Item | undefined, path: string, length: number): Uint8Array {
  const value = bytes(item, path);
  if (value.length !== length) throw malformed(path, `must have ${length} bytes, got ${value.length}`);
  return value;
}

/** Big-endian bytes of an integer without leading zeros, at most `maximum` bytes. */
function minimal(item: Item | undefined, path: string, maximum: number): Uint8Array {
  const value = bytes(item, path);
  if (value.length > maximum) throw malformed(path, `must have at most ${maximum} bytes, got ${value.length}`);
  if (value[0] === 0) throw malformed(path, 'must not have leading zeros');
  return value;
}

function scalar(item: Item | undefined, path: string, maximum: number): bigint {
  return bytesToBigInt(minimal(item, path, maximum));
}

function word(item: Item | undefined, path: string): Uint8Array {
  return padStart(minimal(item, path, 32), 32);
}

function flag(item: Item | undefined, path: string): boolean {
  return scalar(item, path, 4) === 1n;
}

function malformed(path: string, reason: string, cause?: unknown): PlumblineError<'TRIE_LOG_MALFORMED'> {
  return new PlumblineError('TRIE_LOG_MALFORMED', `trie log: ${path} ${reason}`, { path, reason }, { cause });
}
