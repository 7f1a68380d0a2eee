import { RLP } from '@ethereumjs/rlp';
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../ethereum/constants.js';
import { keccak256 } from '../../kernel/keccak.js';
import { bytesToBigInt, copyBytes, equalBytes, isZeroBytes, padStart } from '../../primitives/bytes.js';
import { member, readArray, readBytes, readBytesList, readNumber256, readObject } from '../json-reader.js';
import { checkRequest, type ProofRequest } from '../request.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import { type PatriciaFailureReason, walkPatriciaProof } from './patricia-walk.js';

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
  /** The number of storage proofs is neither that of the requested slots nor that of the distinct ones. */
  | 'SLOT_COUNT_MISMATCH';

/** What an `eth_getProof` answer proves. */
export interface VerifiedEthereumProof {
  readonly verified: true;
  /** Undefined: no such account in this state. */
  readonly account: EthereumAccount | undefined;
  /** One per requested key, in order. Values have 32 bytes. `exists` is false for zero. */
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
 * @param answer - the `result` of the JSON-RPC response. `accountProof` and `storageProof` are required; redundant members are
 *   compared if present
 * @throws PlumblineError `PROOF_MALFORMED` if the answer does not have the form of a proof, `INVALID_LENGTH` for a bad request
 * @source EIP-1186; yellow paper, appendix D; hyperledger/besu@01884ba ethereum/core, WorldStateProofProvider;
 *   hyperledger/besu@0ae725c ethereum/api, GetProofResult
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
