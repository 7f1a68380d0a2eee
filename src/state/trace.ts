import { ACCOUNT_VALUE_BYTES } from '../accumulator/account-value.js';
import { hashAccountValue, hashAddress, hashWord } from '../accumulator/keys.js';
import type { LeafOpening } from '../accumulator/leaf-opening.js';
import { MAX_LEAVES, TREE_DEPTH } from '../accumulator/scheme.js';
import { isPlumblineError, PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { isZeroBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';

/**
 * State traces: the operations of a block on the tries, one by one, each with the branches that prove it
 * (docs/spec/state-trie.md 10). Roots and siblings are 32 bytes. Values are in compact form, 192 bytes of an account or 32
 * of a slot. Roots are sub roots, not top roots.
 */
export interface BranchProof {
  readonly leafIndex: number;
  /** 40 hashes from level 0 up, as they are at that step. */
  readonly siblings: readonly Uint8Array[];
}

/** The key is in the trie. */
export interface ReadStep {
  readonly type: 'read';
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  readonly leaf: LeafOpening;
  readonly proof: BranchProof;
  readonly value: Uint8Array;
}

/** The key is not in the trie: these two leaves are neighbours. */
export interface ReadZeroStep {
  readonly type: 'read-zero';
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  readonly leftLeaf: LeafOpening;
  readonly rightLeaf: LeafOpening;
  readonly leftProof: BranchProof;
  readonly rightProof: BranchProof;
}

/** The key was inserted at the free position. Order of writes: left neighbour, new leaf, right neighbour. */
export interface InsertStep {
  readonly type: 'insert';
  readonly newNextFreeNode: number;
  readonly oldSubRoot: Uint8Array;
  readonly newSubRoot: Uint8Array;
  readonly leftProof: BranchProof;
  readonly newProof: BranchProof;
  readonly rightProof: BranchProof;
  readonly value: Uint8Array;
  readonly priorLeftLeaf: LeafOpening;
  readonly priorRightLeaf: LeafOpening;
}

/** The key's value was replaced. */
export interface UpdateStep {
  readonly type: 'update';
  readonly newNextFreeNode: number;
  readonly oldSubRoot: Uint8Array;
  readonly newSubRoot: Uint8Array;
  readonly proof: BranchProof;
  readonly oldValue: Uint8Array;
  readonly newValue: Uint8Array;
  readonly priorUpdatedLeaf: LeafOpening;
}

/** The key was removed. Order of writes: left neighbour, the leaf itself, right neighbour. */
export interface DeleteStep {
  readonly type: 'delete';
  readonly newNextFreeNode: number;
  readonly oldSubRoot: Uint8Array;
  readonly newSubRoot: Uint8Array;
  readonly leftProof: BranchProof;
  readonly deletedProof: BranchProof;
  readonly rightProof: BranchProof;
  readonly priorLeftLeaf: LeafOpening;
  readonly priorDeletedLeaf: LeafOpening;
  readonly priorRightLeaf: LeafOpening;
  /** Absent in old records. */
  readonly deletedValue?: Uint8Array;
}

/** One operation on one key of a trie. */
export type TrieStep = ReadStep | ReadZeroStep | InsertStep | UpdateStep | DeleteStep;

/** A step with its trie and key. */
export type StateTrace = TrieStep & {
  /** Address (20 bytes) of the account whose storage trie this is; undefined for the account trie. */
  readonly location: Uint8Array | undefined;
  /** Account trie: address, 20 bytes; storage trie: slot, 32 bytes. */
  readonly key: Uint8Array;
};

/**
 * A trie that is changed one operation at a time; each operation returns its step. Keys are given by `hkey` (32 bytes);
 * the caller hashes keys and values. Reading changes nothing and hashes nothing.
 */
export interface StepTrie {
  readonly nextFreeNode: number;
  readonly subRoot: Uint8Array;
  /** 32 bytes; computed on each call. */
  readonly topRoot: Uint8Array;
  read(hkey: Uint8Array): ReadStep | ReadZeroStep;
  /** Inserts or updates. @param content - `hkey`, `hval` and the value behind `hval`, in compact form */
  put(content: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array }): InsertStep | UpdateStep;
  /** Removes a key. @throws PlumblineError `STATE_MISMATCH` if it is not in the trie */
  remove(hkey: Uint8Array): DeleteStep;
}

/** `hkey` of a trace's key, 32 bytes. */
export function traceKeyHash(hasher: Hasher, trace: Pick<StateTrace, 'location' | 'key'>): Uint8Array {
  return trace.location === undefined ? hashAddress(hasher, trace.key) : hashWord(hasher, trace.key);
}

/** `hval` of a value in compact form, 32 bytes: 192 bytes are an account, 32 a slot. */
export function traceValueHash(hasher: Hasher, value: Uint8Array): Uint8Array {
  return value.length === ACCOUNT_VALUE_BYTES ? hashAccountValue(hasher, value) : hashWord(hasher, value);
}

/** A trace as JSON; `StateTrace` describes the fields. */
export interface StateTraceJson {
  /** `0x` for the account tree, else the account's address. */
  readonly location: Hex;
  readonly key: Hex;
  /** 0 read, 1 read-zero, 2 insert, 3 update, 4 delete. */
  readonly type: number;
  readonly [field: string]: Hex | number | LeafJson | BranchProofJson;
}

/** A leaf opening as JSON. */
export interface LeafJson {
  readonly hkey: Hex;
  readonly hval: Hex;
  readonly prevLeaf: number;
  readonly nextLeaf: number;
}

/** A branch as JSON. */
export interface BranchProofJson {
  readonly leafIndex: number;
  readonly siblings: readonly Hex[];
}

type FieldKind = 'index' | 'root' | 'leaf' | 'proof' | 'value';
type StepType = TrieStep['type'];

/** Index is the number of the type in JSON. */
const TYPES: readonly StepType[] = ['read', 'read-zero', 'insert', 'update', 'delete'];

/** Fields of each type, besides `location`, `key` and `type`. */
const FIELDS: {
  readonly [T in StepType]: Readonly<Record<Exclude<keyof Extract<TrieStep, { type: T }>, 'type'>, FieldKind>>;
} = {
  read: { nextFreeNode: 'index', subRoot: 'root', leaf: 'leaf', proof: 'proof', value: 'value' },
  'read-zero': {
    nextFreeNode: 'index',
    subRoot: 'root',
    leftLeaf: 'leaf',
    rightLeaf: 'leaf',
    leftProof: 'proof',
    rightProof: 'proof',
  },
  insert: {
    newNextFreeNode: 'index',
    oldSubRoot: 'root',
    newSubRoot: 'root',
    leftProof: 'proof',
    newProof: 'proof',
    rightProof: 'proof',
    value: 'value',
    priorLeftLeaf: 'leaf',
    priorRightLeaf: 'leaf',
  },
  update: {
    newNextFreeNode: 'index',
    oldSubRoot: 'root',
    newSubRoot: 'root',
    proof: 'proof',
    oldValue: 'value',
    newValue: 'value',
    priorUpdatedLeaf: 'leaf',
  },
  delete: {
    newNextFreeNode: 'index',
    oldSubRoot: 'root',
    newSubRoot: 'root',
    deletedValue: 'value',
    leftProof: 'proof',
    deletedProof: 'proof',
    rightProof: 'proof',
    priorLeftLeaf: 'leaf',
    priorDeletedLeaf: 'leaf',
    priorRightLeaf: 'leaf',
  },
};

/**
 * Parses the traces of a list of blocks (`zkStateMerkleProof`), strictly: exactly the fields of each type, exact
 * lengths. Two variants of old records are accepted: addresses padded to 32 bytes, and deletions without
 * `deletedValue`.
 *
 * @throws PlumblineError `TRACE_MALFORMED`
 * @source docs/spec/state-trie.md 10
 *
 * @example
 * ```ts
 * import { formatTrace, hexToBytes, openState, parseBlockTraces } from 'plumbline-l2/state';
 *
 * const state = await openState({ scheme: 'poseidon2' });
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const after = { nonce: 1n, balance: 5n };
 * const { traces } = state.applyBlockTraced(0, [{ address, after, destroyed: false, slots: [] }]);
 * parseBlockTraces([traces.map(formatTrace)]); // => [traces]
 * ```
 */
export function parseBlockTraces(json: unknown): StateTrace[][] {
  return list(json, 'blocks').map((block, b) =>
    list(block, `blocks[${b}]`).map((trace, t) => parseTrace(trace, `blocks[${b}][${t}]`)),
  );
}

/**
 * Parses one trace.
 *
 * @param path - its name in errors.
 * @throws PlumblineError `TRACE_MALFORMED`
 */
export function parseTrace(json: unknown, path = 'trace'): StateTrace {
  const fields = object(json, path);
  const type = TYPES[index(fields.type, `${path}.type`)];
  if (type === undefined) throw malformed(`${path}.type`, 'must be 0 to 4');
  const location = fields.location === '0x' ? undefined : address(fields.location, `${path}.location`);
  const key = location === undefined ? address(fields.key, `${path}.key`) : hex(fields.key, `${path}.key`, 32);
  const valueBytes = location === undefined ? ACCOUNT_VALUE_BYTES : 32;
  const kinds = Object.entries<FieldKind>(FIELDS[type]);
  const trace: Record<string, unknown> = { location, key, type };
  for (const [name, kind] of kinds) {
    const [field, at] = [fields[name], `${path}.${name}`];
    if (name === 'deletedValue' && !Object.hasOwn(fields, name)) continue;
    if (kind === 'index') trace[name] = index(field, at);
    else if (kind === 'root') trace[name] = hex(field, at, 32);
    else if (kind === 'value') trace[name] = hex(field, at, valueBytes);
    else trace[name] = kind === 'leaf' ? leaf(field, at) : proof(field, at);
  }
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(trace, name)) throw malformed(`${path}.${name}`, 'is not a field of this object');
  }
  // The fields are those of the type, by the table above.
  return trace as unknown as StateTrace;
}

