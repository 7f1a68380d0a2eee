import type { ExportedNumber, LinearMemory } from './contracts.js';
import { kernelRefused, requireWebAssembly, unpack } from './instantiate.js';
import { wasm } from './wasm/keccak.generated.js';

/** Exports of keccak.wasm; see assembly/keccak.ts. */
interface KeccakExports {
  readonly memory: LinearMemory;
  readonly INPUT: ExportedNumber;
  readonly OUTPUT: ExportedNumber;
  hash(length: number): void;
}

const DIGEST_BYTES = 32;
const PAGE_BYTES = 65_536;
/** Memory with more pages is given back after the hash that needed it. */
const KEPT_PAGES = 16;

type Hash = (input: Uint8Array) => Uint8Array;

let kernel: Hash | undefined;

/**
 * Keccak-256 as Ethereum uses it, 32 bytes. The first hash compiles the kernel, at once: it has a third of the 4 KiB up to which
 * all pages allow that.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE` without WebAssembly, or if the page's CSP forbids it
 */
export function keccak256(input: Uint8Array): Uint8Array {
  kernel ??= openKernel();
  return kernel(input);
}

function openKernel(): Hash {
  requireWebAssembly('keccak');
  let exports: KeccakExports;
  try {
    exports = new WebAssembly.Instance(new WebAssembly.Module(unpack(wasm))).exports as unknown as KeccakExports;
  } catch (cause) {
    throw kernelRefused('keccak', cause);
  }
  const { memory, INPUT, OUTPUT, hash } = exports;
  const at: number = INPUT.value;
  let bytes = new Uint8Array(memory.buffer);
  return (input) => {
    const missing = at + input.length - bytes.length;
    if (missing > 0) {
      memory.grow(Math.ceil(missing / PAGE_BYTES));
      bytes = new Uint8Array(memory.buffer);
    }
    bytes.set(input, at);
    hash(input.length);
    if (bytes.length > KEPT_PAGES * PAGE_BYTES) kernel = undefined;
    return bytes.slice(OUTPUT.value, OUTPUT.value + DIGEST_BYTES);
  };
}
