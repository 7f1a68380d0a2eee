import { messageOf, PlumblineError } from '../errors.js';
import type { KernelOptions } from './contracts.js';
import { hasSimd } from './simd.js';
import { unpack } from './unpack.js';

/** A generated module with one build of a kernel, as text for `unpack`. */
export interface KernelText {
  readonly wasm: string;
}

/** One kernel. An engine uses only one of its builds, so each is a module of its own. */
export interface KernelSource {
  readonly name: string;
  simd(): Promise<KernelText>;
  scalar(): Promise<KernelText>;
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
  requireWebAssembly(source.name);
  const build = options.build ?? 'auto';
  const simd = build === 'simd' || (build === 'auto' && hasSimd());
  try {
    const bytes = options.wasm ?? unpack((await (simd ? source.simd() : source.scalar())).wasm);
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw kernelRefused(source.name, cause);
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
    throw kernelRefused(source.name, cause);
  }
}

/** @throws PlumblineError `KERNEL_UNAVAILABLE` */
export function requireWebAssembly(kernel: string): void {
  if (typeof WebAssembly !== 'object') throw kernelUnavailable(kernel, 'this engine has no WebAssembly');
}

/** Why an engine refused a kernel. Of a policy, browsers name `'unsafe-eval'`, which allows far more than is needed, or nothing. */
export function kernelRefused(kernel: string, cause: unknown): PlumblineError<'KERNEL_UNAVAILABLE'> {
  const message = messageOf(cause);
  const isPolicy = /content security policy|\bCSP\b|unsafe-eval/i.test(message);
  const advice = isPolicy ? "add 'wasm-unsafe-eval' to script-src of the Content-Security-Policy: " : '';
  return kernelUnavailable(kernel, advice + message, cause);
}

function kernelUnavailable(kernel: string, reason: string, cause?: unknown): PlumblineError<'KERNEL_UNAVAILABLE'> {
  return new PlumblineError(
    'KERNEL_UNAVAILABLE',
    `kernel ${kernel} cannot be loaded: ${reason}`,
    { kernel, reason },
    { cause },
  );
}
