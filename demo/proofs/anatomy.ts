import type { Hasher, Hex, MerkleProofJson, ProofItemJson } from 'plumbline-l2/verify';
import { bytesToHex, hexToBytes } from 'plumbline-l2/verify';

/** Levels between the leaves and the sub root of a tree. */
const DEPTH = 40;

/** One step down the path: from the node at `level + 1` to the one at `level`, and what stands beside that. */
export interface Step {
  readonly level: number;
  readonly hash: Hex;
  /** The path goes on as the right child. */
  readonly right: boolean;
  readonly sibling: Hex;
  /** The sibling is the root of a subtree in which no leaf is used. */
  readonly empty: boolean;
}

/** What a leaf says. */
export interface Leaf {
  readonly prev: number;
  readonly next: number;
  readonly hkey: Hex;
  readonly hval: Hex;
}

/** A branch as it can be drawn: hashed here, from the leaf up. */
export interface Branch {
  /** Place in the answer, such as `accountProof.proof`. */
  readonly at: string;
  readonly index: number;
  readonly leaf: Leaf;
  readonly leafHash: Hex;
  /** From the top down, 40 of them; the last leads to the leaf. */
  readonly steps: readonly Step[];
  /** What leaf and siblings hash to, and what the top node names. */
  readonly climbed: Hex;
  readonly subRoot: Hex;
  readonly nextFree: number;
  readonly topHash: Hex;
}

interface Format {
  readonly indexBytes: number;
  readonly leafBytes: number;
}

/** Widths of an encoded position and of a leaf (docs/spec/state-trie.md 1). */
const FORMATS: Readonly<Record<Hasher['scheme'], Format>> = {
  mimc: { indexBytes: 32, leafBytes: 128 },
  poseidon2: { indexBytes: 64, leafBytes: 192 },
};

/** An encoded position: for poseidon2 each word of 4 bytes holds 16 bits. */
function position(scheme: Hasher['scheme'], bytes: Uint8Array): number {
  let value = 0;
  for (const [i, byte] of bytes.entries()) {
    if (scheme === 'mimc' || i % 4 > 1) value = value * 256 + byte;
  }
  return value;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

/** Hashes of empty subtrees by level, from the unused leaf, which counts as 32 zero bytes. */
function emptyHashes(hasher: Hasher): Uint8Array[] {
  const hashes: Uint8Array[] = [new Uint8Array(32)];
  for (let level = 1; level < DEPTH; level++) {
    const below = hashes[level - 1]!;
    hashes.push(hasher.hash(concat(below, below)));
  }
  return hashes;
}

/** The bit of a position that says on which side of its parent the node at `level` stands. */
function isRight(index: number, level: number): boolean {
  return Math.floor(index / 2 ** level) % 2 === 1;
}

/**
 * Takes a branch apart and hashes its way up. Nothing is judged: that is the verifier's part.
 *
 * @throws PlumblineError for words that are not canonical and for lengths that cannot be hashed
 */
function readBranch(hasher: Hasher, at: string, index: number, { proofRelatedNodes }: MerkleProofJson): Branch {
  const { indexBytes, leafBytes } = FORMATS[hasher.scheme];
  const nodes = proofRelatedNodes.map((node) => hexToBytes(node));
  const top = nodes[0]!;
  const opening = nodes[41]!;
  const empty = emptyHashes(hasher);
  const leafHash = hasher.hash(opening);
  const steps: Step[] = [];
  let hash = leafHash;
  for (let level = 0; level < DEPTH; level++) {
    const entry = nodes[DEPTH - level]!;
    // An unused leaf stands there as 32 zero bytes; everything else as what it is the hash of.
    const sibling = level === 0 && entry.length !== leafBytes ? entry : hasher.hash(entry);
    const right = isRight(index, level);
    const isEmpty = bytesToHex(sibling) === bytesToHex(empty[level]!);
    steps.unshift({ level, hash: bytesToHex(hash), right, sibling: bytesToHex(sibling), empty: isEmpty });
    hash = hasher.hash(right ? concat(sibling, hash) : concat(hash, sibling));
  }
  const word = (from: number) => bytesToHex(opening.subarray(from, from + 32));
  return {
    at,
    index,
    leaf: {
      prev: position(hasher.scheme, opening.subarray(0, indexBytes)),
      next: position(hasher.scheme, opening.subarray(indexBytes, 2 * indexBytes)),
      hkey: word(2 * indexBytes),
      hval: word(2 * indexBytes + 32),
    },
    leafHash: bytesToHex(leafHash),
    steps,
    climbed: bytesToHex(hash),
    subRoot: bytesToHex(top.subarray(indexBytes)),
    nextFree: position(hasher.scheme, top.subarray(0, indexBytes)),
    topHash: bytesToHex(hasher.hash(top)),
  };
}

/** An item of an answer as it can be drawn: one branch to the key's leaf, or one to each neighbour of a key that is absent. */
export interface Anatomy {
  readonly at: string;
  readonly key: Hex;
  readonly branches: readonly Branch[];
}

/** @throws PlumblineError as `readBranch` does */
export function anatomy(hasher: Hasher, at: string, item: ProofItemJson): Anatomy {
  const branches =
    'proof' in item
      ? [readBranch(hasher, `${at}.proof`, item.leafIndex, item.proof)]
      : [
          readBranch(hasher, `${at}.leftProof`, item.leftLeafIndex, item.leftProof),
          readBranch(hasher, `${at}.rightProof`, item.rightLeafIndex, item.rightProof),
        ];
  return { at, key: item.key, branches };
}
