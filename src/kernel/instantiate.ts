import { messageOf, PlumblineError } from '../errors.js';
import type { CompiledModule, KernelOptions } from './contracts.js';
import { hasSimd } from './simd.js';

/** A generated module with one build of a kernel, as text for `unpack`. */
interface KernelText {
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
export async function compile(source: KernelSource, options: KernelOptions = {}): Promise<CompiledModule> {
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
export async function instanceOf<Exports>(source: KernelSource, module: CompiledModule): Promise<Exports> {
  try {
    const { exports } = await WebAssembly.instantiate(module as WebAssembly.Module, {});
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

/** Digits before the bytes: one bit for each of the 256 values of a byte, the lowest bit of a digit first. */
const HEAD_DIGITS = 64;
/** Codes of the 87 characters that stand for values: from `#` to `~`, without `$ ' < \` and the back quote. */
const CODES = Array.from({ length: 92 }, (_, i) => 0x23 + i).filter(
  (code) => !"$'<\\`".includes(String.fromCharCode(code)),
);
/** Before a character, ` ` and `!` choose another value of it. */
const LAST_PREFIX = 0x21;
const ASCII = 128;

/**
 * The bytes of a kernel, which scripts/build-wasm.mjs has written as text. A value whose bit is set in the head is one
 * character: the first of these is `#`, the next one the character after it. Other values are two: the same characters after a
 * space, and after `!` when those are used up.
 *
 * @param text - as in `wasm/*.generated.ts`
 */
export function unpack(text: string): Uint8Array<ArrayBuffer> {
  const values = valuesOf(text);
  // The bytes take the place of their text, which is longer. A buffer is read faster than a string before the loop is compiled.
  const bytes = new TextEncoder().encode(text);
  let length = 0;
  let part = 0;
  for (let at = HEAD_DIGITS; at < bytes.length; at++) {
    const code = bytes[at]!;
    if (code <= LAST_PREFIX) {
      part = (code - LAST_PREFIX + 2) * ASCII;
    } else {
      bytes[length++] = values[part + code]!;
      part = 0;
    }
  }
  return bytes.slice(0, length);
}

/** Values by the code of their character: alone, after a space, after `!`. */
function valuesOf(text: string): Uint8Array {
  const values = new Uint8Array(3 * ASCII);
  let frequent = 0;
  let others = 0;
  for (let value = 0; value < 256; value++) {
    if ((Number.parseInt(text[value >> 2]!, 16) >> (value & 3)) & 1) {
      values[CODES[frequent++]!] = value;
    } else {
      const part = others < CODES.length ? ASCII : 2 * ASCII;
      values[part + CODES[others++ % CODES.length]!] = value;
    }
  }
  return values;
}
