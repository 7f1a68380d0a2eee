import type { HashScheme } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { loadTrieKernel, type TrieKernel } from '../src/kernel/trie.js';
import { openWorldState } from '../src/state/open-world-state.js';
import type { ZkAccountChange } from '../src/state/world-state.js';
import { type Figure, median } from './area.js';
import { countingHasher } from './counting-hasher.js';
import { bareCompression, digest, leastOf, timed } from './state-yardstick.js';

const HELD = 100_000;
const BATCH = 10_000;
/** Compressions of an account's key and of its value (docs/spec/state-trie.md 3). */
const KEY_AND_VALUE = { mimc: 1 + 7, poseidon2: 2 + 10 } as const;

/** New accounts, each with an address of its own. */
function newAccounts(from: number, to: number): ZkAccountChange[] {
  return Array.from({ length: to - from }, (_, i) => ({
    address: digest(from + i, 7).subarray(0, 20),
    after: { nonce: 1n, balance: 10n ** 18n + BigInt(i) },
    destroyed: false,
    slots: [],
  }));
}

/** Runs `body`, and gives every leaf position that it writes. */
function positionsWritten(kernel: TrieKernel, body: () => void): Set<number> {
  const written = new Set<number>();
  const put = kernel.put.bind(kernel);
  kernel.put = (trie, hkey, hval) => {
    const found = kernel.find(trie, hkey);
    if (!found.present) written.add(found.left).add(found.right);
    const done = put(trie, hkey, hval);
    if (done.effect !== 'none') written.add(done.position);
    return done;
  };
  body();
  kernel.put = put;
  return written;
}

/**
 * Whole accounts through `applyBlock`: keys and values hashed, before-values checked, the block's way back kept. Each round
 * brings addresses not seen before, and is taken back.
 *
 * @param keccak - nanoseconds of keccak256 of 64 bytes
 */
export async function worldStateFigures(scheme: HashScheme, keccak: number): Promise<Figure[]> {
  const hasher = countingHasher(await loadHasher(scheme));
  const kernel = await loadTrieKernel(scheme, { undo: true, nodes: true });
  const state = openWorldState(hasher, kernel);
  const bare = await bareCompression(scheme);
  state.applyBlock(0, newAccounts(0, HELD));
  const batch = (round: number) => newAccounts(HELD + round * BATCH, HELD + (round + 1) * BATCH);
  const counted = () => hasher.compressions + kernel.statistics().compressions;
  const before = counted();
  const written = positionsWritten(kernel, () => state.applyBlock(1, batch(0)));
  const done = counted() - before;
  const least = leastOf(scheme, written) + BATCH * KEY_AND_VALUE[scheme];
  state.revertTo(0);
  const times: number[] = [];
  const ratios: number[] = [];
  for (let round = 1; round <= (scheme === 'mimc' ? 3 : 9); round++) {
    const accounts = batch(round);
    times.push(timed(() => state.applyBlock(1, accounts)));
    ratios.push((times.at(-1)! * 1e6) / (least * bare.batched()));
    state.revertTo(0);
  }
  const each = (median(times) * 1e6) / BATCH;
  return [
    {
      name: `${scheme}: 10 000 accounts through applyBlock, values and undo included`,
      value: median(ratios),
      unit: 'x',
      note: `${Math.round(1e9 / each)} a second, each ${(each / keccak).toFixed(1)} keccak256`,
    },
    {
      name: `${scheme}: compressions of that over the least needed`,
      value: done / least,
      unit: 'x',
      bar: { atMost: 1.02 },
      note: `${done} and ${least}`,
    },
  ];
}
