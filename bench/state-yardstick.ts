import type { HashScheme } from '../src/kernel/contracts.js';
import { loadHashKernel } from '../src/kernel/hasher.js';
import { median } from './area.js';

/** Compressions of a leaf, of an inner node and of a top node (docs/spec/hashing.md 3.3). */
export const BLOCKS = { mimc: { leaf: 4, node: 2, top: 2 }, poseidon2: { leaf: 6, node: 2, top: 3 } } as const;
export const DEPTH = 40;
/** Nodes of 64 bytes hashed at once, as a yardstick. */
const NODES = 256;

/** The n-th of a row of well spread canonical digests. */
export function digest(n: number, salt: number): Uint8Array {
  const bytes = new Uint8Array(32);
  const words = new DataView(bytes.buffer);
  for (let i = 0; i < 8; i++) {
    // The finalizer of MurmurHash3 on a counter; below 2^28 every word is canonical in both fields.
    let word = Math.imul(n * 8 + i + salt * 0x9e3779b1, 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    words.setUint32(4 * i, (word ^ (word >>> 16)) >>> 4);
  }
  return bytes;
}

export function digests(from: number, to: number, salt: number): Uint8Array[] {
  return Array.from({ length: to - from }, (_, i) => digest(from + i, salt));
}

/** Times a body in milliseconds. */
export function timed(body: () => void): number {
  const started = performance.now();
  body();
  return performance.now() - started;
}

/** Time of one compression in nanoseconds, bare: nodes in one call, and one after the other in one long input. */
export async function bareCompression(scheme: HashScheme): Promise<{ batched: () => number; single: () => number }> {
  const hasher = (await loadHashKernel({ build: 'simd' }))[scheme];
  const nodes = new Uint8Array(64 * NODES).fill(1);
  const repeats = scheme === 'mimc' ? 4 : 100;
  const per = (body: () => unknown, compressions: number) => () => {
    const rounds = Array.from({ length: 5 }, () =>
      timed(() => {
        for (let i = 0; i < repeats; i++) body();
      }),
    );
    return (median(rounds) * 1e6) / (repeats * compressions);
  };
  return {
    batched: per(() => hasher.hashMany(nodes, 64), 2 * NODES),
    single: per(() => hasher.hash(nodes.subarray(0, 64 * 45)), 90),
  };
}

/** The least compressions that written positions of one trie need, counted apart from the kernel: leaves, nodes, top. */
export function leastOf(scheme: HashScheme, written: ReadonlySet<number>): number {
  const { leaf, node, top } = BLOCKS[scheme];
  let nodes = 0;
  let level = written;
  for (let i = 0; i < DEPTH; i++) {
    level = new Set([...level].map((position) => Math.floor(position / 2)));
    nodes += level.size;
  }
  return written.size * leaf + nodes * node + top;
}
