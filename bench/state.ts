import { keccak_256 } from '@noble/hashes/sha3.js';
import type { HashScheme } from '../src/kernel/contracts.js';
import { loadHashKernel } from '../src/kernel/hasher.js';
import { loadTrieKernel, type TrieKernel } from '../src/kernel/trie.js';
import { alternate, type BenchArea, type Figure, median } from './area.js';
import { worldStateFigures } from './state-world.js';
import { BLOCKS, bareCompression, DEPTH, digest, digests, leastOf, timed } from './state-yardstick.js';

/** Inserts keys, and gives every position that is written by that. */
function insertCounting(kernel: TrieKernel, trie: number, keys: readonly Uint8Array[]): Set<number> {
  const written = new Set<number>();
  for (const hkey of keys) {
    const found = kernel.find(trie, hkey);
    if (!found.present) written.add(found.left).add(found.right);
    const done = kernel.put(trie, hkey, hkey);
    if (done.effect !== 'none') written.add(done.position);
  }
  return written;
}

/** Batches inserted into a trie again and again, each time undone: what they cost next to bare compressions. */
async function insertion(scheme: HashScheme, held: number, batch: number, rounds: number) {
  const kernel = await loadTrieKernel(scheme, { undo: true });
  const bare = await bareCompression(scheme);
  const trie = kernel.createTrie();
  for (const hkey of digests(0, held, 1)) kernel.put(trie, hkey, hkey);
  kernel.commit();
  kernel.takeUndo();
  const keys = digests(held, held + batch, 1);
  const least = leastOf(scheme, insertCounting(kernel, trie, keys));
  const before = kernel.statistics();
  kernel.commit();
  const after = kernel.statistics();
  const times: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    kernel.undo(kernel.takeUndo());
    kernel.commit();
    kernel.takeUndo();
    const ms = timed(() => {
      for (const hkey of keys) kernel.put(trie, hkey, hkey);
      kernel.commit();
    });
    times.push(ms);
    ratios.push((ms * 1e6) / (least * bare.batched()));
  }
  return {
    least,
    done: after.compressions - before.compressions,
    idle: after.idleCompressions - before.idleCompressions,
    ms: median(times),
    ratio: median(ratios),
  };
}

/** Updates with a root each in a trie of `held` leaves, next to the same compressions one after the other. */
async function singleUpdates(scheme: HashScheme, held: number, updates: number) {
  const kernel = await loadTrieKernel(scheme, { undo: true });
  const bare = await bareCompression(scheme);
  const trie = kernel.createTrie();
  const keys = digests(0, held, 1);
  for (const hkey of keys) kernel.put(trie, hkey, hkey);
  kernel.commit();
  kernel.takeUndo();
  const { leaf, node, top } = BLOCKS[scheme];
  const times: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < (scheme === 'mimc' ? 5 : 15); round++) {
    const ms = timed(() => {
      for (let i = 0; i < updates; i++) {
        kernel.put(trie, keys[(i * 7919 + round * 104_729) % held]!, digest(i, 99 + round));
        kernel.commit();
        kernel.topRoot(trie);
      }
    });
    kernel.takeUndo();
    times.push((ms * 1e6) / updates);
    ratios.push(times.at(-1)! / ((leaf + DEPTH * node + top) * bare.single()));
  }
  return { ratio: median(ratios), ns: median(times) };
}

/** Gathering the two branches of an account and a slot, next to 100 compressions. */
async function proofs() {
  const kernel = await loadTrieKernel('poseidon2');
  const hasher = (await loadHashKernel({ build: 'simd' })).poseidon2;
  const accounts = kernel.createTrie();
  const storage = kernel.createTrie();
  for (const hkey of digests(0, 100_000, 1)) kernel.put(accounts, hkey, hkey);
  for (const hkey of digests(0, 1_000, 2)) kernel.put(storage, hkey, hkey);
  kernel.commit();
  const { compressions } = kernel.statistics();
  const block = digest(1, 1);
  let n = 0;
  const times = alternate({
    gather: () => {
      n++;
      const [account, slot] = [digest(n % 100_000, 1), digest(n % 1_000, 2)];
      for (const [trie, hkey] of [
        [accounts, account],
        [storage, slot],
      ] as const) {
        const found = kernel.find(trie, hkey);
        kernel.gatherProof(trie, found.present ? found.position : found.left);
      }
    },
    compress: () => hasher.compress(block, block),
  });
  return {
    ratio: times.gather! / (100 * times.compress!),
    microseconds: times.gather! / 1000,
    hashed: kernel.statistics().compressions - compressions,
  };
}

