import { emptyHashes } from '../src/accumulator/empty-subtrees.js';
import { TREE_DEPTH } from '../src/accumulator/scheme.js';
import type { Hasher, HashScheme } from '../src/kernel/contracts.js';
import { type HashKernel, loadHashKernel } from '../src/kernel/hasher.js';
import { bigIntToBytes, concatBytes } from '../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { type Area, differs, type Report } from './area.js';

/** The names the hashing fixtures give the two hash functions. */
export type HashName = 'mimc-bls12377' | 'poseidon2-koalabear';

export const SCHEMES: Record<HashName, HashScheme> = { 'mimc-bls12377': 'mimc', 'poseidon2-koalabear': 'poseidon2' };

const PATH = 'hashing/trees.json';

interface Ladder {
  level: number;
  node: string;
}

/** A root, or the siblings of index 37, of the tree that `what` describes. */
interface Described {
  hash: HashName;
  what: string;
  root?: string;
  siblings?: string[];
}

interface TreesFile {
  mimcEmptySubtrees?: Ladder[];
  poseidon2EmptySubtrees?: Ladder[];
  published?: Described[];
  generated: Described[];
  randomSparse?: {
    hash: HashName;
    steps: { index: number; value: string; root: string }[];
    proof: { index: number; siblings: string[] };
  }[];
}

/** A tree of bare leaf digests over a hasher. Nodes of empty subtrees are not held. */
class SparseTree {
  readonly #levels: Map<number, Uint8Array>[] = Array.from({ length: TREE_DEPTH + 1 }, () => new Map());

  constructor(private readonly hasher: Hasher) {}

  #node(level: number, index: number): Uint8Array {
    return this.#levels[level]!.get(index) ?? emptyHashes(this.hasher)[level]!;
  }

  set(index: number, leaf: Uint8Array): void {
    this.#levels[0]!.set(index, leaf);
    for (let level = 1; level <= TREE_DEPTH; level++) {
      index = Math.floor(index / 2);
      const children = concatBytes(this.#node(level - 1, 2 * index), this.#node(level - 1, 2 * index + 1));
      this.#levels[level]!.set(index, this.hasher.hash(children));
    }
  }

  get root(): string {
    return bytesToHex(this.#node(TREE_DEPTH, 0));
  }

  siblings(index: number): string[] {
    return Array.from({ length: TREE_DEPTH }, (_, level) => {
      const own = Math.floor(index / 2 ** level);
      return bytesToHex(this.#node(level, own % 2 === 0 ? own + 1 : own - 1));
    });
  }
}

function leavesOf(what: string): number[] {
  if (what.includes('empty')) return [];
  if (what.startsWith('leaf 0 = 0x00..01')) return [1];
  if (what.includes('1023') || what.includes('1024-leaf')) return Array.from({ length: 1024 }, (_, i) => i % 256);
  throw new Error(`no such tree is known here: ${what}`);
}

/** Trees of depth 40 over the bare hash: ladders of empty subtrees, published roots and siblings, random sparse trees. */
export const treesArea: Area = {
  name: 'hashing/trees',
  usesKernel: true,
  files: (material) => material.both(PATH),
  async run(material, report) {
    const kernel = await loadHashKernel({ build: material.build });
    for (const path of this.files(material)) await checkTrees(kernel, material.json(path), report);
  },
};

async function checkTrees(kernel: HashKernel, file: TreesFile, report: Report): Promise<void> {
  for (const scheme of ['mimc', 'poseidon2'] as const) {
    for (const { level, node } of file[`${scheme}EmptySubtrees`] ?? []) {
      const actual = emptyHashes(kernel[scheme])[level];
      await report.check(`${scheme}, empty subtree of level ${level}`, () =>
        differs(node, actual === undefined ? undefined : bytesToHex(actual)),
      );
    }
  }
  for (const { hash, what, root, siblings } of [...(file.published ?? []), ...file.generated]) {
    await report.check(`${hash}, ${what}`, () => {
      const tree = new SparseTree(kernel[SCHEMES[hash]]);
      for (const [index, value] of leavesOf(what).entries()) tree.set(index, bigIntToBytes(BigInt(value), 32));
      return root === undefined ? differs(siblings, tree.siblings(37)) : differs(root, tree.root);
    });
  }
  for (const [i, { hash, steps, proof }] of (file.randomSparse ?? []).entries()) {
    const tree = new SparseTree(kernel[SCHEMES[hash]]);
    for (const { index, value, root } of steps) {
      await report.check(`sparse tree ${i}, write at ${index}`, () => {
        tree.set(index, hexToBytes(value, 32));
        return differs(root, tree.root);
      });
    }
    await report.check(`sparse tree ${i}, proof of ${proof.index}`, () =>
      differs(proof.siblings, tree.siblings(proof.index)),
    );
  }
}