/**
 * Formats a trace as JSON.
 *
 * @example
 * ```ts
 * import { formatTrace, hexToBytes, openState } from 'plumbline-l2/state';
 *
 * const state = await openState({ scheme: 'poseidon2' });
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const after = { nonce: 1n, balance: 5n };
 * const { traces } = state.applyBlockTraced(0, [{ address, after, destroyed: false, slots: [] }]);
 * traces.map((trace) => formatTrace(trace).type); // => [2]
 * ```
 */
export function formatTrace(trace: StateTrace): StateTraceJson {
  const json: Record<string, Hex | number | LeafJson | BranchProofJson> = {
    location: trace.location === undefined ? '0x' : bytesToHex(trace.location),
  };
  const fields = trace as unknown as Readonly<Record<string, unknown>>;
  for (const [name, kind] of Object.entries<FieldKind>(FIELDS[trace.type])) {
    if (fields[name] === undefined) continue;
    if (kind === 'index') json[name] = fields[name] as number;
    else if (kind === 'leaf') json[name] = formatLeaf(fields[name] as LeafOpening);
    else if (kind === 'proof') json[name] = formatProof(fields[name] as BranchProof);
    else json[name] = bytesToHex(fields[name] as Uint8Array);
  }
  json.key = bytesToHex(trace.key);
  json.type = TYPES.indexOf(trace.type);
  return json as unknown as StateTraceJson;
}

