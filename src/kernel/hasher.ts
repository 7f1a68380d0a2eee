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
 */
export async function loadHashKernel(options: KernelOptions = {}): Promise<HashKernel> {
  return hashKernelOf(await instantiate<HashExports>(SOURCE, options));
}

/** Loads the hasher of one scheme. @throws PlumblineError `KERNEL_UNAVAILABLE` */
export async function loadHasher(scheme: HashScheme, options?: KernelOptions): Promise<Hasher> {
  return (await loadHashKernel(options))[scheme];
}