/** A trie grown to a million leaves; on the way, what batches of 1 000 cost for each compression they need. */
async function growth() {
  const kernel = await loadTrieKernel('poseidon2');
  const trie = kernel.createTrie();
  const sizes = [1_000, 10_000, 100_000, 1_000_000];
  const nsPerCompression: number[] = [];
  let held = 0;
  for (const size of sizes) {
    for (const hkey of digests(held, size, 1)) kernel.put(trie, hkey, hkey);
    kernel.commit();
    held = size;
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const keys = digests(held, held + 1_000, 1);
      const before = kernel.statistics().compressions;
      const ms = timed(() => {
        for (const hkey of keys) kernel.put(trie, hkey, hkey);
        kernel.commit();
      });
      times.push((ms * 1e6) / (kernel.statistics().compressions - before));
      held += 1_000;
    }
    nsPerCompression.push(median(times));
  }
  const { memoryBytes } = kernel.statistics();
  return { sizes, nsPerCompression, bytesPerLeaf: memoryBytes / kernel.leafCount(trie) };
}

/** What 10 000 tries of three keys each take. */
async function smallTries() {
  const kernel = await loadTrieKernel('poseidon2');
  const before = kernel.statistics().usedBytes;
  for (let i = 0; i < 10_000; i++) {
    const trie = kernel.createTrie();
    for (const hkey of digests(3 * i, 3 * i + 3, 5)) kernel.put(trie, hkey, hkey);
  }
  kernel.commit();
  return (kernel.statistics().usedBytes - before) / 10_000;
}

export const state: BenchArea = {
  name: 'state',
  standsOn: ['hash', 'verify'],
  question: 'How far is the zk state from the hashing it cannot do without?',
  async run() {
    const message = new Uint8Array(64).fill(1);
    const keccak = alternate({ keccak: () => keccak_256(message) }).keccak!;
    const figures: Figure[] = [{ name: 'keccak256 of 64 bytes by @noble/hashes', value: keccak, unit: 'ns' }];
    for (const scheme of ['poseidon2', 'mimc'] as const) {
      const held = 100_000;
      const batch = 10_000;
      const { least, done, idle, ms, ratio } = await insertion(scheme, held, batch, scheme === 'mimc' ? 3 : 9);
      const each = (ms * 1e6) / batch;
      const update = await singleUpdates(scheme, held, 100);
      figures.push(
        {
          name: `${scheme}: 10 000 inserts into 100 000 over bare batched hashing`,
          value: ratio,
          unit: 'x',
          bar: { atMost: scheme === 'mimc' ? 1.2 : 1.5 },
          note: `${Math.round((1000 * batch) / ms)} a second, each ${(each / keccak).toFixed(1)} keccak256`,
        },
        {
          name: `${scheme}: compressions done over the least needed`,
          value: done / least,
          unit: 'x',
          bar: { atMost: 1.02 },
          note: `${done} and ${least}; ${idle} more in idle lanes`,
        },
        {
          name: `${scheme}: 100 single updates with a root each over bare hashing`,
          value: update.ratio,
          unit: 'x',
          bar: { atMost: 1.3 },
          note: `${(update.ns / 1000).toFixed(1)} µs each, ${(update.ns / keccak).toFixed(1)} keccak256`,
        },
        ...(await worldStateFigures(scheme, keccak)),
      );
    }
    const perCompression = (ns: number) => `${Math.round(ns)} ns, ${(ns / keccak).toFixed(2)} keccak256`;
    const proof = await proofs();
    const grown = await growth();
    figures.push(
      {
        name: 'account and slot proof over 100 poseidon2 compressions',
        value: proof.ratio,
        unit: 'x',
        bar: { atMost: 1 },
        note: `${proof.microseconds.toFixed(1)} µs, ${((1000 * proof.microseconds) / keccak).toFixed(1)} keccak256`,
      },
      { name: 'compressions done for proofs', value: proof.hashed, unit: 'compressions', bar: { atMost: 0 } },
      {
        name: 'linear memory per leaf at 1 000 000',
        value: grown.bytesPerLeaf,
        unit: 'bytes',
        bar: { atMost: 220 },
      },
      {
        name: 'time per compression at 1 000 000 leaves over that at 1 000',
        value: grown.nsPerCompression.at(-1)! / grown.nsPerCompression[0]!,
        unit: 'x',
        bar: { atMost: 2 },
        note: grown.sizes.map((size, i) => `${size}: ${perCompression(grown.nsPerCompression[i]!)}`).join(', '),
      },
      { name: 'memory of a trie of three keys', value: await smallTries(), unit: 'bytes' },
    );
    return figures;
  },
};
