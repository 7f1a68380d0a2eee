import type { Hasher, HashKernel, HashScheme, KernelOptions } from './contracts.js';
import { type HashExports, hashKernelOf } from './hash-kernel.js';
import { instantiate, type KernelSource } from './instantiate.js';

export type { HashKernel };

const SOURCE: KernelSource = {
  name: 'hash',
  simd: () => import('./wasm/hash.simd.generated.js'),
  scalar: () => import('./wasm/hash.scalar.generated.js'),
};

/**
 * Loads the hash module. Each kernel has its own memory, which never grows: about 160 KiB.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 *
 * @example
 * ```ts
 * import { bytesToHex, loadHashKernel } from 'plumbline-l2/hash';
 *
 * const { poseidon2 } = await loadHashKernel();
 * const [left, right] = [new Uint8Array(32), new Uint8Array(32)];
 * bytesToHex(poseidon2.compress(left, right)); // => '0x0656ab853b3f52840362a8177e217b630c3f876b11e848365145aa24220647fc'
 * ```
 */
export async function loadHashKernel(options: KernelOptions = {}): Promise<HashKernel> {
  return hashKernelOf(await instantiate<HashExports>(SOURCE, options));
}

/**
 * Loads the hasher of one scheme.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 *
 * @example
 * ```ts
 * import { bytesToHex, loadHasher } from 'plumbline-l2/hash';
 *
 * const hasher = await loadHasher('mimc');
 * const [left, right] = [new Uint8Array(32), new Uint8Array(32)];
 * bytesToHex(hasher.compress(left, right)); // => '0x0134373b65f439c874734ff51ea349327c140cde2e47a933146e6f9f2ad8eb17'
 * ```
 */
export async function loadHasher(scheme: HashScheme, options?: KernelOptions): Promise<Hasher> {
  return (await loadHashKernel(options))[scheme];
}
