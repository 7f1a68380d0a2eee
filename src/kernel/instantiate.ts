import { messageOf, PlumblineError } from '../errors.js';
import { hexToBytes } from '../primitives/hex.js';
import type { KernelOptions } from './contracts.js';

/** A generated module with one build of a kernel, as hex with `0x`. */
export interface KernelText {
  readonly wasm: string;
}

/** One kernel. An engine uses only one of its builds, so each is a module of its own. */
export interface KernelSource {
  readonly name: string;
  simd(): Promise<KernelText>;
  scalar(): Promise<KernelText>;
}

/** `i8x16.splat` and `drop` in a function of an otherwise empty module: valid only with SIMD. */
export const SIMD_PROBE: Uint8Array<ArrayBuffer> = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  4,
  1,
  96,
  0,
  0,
  3,
  2,
  1,
  0,
  10,
  9,
  1,
  7,
  0,
  65,
  0,
  253,
  15,
  26,
  11,
);

/** Whether this engine supports WebAssembly SIMD. */
export function hasSimd(): boolean {
  return typeof WebAssembly === 'object' && WebAssembly.validate(SIMD_PROBE);
}

/**
 * Compiles a kernel and returns the exports of an instance.
 *
 * @throws PlumblineError as `compile`
 */
export async function instantiate<Exports>(source: KernelSource, options: KernelOptions = {}): Promise<Exports> {
  return instanceOf(source, await compile(source, options));
}

/**
 * Compiles a kernel. Asynchronous, because pages may not compile large modules synchronously on the main thread.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE` without WebAssembly, if the page's CSP forbids it, or for invalid bytes
 */
export async function compile(source: KernelSource, options: KernelOptions = {}): Promise<WebAssembly.Module> {
  if (typeof WebAssembly !== 'object') throw unavailable(source.name, 'this engine has no WebAssembly');
  const build = options.build ?? 'auto';
  const simd = build === 'simd' || (build === 'auto' && hasSimd());
  try {
    const bytes = options.wasm ?? hexToBytes((await (simd ? source.simd() : source.scalar())).wasm);
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw unavailable(source.name, messageOf(cause), cause);
  }
}

/**
 * The exports of a new instance of a kernel, with its own memory.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE` without enough memory
 */
export async function instanceOf<Exports>(source: KernelSource, module: WebAssembly.Module): Promise<Exports> {
  try {
    const { exports } = await WebAssembly.instantiate(module, {});
    return exports as Exports;
  } catch (cause) {
    throw unavailable(source.name, messageOf(cause), cause);
  }
}

function unavailable(kernel: string, reason: string, cause?: unknown): PlumblineError<'KERNEL_UNAVAILABLE'> {
  return new PlumblineError(
    'KERNEL_UNAVAILABLE',
    `kernel ${kernel} cannot be loaded: ${reason}`,
    { kernel, reason },
    { cause },
  );
}
