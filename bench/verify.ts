import type { Hasher, HashScheme } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { loadTrieKernel } from '../src/kernel/trie-kernel.js';
import { bigIntToBytes } from '../src/primitives/bytes.js';
import { verifyLineaProof } from '../src/proof/linea-proof.js';
import { openWorldState } from '../src/state/open-world-state.js';
import { alternate, type BenchArea, type Figure } from './area.js';

const ACCOUNTS = 2_000;
const word = (n: number) => bigIntToBytes(BigInt(n), 32);
const address = (n: number) => bigIntToBytes(BigInt(n) * 7919n + 1n, 20);

/** A hasher that notes what it is asked for, so that just the same can be hashed again. */
function noting(hasher: Hasher, calls: (() => unknown)[]): Hasher {
  return {
    scheme: hasher.scheme,
    hash(input) {
      const kept = input.slice();
      calls.push(() => hasher.hash(kept));
      return hasher.hash(input);
    },
    hashMany(inputs, inputBytes) {
      const kept = inputs.slice();
      calls.push(() => hasher.hashMany(kept, inputBytes));
      return hasher.hashMany(inputs, inputBytes);
    },
    compress: (state, block) => hasher.compress(state, block),
    climb(leaf, position, siblings) {
      const kept = [leaf.slice(), siblings.slice()] as const;
      calls.push(() => hasher.climb(kept[0], position, kept[1]));
      return hasher.climb(leaf, position, siblings);
    },
  };
}

async function measure(scheme: HashScheme): Promise<Figure> {
  const hasher = await loadHasher(scheme);
  const state = openWorldState(hasher, await loadTrieKernel(scheme, { undo: true, nodes: true }));
  const slots = Array.from({ length: 50 }, (_, i) => ({ key: word(i), before: word(0), after: word(i + 1) }));
  const stateRoot = state.applyBlock(
    0,
    Array.from({ length: ACCOUNTS }, (_, i) => ({
      address: address(i),
      after: { nonce: 1n, balance: 10n },
      destroyed: false,
      slots: i === 7 ? slots : [],
    })),
  );
  const request = { address: address(7), storageKeys: [word(3)], stateRoot };
  // As it comes over the wire: strings that were put together piece by piece are slower to read.
  const answer: unknown = JSON.parse(JSON.stringify(state.prove(0, request.address, request.storageKeys)));
  const calls: (() => unknown)[] = [];
  const noted = noting(hasher, calls);
  verifyLineaProof(noted, request, answer);
  // The second time the empty subtrees are known.
  calls.length = 0;
  if (!verifyLineaProof(noted, request, answer).verified) throw new Error('the proof does not verify');
  const bare = [...calls];
  const times = alternate({
    verify: () => verifyLineaProof(hasher, request, answer),
    bare: () => {
      for (const call of bare) call();
    },
  });
  return {
    name: `${scheme}: verifying an account and a slot over its bare hashing`,
    value: times['verify']! / times['bare']!,
    unit: 'x',
    bar: { atMost: 1.3 },
    note: `${(times['verify']! / 1000).toFixed(1)} µs and ${(times['bare']! / 1000).toFixed(1)} µs`,
  };
}

export const verifying: BenchArea = {
  name: 'verify',
  question: 'What does a verified proof cost beside the hashing it cannot do without?',
  run: async () => [await measure('poseidon2'), await measure('mimc')],
};
