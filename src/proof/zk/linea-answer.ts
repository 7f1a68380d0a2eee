import { ACCOUNT_VALUE_BYTES } from '../../accumulator/account-value.js';
import { emptySiblings } from '../../accumulator/empty-subtrees.js';
import { PROOF_NODES } from '../../accumulator/proof-shape.js';
import { schemeFormat, TREE_DEPTH } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { isZeroBytes } from '../../primitives/bytes.js';
import {
  malformed,
  member,
  readArray,
  readBytes,
  readExactObject,
  readInteger,
  readNumber256,
  readObject,
} from '../json-reader.js';

/** One branch, decoded, with lengths checked. `at` is its path in the answer. */
export interface BranchAnswer {
  readonly at: string;
  readonly value: Uint8Array;
  /** 42 preimages, from the top node down to the leaf opening (docs/spec/state-trie.md 7.3). */
  readonly nodes: readonly Uint8Array[];
}

/** A key in the tree, with the branch of its leaf. */
export interface PresentItem {
  readonly at: string;
  readonly present: true;
  readonly key: bigint;
  readonly leafIndex: number;
  readonly proof: BranchAnswer;
}

/** A key that is not in the tree, with the branches of its two neighbours. */
export interface AbsentItem {
  readonly at: string;
  readonly present: false;
  readonly key: bigint;
  readonly leftLeafIndex: number;
  readonly rightLeafIndex: number;
  readonly leftProof: BranchAnswer;
  readonly rightProof: BranchAnswer;
}

/** One item of an answer. */
export type ItemAnswer = PresentItem | AbsentItem;

/** A decoded `linea_getProof` answer, not verified yet. */
export interface LineaAnswer {
  readonly accountProof: ItemAnswer;
  /** Null is what the state manager puts in place of a proof where the account has no storage. */
  readonly storageProofs: readonly (ItemAnswer | null)[];
}

const PRESENT_FIELDS = ['key', 'leafIndex', 'proof'];
const ABSENT_FIELDS = ['key', 'leftLeafIndex', 'rightLeafIndex', 'leftProof', 'rightProof'];
const WORD = 32;

/**
 * Reads a branch with the lengths of docs/spec/state-trie.md 7.3. Most siblings are those of two empty subtrees: their text
 * is compared with the known one and not decoded, because decoding would take most of the time.
 *
 * @param valueBytes - allowed lengths of the value
 */
function readBranch(hasher: Hasher, json: unknown, at: string, valueBytes: readonly number[]): BranchAnswer {
  const { topBytes, leafBytes } = schemeFormat(hasher.scheme);
  const object = readExactObject(json, ['value', 'proofRelatedNodes'], at);
  const value = readBytes(object.value, member(at, 'value'), ...valueBytes);
  const list = member(at, 'proofRelatedNodes');
  const entries = readArray(object.proofRelatedNodes, list);
  if (entries.length !== PROOF_NODES) throw malformed(list, `has ${entries.length} entries, expected ${PROOF_NODES}`);
  const { preimages } = emptySiblings(hasher);
  const nodes = [readBytes(entries[0], `${list}[0]`, topBytes)];
  for (let i = 1; i < TREE_DEPTH; i++) {
    const known = preimages[TREE_DEPTH - i - 1]!;
    nodes.push(entries[i] === known.hex ? known.bytes : readBytes(entries[i], `${list}[${i}]`, 2 * WORD));
  }
  const sibling = readBytes(entries[40], `${list}[40]`, WORD, leafBytes);
  if (sibling.length === WORD && !isZeroBytes(sibling)) {
    throw malformed(`${list}[40]`, 'has the length of an unused position but is not zero');
  }
  nodes.push(sibling, readBytes(entries[41], `${list}[41]`, leafBytes));
  return { at, value, nodes };
}

/**
 * Reads one item of a present or an absent key, with exactly the fields of its kind.
 *
 * @param valueBytes - length of a value in bytes; a neighbour may also be head or tail, whose value has 32 bytes
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export function readItem(hasher: Hasher, json: unknown, at: string, valueBytes: number): ItemAnswer {
  const present = Object.hasOwn(readObject(json, at), 'proof');
  const object = readExactObject(json, present ? PRESENT_FIELDS : ABSENT_FIELDS, at);
  const index = (name: string) => readInteger(object[name], member(at, name));
  const branch = (name: string, lengths: readonly number[]) =>
    readBranch(hasher, object[name], member(at, name), lengths);
  const key = readNumber256(object.key, member(at, 'key'));
  if (present) return { at, present, key, leafIndex: index('leafIndex'), proof: branch('proof', [valueBytes]) };
  const neighbour = valueBytes === WORD ? [WORD] : [WORD, valueBytes];
  return {
    at,
    present,
    key,
    leftLeafIndex: index('leftLeafIndex'),
    rightLeafIndex: index('rightLeafIndex'),
    leftProof: branch('leftProof', neighbour),
    rightProof: branch('rightProof', neighbour),
  };
}

/**
 * Reads a `linea_getProof` result.
 *
 * @throws PlumblineError `PROOF_MALFORMED` for wrong types, lengths or hex, and for missing or unknown fields
 */
export function readLineaAnswer(hasher: Hasher, json: unknown): LineaAnswer {
  const object = readExactObject(json, ['accountProof', 'storageProofs'], '');
  const proofs = readArray(object.storageProofs, 'storageProofs');
  return {
    accountProof: readItem(hasher, object.accountProof, 'accountProof', ACCOUNT_VALUE_BYTES),
    storageProofs: proofs.map((item, i) =>
      item === null ? null : readItem(hasher, item, `storageProofs[${i}]`, WORD),
    ),
  };
}
