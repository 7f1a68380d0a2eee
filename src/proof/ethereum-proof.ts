/**
 * Verdicts on `eth_getProof`: an account of a state root and slots of the account, or that they are absent. A proof is the nodes of
 * a Merkle-Patricia trie on the path of a key, from the root down.
 */

import { RLP } from '@ethereumjs/rlp';
import { PlumblineError } from '../errors.js';
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../ethereum/constants.js';
import { nibblesOf } from '../ethereum/ordered-trie.js';
import { keccak256 } from '../kernel/keccak.js';
import {
  bytesToBigInt,
  bytesToKey,
  copyBytes,
  equalBytes,
  isZeroBytes,
  padStart,
  requireLength,
} from '../primitives/bytes.js';
import { member, readArray, readBytes, readBytesList, readNumber256, readObject } from './json-reader.js';
import { checkRequest, judge, type ProofFailure, type ProofRequest, Refusal } from './verdict.js';

/** An account in Ethereum's state trie. Hashes have 32 bytes. */
export interface EthereumAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly storageRoot: Uint8Array;
  readonly codeHash: Uint8Array;
}

/** Why an `eth_getProof` answer is refused. */
export type EthereumProofFailureReason =
  | PatriciaFailureReason
  /** The value in the trie is not an account, or not a slot value. */
  | 'VALUE_INVALID'
  /** A field of the answer differs from what its proof proves. */
  | 'VALUE_MISMATCH'
  /** The answer or a storage proof is for another key, or the proof of a requested key is missing. */
  | 'KEY_MISMATCH'
  /** The number of storage proofs is neither the number of requested slots nor the number of distinct ones. */
  | 'SLOT_COUNT_MISMATCH';

/** What an `eth_getProof` answer proves. */
export interface VerifiedEthereumProof {
  readonly verified: true;
  /** Undefined: no such account in this state. */
  readonly account: EthereumAccount | undefined;
  /** One for each requested key, in order. Values have 32 bytes. `exists` is false if the value is zero. */
  readonly slots: readonly { readonly key: Uint8Array; readonly value: Uint8Array; readonly exists: boolean }[];
}

/** What an `eth_getProof` answer proves, or why it is refused. */
export type EthereumProofVerdict = VerifiedEthereumProof | ProofFailure<EthereumProofFailureReason>;

/** An `eth_getProof` result with its hex decoded. Redundant members may be left out. */
interface EthereumAnswer {
  readonly address: bigint | undefined;
  readonly nonce: bigint | undefined;
  readonly balance: bigint | undefined;
  readonly codeHash: Uint8Array | undefined;
  readonly storageHash: Uint8Array | undefined;
  readonly accountProof: readonly Uint8Array[];
  readonly storageProof: readonly {
    readonly key: bigint;
    readonly value: bigint;
    readonly proof: readonly Uint8Array[];
  }[];
}

function readAnswer(json: unknown): EthereumAnswer {
  const object = readObject(json, '');
  const number = (name: string) => (object[name] === undefined ? undefined : readNumber256(object[name], name));
  const hash = (name: string) => (object[name] === undefined ? undefined : readBytes(object[name], name, 32));
  return {
    address: number('address'),
    nonce: number('nonce'),
    balance: number('balance'),
    codeHash: hash('codeHash'),
    storageHash: hash('storageHash'),
    accountProof: readBytesList(object.accountProof, 'accountProof'),
    storageProof: readArray(object.storageProof, 'storageProof').map((item, i) => {
      const at = `storageProof[${i}]`;
      const slot = readObject(item, at);
      return {
        key: readNumber256(slot.key, member(at, 'key')),
        value: readNumber256(slot.value, member(at, 'value')),
        // Go encodes an empty list as null.
        proof: slot.proof === null ? [] : readBytesList(slot.proof, member(at, 'proof')),
      };
    }),
  };
}