function formatLeaf({ hkey, hval, prevLeaf, nextLeaf }: LeafOpening): LeafJson {
  return { hkey: bytesToHex(hkey), hval: bytesToHex(hval), prevLeaf, nextLeaf };
}

function formatProof({ leafIndex, siblings }: BranchProof): BranchProofJson {
  return { leafIndex, siblings: siblings.map(bytesToHex) };
}

function leaf(json: unknown, path: string): LeafOpening {
  const fields = exactly(json, path, ['hkey', 'hval', 'prevLeaf', 'nextLeaf']);
  return {
    prevLeaf: index(fields.prevLeaf, `${path}.prevLeaf`, MAX_LEAVES - 1),
    nextLeaf: index(fields.nextLeaf, `${path}.nextLeaf`, MAX_LEAVES - 1),
    hkey: hex(fields.hkey, `${path}.hkey`, 32),
    hval: hex(fields.hval, `${path}.hval`, 32),
  };
}

function proof(json: unknown, path: string): BranchProof {
  const fields = exactly(json, path, ['leafIndex', 'siblings']);
  const siblings = list(fields.siblings, `${path}.siblings`);
  if (siblings.length !== TREE_DEPTH)
    throw malformed(`${path}.siblings`, `must have 40 entries, got ${siblings.length}`);
  return {
    leafIndex: index(fields.leafIndex, `${path}.leafIndex`, MAX_LEAVES - 1),
    siblings: siblings.map((sibling, level) => hex(sibling, `${path}.siblings[${level}]`, 32)),
  };
}

function address(json: unknown, path: string): Uint8Array {
  const bytes = hex(json, path, 20, 32);
  if (bytes.length === 20) return bytes;
  if (!isZeroBytes(bytes.subarray(0, 12)))
    throw malformed(path, 'must be an address: 20 bytes, or 32 bytes that start with 12 zero bytes');
  return bytes.subarray(12);
}

function exactly(json: unknown, path: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  const fields = object(json, path);
  for (const name of Object.keys(fields)) {
    if (!names.includes(name)) throw malformed(`${path}.${name}`, 'is not a field of this object');
  }
  return fields;
}

function object(json: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw malformed(path, 'must be an object');
  return json as Record<string, unknown>;
}

function list(json: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(json)) throw malformed(path, 'must be a list');
  return json;
}

function index(json: unknown, path: string, maximum = MAX_LEAVES): number {
  if (typeof json === 'number' && Number.isInteger(json) && json >= 0 && json <= maximum) return json;
  throw malformed(path, `must be an integer from 0 to ${maximum}`);
}

function hex(json: unknown, path: string, ...lengths: readonly number[]): Uint8Array {
  if (typeof json !== 'string') throw malformed(path, 'must be a hex string');
  let bytes: Uint8Array;
  try {
    bytes = hexToBytes(json);
  } catch (error) {
    if (isPlumblineError(error, 'INVALID_HEX')) throw malformed(path, error.details.reason);
    throw error;
  }
  if (!lengths.includes(bytes.length))
    throw malformed(path, `must have ${lengths.join(' or ')} bytes, got ${bytes.length}`);
  return bytes;
}

function malformed(path: string, reason: string): PlumblineError<'TRACE_MALFORMED'> {
  return new PlumblineError('TRACE_MALFORMED', `malformed trace: ${path} ${reason}`, { path, reason });
}
