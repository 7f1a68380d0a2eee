import { keccak_256 } from '@noble/hashes/sha3.js';
import type { HashScheme } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { loadTrieKernel } from '../src/kernel/trie.js';
import { bigIntToBytes } from '../src/primitives/bytes.js';
import { verifyLineaProof } from '../src/proof/linea-proof.js';
import { openWorldState } from '../src/state/open-world-state.js';
import { alternate, type BenchArea, type Figure } from './area.js';
import { countingHasher } from './counting-hasher.js';

const ACCOUNTS = 2_000;
const word = (n: number) => bigIntToBytes(BigInt(n), 32);
const address = (n: number) => bigIntToBytes(BigInt(n) * 7919n + 1n, 20);

const us = (ns: number) => `${(ns / 1000).toFixed(1)} µs`;

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
  const counted = countingHasher(hasher);
  verifyLineaProof(counted, request, answer);
  // The second time the empty subtrees are known.
  counted.compressions = 0;
  if (!verifyLineaProof(counted, request, answer).verified) throw new Error('the proof does not verify');
  const { compressions } = counted;
  const blocks = new Uint8Array(32 * compressions).fill(1);
  // The yardstick from outside.
  const message = new Uint8Array(64).fill(1);
  const times = alternate({
    verify: () => verifyLineaProof(hasher, request, answer),
    bare: () => hasher.hash(blocks),
    keccak: () => keccak_256(message),
  });
  const inKeccaks = (times.verify! / times.keccak!).toFixed(1);
  return {
    name: `${scheme}: verifying an account and a slot over its bare hashing`,
    value: times.verify! / times.bare!,
    unit: 'x',
    bar: { atMost: 1.3 },
    note: `${us(times.verify!)}, ${inKeccaks} keccak256, and ${us(times.bare!)} for ${compressions} compressions in one call`,
  };
}

export const verifying: BenchArea = {
  name: 'verify',
  question: 'What does a verified proof cost beside the hashing it cannot do without?',
  run: async () => [await measure('poseidon2'), await measure('mimc')],
};
