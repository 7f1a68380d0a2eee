import { describe, expect, test } from 'vitest';
import { hashWord } from '../../src/accumulator/keys.js';
import { isPlumblineError } from '../../src/errors.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { unpack } from '../../src/kernel/instantiate.js';
import { loadTrieKernel, type TrieKernelOptions } from '../../src/kernel/trie.js';
import { wasm } from '../../src/kernel/wasm/trie.simd.generated.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { openWorldState } from '../../src/state/open-world-state.js';
import type { WorldState } from '../../src/state/world-state.js';
import { limitMemory } from '../support/limited-memory.js';
import { seededRandom } from '../support/random.js';
import { addressOf, RandomChain, wordOf } from '../support/random-chain.js';

const SLOTS = [0, 1, 2, 40].map(wordOf);

/** @param maxPages - of 64 KiB; no limit when left out */
function loadKernel(options: TrieKernelOptions, maxPages?: number) {
  return loadTrieKernel('poseidon2', {
    ...options,
    ...(maxPages !== undefined && { wasm: limitMemory(unpack(wasm), maxPages) }),
  });
}

async function openState(maxPages?: number): Promise<WorldState> {
  return openWorldState(await loadHasher('poseidon2'), await loadKernel({ undo: true, nodes: true }, maxPages));
}

/** False when there was no memory for it. Other errors pass through. */
function hasMemory(body: () => unknown): boolean {
  try {
    body();
    return true;
  } catch (error) {
    if (isPlumblineError(error, 'KERNEL_OUT_OF_MEMORY')) return false;
    throw error;
  }
}

/** What a state says of its newest block. */
function newest(state: WorldState): unknown {
  const { head } = state;
  if (head === undefined) return undefined;
  const accounts = [0, 1, 2, 3, 50].map((n) => state.prove(head, addressOf(n), SLOTS));
  return [head, bytesToHex(state.root()), state.nextFreeNode(), accounts];
}

describe('an engine without more memory', () => {
  test.each([16, 17, 19, 22, 26])('with %i pages: refuses a block, and the state is unchanged', async (pages) => {
    const [state, roomy] = [await openState(pages), await openState()];
    const chain = new RandomChain(seededRandom(pages));
    let applied = 0;
    for (; ; applied++) {
      const changes = chain.nextBlock({ accounts: 300, touched: 60, slots: 70, writes: 20 });
      if (!hasMemory(() => state.applyBlock(applied, changes))) break;
      roomy.applyBlock(applied, changes);
    }
    expect(applied).toBeGreaterThan(0);
    expect(newest(state)).toEqual(newest(roomy));
    // The trie is what the record says it is, too.
    for (const each of [state, roomy]) each.applyBlock(applied, []);
    expect(newest(state)).toEqual(newest(roomy));
    // The way back is there as far as there is memory for it; where not, nothing is half done.
    for (let block = applied - 1; block >= 0; block--) {
      if (!hasMemory(() => state.revertTo(block))) break;
      roomy.revertTo(block);
      expect(newest(state)).toEqual(newest(roomy));
    }
    roomy.revertTo(state.head!);
    expect(newest(state)).toEqual(newest(roomy));
  });

  test('with some pages more or less: refuses blocks with traces too', async () => {
    for (let pages = 18; pages < 22; pages++) {
      const [state, roomy] = [await openState(pages), await openState()];
      const chain = new RandomChain(seededRandom(100 + pages));
      for (let block = 0; ; block++) {
        const changes = chain.nextBlock({ accounts: 200, touched: 30, slots: 30, writes: 6 });
        if (!hasMemory(() => state.applyBlockTraced(block, changes))) break;
        roomy.applyBlock(block, changes);
      }
      expect(state.head).toBeDefined();
      expect(newest(state)).toEqual(newest(roomy));
      for (const each of [state, roomy]) each.applyBlock(each.head! + 1, []);
      expect(newest(state)).toEqual(newest(roomy));
    }
  });

  test('refuses a commit without memory for its record, and accepts it when there is memory', async () => {
    const hasher = await loadHasher('poseidon2');
    const word = (n: number) => hashWord(hasher, wordOf(n));
    const [kernel, roomy] = [await loadKernel({ nodes: true }, 40), await loadKernel({ nodes: true })];
    const spare = kernel.createTrie();
    for (let i = 0; i < 6000; i++) kernel.put(spare, word(i), word(i));
    kernel.commit();
    kernel.takeNodes();
    const [trie, same] = [kernel.createTrie(), roomy.createTrie()];
    let count = 0;
    while (hasMemory(() => kernel.put(trie, word(count), word(count)))) roomy.put(same, word(count), word(count++));
    expect(hasMemory(() => kernel.commit())).toBe(false);
    expect(hasMemory(() => kernel.commitSubRoot(trie))).toBe(false);
    expect(() => kernel.topRoot(trie)).toThrow(expect.objectContaining({ code: 'INVALID_PARAMETER' }));
    kernel.dropTrie(spare);
    kernel.commit();
    roomy.commit();
    expect(bytesToHex(kernel.topRoot(trie))).toBe(bytesToHex(roomy.topRoot(same)));
    expect(kernel.takeNodes().length).toBe(roomy.takeNodes().length);
  });
});

test('takeBack requires the option undo', async () => {
  const kernel = await loadKernel({ nodes: true });
  expect(() => kernel.takeBack()).toThrow(expect.objectContaining({ code: 'INVALID_PARAMETER' }));
});
