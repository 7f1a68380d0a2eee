import { keccak_256 } from '@noble/hashes/sha3.js';
import { loadHashKernel } from '../src/kernel/hasher.js';
import { bigIntToBytes, concatBytes } from '../src/primitives/bytes.js';
import { referenceHasher } from '../test/reference/hasher.js';
import { alternate, type BenchArea, type Figure } from './area.js';

/** Blocks of the long inputs: enough that entering the kernel no longer shows. */
const BLOCKS = 64;
/** Nodes of 64 bytes hashed at once, two compressions each. */
const NODES = 256;

/**
 * Time of one compression in nanoseconds, of each kernel build and of the bigint twin, with keccak256 of 64 bytes as a
 * yardstick from outside.
 */
async function measure() {
  const simd = await loadHashKernel({ build: 'simd' });
  const scalar = await loadHashKernel({ build: 'scalar' });
  const [mimcTwin, poseidon2Twin] = [referenceHasher('mimc'), referenceHasher('poseidon2')];
  const block = bigIntToBytes(0x0123456709abcdefn << 128n, 32);
  const long = concatBytes(...Array.from({ length: BLOCKS }, (_, i) => bigIntToBytes(BigInt(i) << 96n, 32)));
  const nodes = concatBytes(...Array.from({ length: 2 * NODES }, (_, i) => bigIntToBytes(BigInt(i) << 64n, 32)));
  const message = long.subarray(0, 64);
  const times = alternate({
    keccak: () => keccak_256(message),
    mimcTwin: () => mimcTwin.compress(block, block),
    mimc: () => simd.mimc.hash(long),
    mimcScalar: () => scalar.mimc.hash(long),
    mimcOne: () => simd.mimc.compress(block, block),
    mimcMany: () => simd.mimc.hashMany(nodes, 64),
    poseidon2Twin: () => poseidon2Twin.compress(block, block),
    poseidon2: () => simd.poseidon2.hash(long),
    poseidon2Scalar: () => scalar.poseidon2.hash(long),
    poseidon2One: () => simd.poseidon2.compress(block, block),
    poseidon2Many: () => simd.poseidon2.hashMany(nodes, 64),
    poseidon2ManyScalar: () => scalar.poseidon2.hashMany(nodes, 64),
  });
  const of = (name: string, compressions = 1) => times[name]! / compressions;
  return {
    keccak: of('keccak'),
    mimcTwin: of('mimcTwin'),
    mimc: of('mimc', BLOCKS),
    mimcScalar: of('mimcScalar', BLOCKS),
    mimcOne: of('mimcOne'),
    mimcMany: of('mimcMany', 2 * NODES),
    poseidon2Twin: of('poseidon2Twin'),
    poseidon2: of('poseidon2', BLOCKS),
    poseidon2Scalar: of('poseidon2Scalar', BLOCKS),
    poseidon2One: of('poseidon2One'),
    poseidon2Many: of('poseidon2Many', 2 * NODES),
    poseidon2ManyScalar: of('poseidon2ManyScalar', 2 * NODES),
  };
}

export const hashing: BenchArea = {
  name: 'hash',
  question: 'How much faster than a plain bigint implementation is a compression in the kernels?',
  async run() {
    const ns = await measure();
    const note = (time: number) => `${Math.round(time)} ns, ${(time / ns.keccak).toFixed(2)} keccak256`;
    const ratio = (name: string, slow: number, fast: number, atLeast?: number): Figure => ({
      name,
      value: slow / fast,
      unit: 'x',
      note: note(fast),
      ...(atLeast === undefined ? {} : { bar: { atLeast } }),
    });
    return [
      { name: 'keccak256 of 64 bytes by @noble/hashes', value: ns.keccak, unit: 'ns' },
      { name: 'mimc, bigint twin', value: ns.mimcTwin, unit: 'ns' },
      ratio('mimc over its twin', ns.mimcTwin, ns.mimc, 9),
      ratio('mimc over its twin, scalar build', ns.mimcTwin, ns.mimcScalar),
      ratio('mimc over its twin, one compression a call', ns.mimcTwin, ns.mimcOne),
      ratio('mimc over its twin, nodes in pairs', ns.mimcTwin, ns.mimcMany, 9),
      { name: 'poseidon2, bigint twin', value: ns.poseidon2Twin, unit: 'ns' },
      ratio('poseidon2 over its twin', ns.poseidon2Twin, ns.poseidon2, 12),
      ratio('poseidon2 over its twin, scalar build', ns.poseidon2Twin, ns.poseidon2Scalar),
      ratio('poseidon2 over its twin, one compression a call', ns.poseidon2Twin, ns.poseidon2One),
      ratio('poseidon2 over its twin, nodes in batches of four', ns.poseidon2Twin, ns.poseidon2Many, 40),
      ratio('poseidon2 nodes, batches of four over the scalar build', ns.poseidon2ManyScalar, ns.poseidon2Many, 2.8),
    ];
  },
};