/** Decodes an RLP integer: big-endian, no leading zero, at most `limit` bytes. Undefined if it is not one. */
function readMinimal(bytes: unknown, limit: number): bigint | undefined {
  if (!(bytes instanceof Uint8Array) || bytes.length > limit || bytes[0] === 0) return undefined;
  return bytesToBigInt(bytes);
}

function decodeRlp(bytes: Uint8Array): unknown {
  try {
    return RLP.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Decodes an account in the trie: `[nonce, balance, storageRoot, codeHash]`. */
function decodeAccount(bytes: Uint8Array): EthereumAccount {
  const fields = decodeRlp(bytes);
  if (Array.isArray(fields) && fields.length === 4) {
    const [nonce, balance] = [readMinimal(fields[0], 8), readMinimal(fields[1], 32)];
    const [storageRoot, codeHash]: unknown[] = [fields[2], fields[3]];
    const isHash = (field: unknown): field is Uint8Array => field instanceof Uint8Array && field.length === 32;
    if (nonce !== undefined && balance !== undefined && isHash(storageRoot) && isHash(codeHash)) {
      return { nonce, balance, storageRoot, codeHash };
    }
  }
  throw new Refusal('VALUE_INVALID', 'accountProof', 'the value in the trie is not an account');
}

/**
 * Verifies an answer of `eth_getProof` against a trusted state root: the account and all requested slots, present or absent.
 *
 * Slots are matched by key: Besu sorts them by key and returns a repeated key once. For a missing account, whose slots are all
 * empty, it returns no storage proofs.
 *
 * @param answer - the `result` of the JSON-RPC response. `accountProof` and `storageProof` are required. Redundant members are
 *   compared if they are present
 * @throws PlumblineError `PROOF_MALFORMED` if the answer does not have the form of a proof, `INVALID_LENGTH` for a bad request
 * @source EIP-1186; yellow paper, appendix D; hyperledger/besu@01884ba ethereum/core, WorldStateProofProvider;
 *   hyperledger/besu@0ae725c ethereum/api, GetProofResult
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { hexToBytes, verifyEthereumProof } from 'plumbline-l2/verify';
 *
 * const node = await createInlineNode();
 * const block = (await node.request({ method: 'eth_getBlockByNumber', params: ['0x0', false] }))!;
 * const address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
 * const answer = await node.request({ method: 'eth_getProof', params: [address, [], '0x0'] });
 * const request = { address: hexToBytes(address), storageKeys: [], stateRoot: hexToBytes(block.stateRoot) };
 * const verdict = verifyEthereumProof(request, answer);
 * verdict.verified && verdict.account?.balance; // => 10_000n * 10n ** 18n
 * await node.close();
 * ```
 */
export function verifyEthereumProof(request: ProofRequest, answer: unknown): EthereumProofVerdict {
  const { address, storageKeys, stateRoot } = request;
  checkRequest(request);
  const parsed = readAnswer(answer);
  return judge(() => {
    if (parsed.address !== undefined && parsed.address !== bytesToBigInt(address)) {
      throw new Refusal('KEY_MISMATCH', 'address', 'is not the requested address');
    }
    const value = walkPatriciaProof(stateRoot, keccak256(address), parsed.accountProof, 'accountProof');
    const account = value && decodeAccount(value);
    checkClaims(account, parsed);
    const slots =
      account === undefined && parsed.storageProof.length === 0
        ? storageKeys.map((key) => ({ key: copyBytes(key), value: new Uint8Array(32), exists: false }))
        : checkSlots(account?.storageRoot ?? EMPTY_TRIE_ROOT, storageKeys, parsed.storageProof);
    return { verified: true, account, slots };
  });
}

/** Compares the redundant members. For a missing account, nodes return zero hashes or the hashes of empty code and storage. */
function checkClaims(account: EthereumAccount | undefined, claims: EthereumAnswer): void {
  const number = (name: 'nonce' | 'balance', proven: bigint) => claims[name] === undefined || claims[name] === proven;
  const hash = (name: 'codeHash' | 'storageHash', proven: Uint8Array | undefined, empty: Uint8Array) => {
    const claim = claims[name];
    return claim === undefined || equalBytes(claim, proven ?? empty) || (proven === undefined && isZeroBytes(claim));
  };
  const holds = {
    nonce: number('nonce', account?.nonce ?? 0n),
    balance: number('balance', account?.balance ?? 0n),
    codeHash: hash('codeHash', account?.codeHash, EMPTY_CODE_HASH),
    storageHash: hash('storageHash', account?.storageRoot, EMPTY_TRIE_ROOT),
  };
  for (const [name, fine] of Object.entries(holds)) {
    if (!fine) throw new Refusal('VALUE_MISMATCH', name, 'differs from what the account proof proves');
  }
}

type SlotEntry = EthereumAnswer['storageProof'][number];

/** Returns a slot for each key, in the order of the keys. Each entry must be of a requested key and be valid. */
function checkSlots(root: Uint8Array, keys: readonly Uint8Array[], entries: readonly SlotEntry[]) {
  const asked = new Map(keys.map((key) => [bytesToBigInt(key), key]));
  if (entries.length !== keys.length && entries.length !== asked.size) {
    throw new Refusal(
      'SLOT_COUNT_MISMATCH',
      'storageProof',
      `${entries.length} storage proofs, expected ${keys.length}`,
    );
  }
  const proved = new Map(
    entries.map((entry, i) => {
      const at = `storageProof[${i}]`;
      const key = asked.get(entry.key);
      if (key === undefined) throw new Refusal('KEY_MISMATCH', `${at}.key`, 'is not a requested slot');
      return [entry.key, checkSlot(root, key, entry, at)] as const;
    }),
  );
  return keys.map((key, i) => {
    const slot = proved.get(bytesToBigInt(key));
    if (slot !== undefined) return slot;
    throw new Refusal('KEY_MISMATCH', `storageProof[${i}].key`, 'is another slot; the requested one is missing');
  });
}

function checkSlot(root: Uint8Array, key: Uint8Array, slot: SlotEntry, at: string) {
  const encoded = walkPatriciaProof(root, keccak256(key), slot.proof, `${at}.proof`);
  const word = encoded === undefined ? new Uint8Array(0) : decodeRlp(encoded);
  const value = readMinimal(word, 32);
  // Some nodes keep a leaf of value zero (anvil 1.7.1, of slots that were read or cleared). Under such a root, zero is what is proved.
  if (value === undefined) {
    throw new Refusal('VALUE_INVALID', `${at}.proof`, 'the value in the trie is not a slot value');
  }
  if (value !== slot.value) throw new Refusal('VALUE_MISMATCH', `${at}.value`, 'differs from what the proof proves');
  return { key: copyBytes(key), value: padStart(word as Uint8Array, 32), exists: value !== 0n };
}

/** One `eth_getProof` request of a batch. */
export interface AccountRequest {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each, in the order of the request. */
  readonly storageKeys: readonly Uint8Array[];
}

/** A proved account, with proved slots. */
interface ProvedAccount {
  /** Undefined: no such account in this state. */
  readonly account: EthereumAccount | undefined;
  /** Values of the requested slots, 32 bytes each, by `bytesToKey` of the slot; zero for an empty slot. */
  readonly slots: ReadonlyMap<string, Uint8Array>;
}

/** Accounts and slots that were proved. */
interface VerifiedAccounts {
  readonly verified: true;
  /** By `bytesToKey` of the address. */
  readonly accounts: ReadonlyMap<string, ProvedAccount>;
}

/** Why a batch of proofs is refused. */
interface AccountsFailure extends ProofFailure<EthereumProofFailureReason> {
  /** Index of the refused answer; `at` is a path inside it. */
  readonly index: number;
  /** Its account, 20 bytes. */
  readonly address: Uint8Array;
}

/** What a batch of proofs proves, or why it is refused. */
type AccountsVerdict = VerifiedAccounts | AccountsFailure;

/**
 * Verifies a batch of `eth_getProof` answers against one state root. An account may be requested more than once, with different
 * slots. The first wrong answer decides the verdict.
 *
 * @param stateRoot - root of the header, 32 bytes
 * @param answers - one per request, in order
 * @throws PlumblineError `PROOF_MALFORMED`; `INVALID_LENGTH`, also for a wrong number of answers
 * @source EIP-1186
 */
export function verifyAccounts(
  stateRoot: Uint8Array,
  requests: readonly AccountRequest[],
  answers: readonly unknown[],
): AccountsVerdict {
  requireCount(requests.length, answers.length);
  const accounts = new Map<string, { account: EthereumAccount | undefined; slots: Map<string, Uint8Array> }>();
  for (const [index, { address, storageKeys }] of requests.entries()) {
    const verdict = verifyEthereumProof({ address, storageKeys, stateRoot }, answers[index]);
    if (!verdict.verified) return { ...verdict, index, address };
    const key = bytesToKey(address);
    const proved = accounts.get(key) ?? { account: verdict.account, slots: new Map() };
    for (const slot of verdict.slots) proved.slots.set(bytesToKey(slot.key), slot.value);
    accounts.set(key, proved);
  }
  return { verified: true, accounts };
}

function requireCount(expected: number, actual: number): void {
  if (expected === actual) return;
  const message = `${actual} answers for ${expected} requests`;
  throw new PlumblineError('INVALID_LENGTH', message, { what: 'answers', expected: String(expected), actual });
}

/** Code with the expected hash, or why it is refused. */
type CodeVerdict =
  | { readonly verified: true; readonly code: Uint8Array }
  /** The code does not have the hash that the account names. */
  | ProofFailure<'CODE_HASH_MISMATCH'>;

/** Whether the code hash is that of an account without code. @param codeHash - 32 bytes */
export function hasNoCode(codeHash: Uint8Array): boolean {
  return equalBytes(codeHash, EMPTY_CODE_HASH);
}

/**
 * Verifies byte code by its hash.
 *
 * @param codeHash - of a verified account, 32 bytes
 * @param answer - `result` of `eth_getCode`
 * @throws PlumblineError `PROOF_MALFORMED`, `INVALID_LENGTH`
 */
export function verifyCode(codeHash: Uint8Array, answer: unknown): CodeVerdict {
  requireLength('code hash', codeHash, 32);
  const code = readBytes(answer, 'the answer');
  return judge(() => {
    if (!equalBytes(keccak256(code), codeHash)) {
      throw new Refusal('CODE_HASH_MISMATCH', '', 'the code does not have the hash of the account');
    }
    return { verified: true, code };
  });
}

/** Why a Merkle-Patricia proof is wrong. */
export type PatriciaFailureReason =
  /** A node does not have the hash in its parent, or the root hash. */
  | 'NODE_HASH_MISMATCH'
  /** The list of nodes ends before the path does. */
  | 'NODE_MISSING'
  /** There are nodes after the end of the path. */
  | 'NODE_UNUSED'
  /** A node has the right hash but is not valid in such a trie. */
  | 'NODE_INVALID';

/** A decoded RLP item: bytes, or a list of items. */
type RlpItem = Uint8Array | RlpItem[];

const BRANCH_ITEMS = 17;

/**
 * Follows a key of 32 bytes through a Merkle-Patricia trie in which all keys have that length, as in Ethereum's state and
 * storage tries. A node that is not valid at its position is refused even if its hash is right.
 *
 * It replaces `verifyMerkleProof` of `@ethereumjs/mpt` 10.1.3, which bundles to 32 KB gzip (this function with RLP and keccak:
 * 5 KB), accepts surplus nodes, and has one message for all failures.
 *
 * @param root - 32 bytes
 * @param key - hash of the address or slot, 32 bytes
 * @param proof - RLP of the nodes from the root down; empty for an empty trie. Embedded nodes may be listed too
 * @returns the bytes of the value, or undefined if the proof proves its absence. Throws a `Refusal` otherwise
 */
export function walkPatriciaProof(
  root: Uint8Array,
  key: Uint8Array,
  proof: readonly Uint8Array[],
  at: string,
): Uint8Array | undefined {
  if (proof.length === 0 && equalBytes(root, EMPTY_TRIE_ROOT)) return undefined;
  const path = nibblesOf(key);
  let used = 0;
  let depth = 0;
  let node = fetch(root);

  /** The next node of the list, which must have this hash. */
  function fetch(hash: Uint8Array): RlpItem {
    const place = `${at}[${used}]`;
    const bytes = proof[used];
    if (bytes === undefined) throw new Refusal('NODE_MISSING', at, `ends after ${used} nodes, but the path goes on`);
    if (!equalBytes(keccak256(bytes), hash))
      throw new Refusal('NODE_HASH_MISMATCH', place, 'does not have the hash in its parent');
    if (used > 0 && bytes.length < 32)
      throw invalid(place, 'is shorter than 32 bytes and must be embedded in its parent');
    used++;
    try {
      return RLP.decode(bytes) as RlpItem;
    } catch {
      throw invalid(place, 'is not RLP');
    }
  }

  /**
   * The child of a node: by hash, or embedded if it is shorter than a hash. The list may repeat an embedded node, as those of
   * anvil and @ethereumjs do.
   */
  function follow(reference: RlpItem, place: string): RlpItem {
    if (!Array.isArray(reference)) {
      if (reference.length !== 32) throw invalid(place, 'refers to a child by something that is not a hash');
      return fetch(reference);
    }
    const encoded = RLP.encode(reference);
    if (encoded.length >= 32) throw invalid(place, 'embeds a child of 32 bytes or more');
    const next = proof[used];
    if (next !== undefined && equalBytes(next, encoded)) used++;
    return reference;
  }

  function end(value: Uint8Array | undefined): Uint8Array | undefined {
    if (used !== proof.length) throw new Refusal('NODE_UNUSED', `${at}[${used}]`, 'comes after the end of the path');
    return value;
  }

  for (;;) {
    const place = `${at}[${used - 1}]`;
    if (!Array.isArray(node)) {
      // The empty trie as a node: RLP of the empty string, whose hash is the root.
      if (equalBytes(root, EMPTY_TRIE_ROOT)) return end(undefined);
      throw invalid(place, 'is not a list');
    }
    if (node.length === BRANCH_ITEMS) {
      const [child, own] = [node[path[depth] ?? 16]!, node[16]!];
      if (depth === path.length || own.length !== 0) throw invalid(place, 'ends a key that is too short');
      depth++;
      if (child.length === 0) return end(undefined);
      node = follow(child, place);
      continue;
    }
    const { isLeaf, nibbles, content } = readShortNode(node, place);
    const rest = path.subarray(depth);
    if (isLeaf ? nibbles.length !== rest.length : nibbles.length === 0 || nibbles.length >= rest.length) {
      throw invalid(place, 'has a path of the wrong length');
    }
    const shared = equalBytes(nibbles, rest.subarray(0, nibbles.length));
    if (!shared) return end(undefined);
    if (isLeaf) {
      if (Array.isArray(content) || content.length === 0) throw invalid(place, 'has no value');
      return end(content);
    }
    depth += nibbles.length;
    node = follow(content, place);
  }
}

/** Reads a leaf or extension: two items, the first a path in compact form (a flag nibble, then the path). */
function readShortNode(node: readonly RlpItem[], place: string) {
  const [compact, content] = node;
  if (node.length !== 2 || !(compact instanceof Uint8Array) || compact.length === 0 || content === undefined) {
    throw invalid(place, 'is neither branch, extension nor leaf');
  }
  const halves = nibblesOf(compact);
  const flag = halves[0]!;
  const odd = flag % 2 === 1;
  if (flag > 3 || (!odd && halves[1] !== 0)) throw invalid(place, 'has a path that is not in compact form');
  return { isLeaf: flag >= 2, nibbles: halves.subarray(odd ? 1 : 2), content };
}

function invalid(place: string, message: string): Refusal<PatriciaFailureReason> {
  return new Refusal('NODE_INVALID', place, message);
}
