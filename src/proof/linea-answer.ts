import { ACCOUNT_VALUE_BYTES } from '../accumulator/account-value.js';
import { PROOF_NODES } from '../accumulator/proof-shape.js';
import { schemeFormat } from '../accumulator/scheme.js';
import type { HashScheme } from '../kernel/contracts.js';
import { isZeroBytes } from '../primitives/bytes.js';
import {
  malformed,
  member,
  readArray,
  readBytes,
  readExactObject,
  readInteger,
  readNumber256,
  readObject,
} from './json-reader.js';

/** One branch: the bytes of its wire form, lengths checked. `at` is its place in the answer. */
export interface BranchAnswer {
  readonly at: string;
  readonly value: Uint8Array;
  /** 42 preimages, from the top node down to the leaf opening (spec/state-trie.md 7.3). */
  readonly nodes: readonly Uint8Array[];
}

export interface PresentItem {
  readonly at: string;
  readonly present: true;
  readonly key: bigint;
  readonly leafIndex: number;
  readonly proof: BranchAnswer;
}

export interface AbsentItem {
  readonly at: string;
  readonly present: false;
  readonly key: bigint;
  readonly leftLeafIndex: number;
  readonly rightLeafIndex: number;
  readonly leftProof: BranchAnswer;
  readonly rightProof: BranchAnswer;
}

export type ItemAnswer = PresentItem | AbsentItem;

export interface LineaAnswer {
  readonly accountProof: ItemAnswer;
  readonly storageProofs: readonly ItemAnswer[];
}

const PRESENT_FIELDS = ['key', 'leafIndex', 'proof'];
const ABSENT_FIELDS = ['key', 'leftLeafIndex', 'rightLeafIndex', 'leftProof', 'rightProof'];
const WORD = 32;

/**
 * A branch, by the lengths of spec/state-trie.md 7.3.
 *
 * @param valueBytes - lengths the value may have
 */
function readBranch(scheme: HashScheme, json: unknown, at: string, valueBytes: readonly number[]): BranchAnswer {
  const { topBytes, leafBytes } = schemeFormat(scheme);
  const object = readExactObject(json, ['value', 'proofRelatedNodes'], at);
  const value = readBytes(object.value, member(at, 'value'), ...valueBytes);
  const list = member(at, 'proofRelatedNodes');
  const entries = readArray(object.proofRelatedNodes, list);
  if (entries.length !== PROOF_NODES) throw malformed(list, `has ${entries.length} entries, expected ${PROOF_NODES}`);
  const lengths = (i: number) =>
    i === 0 ? [topBytes] : i < 40 ? [2 * WORD] : i === 40 ? [WORD, leafBytes] : [leafBytes];
  const nodes = entries.map((entry, i) => readBytes(entry, `${list}[${i}]`, ...lengths(i)));
  const sibling = nodes[40]!;
  if (sibling.length === WORD && !isZeroBytes(sibling)) {
    throw malformed(`${list}[40]`, 'has the length of an unused position and is not zero');
  }
  return { at, value, nodes };
}

/**
 * One item, in the present or the absent shape and with exactly its fields.
 *
 * @param valueBytes - length of a value; a neighbour may also be head or tail, whose value has 32 bytes
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export function readItem(scheme: HashScheme, json: unknown, at: string, valueBytes: number): ItemAnswer {
  const present = Object.hasOwn(readObject(json, at), 'proof');
  const object = readExactObject(json, present ? PRESENT_FIELDS : ABSENT_FIELDS, at);
  const index = (name: string) => readInteger(object[name], member(at, name));
  const branch = (name: string, lengths: readonly number[]) =>
    readBranch(scheme, object[name], member(at, name), lengths);
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
 * A whole `linea_getProof` result.
 *
 * @throws PlumblineError `PROOF_MALFORMED` for wrong types, lengths, hex, shapes, missing or foreign fields
 */
export function readLineaAnswer(scheme: HashScheme, json: unknown): LineaAnswer {
  const object = readExactObject(json, ['accountProof', 'storageProofs'], '');
  const proofs = readArray(object.storageProofs, 'storageProofs');
  return {
    accountProof: readItem(scheme, object.accountProof, 'accountProof', ACCOUNT_VALUE_BYTES),
    storageProofs: proofs.map((item, i) => readItem(scheme, item, `storageProofs[${i}]`, WORD)),
  };
}
