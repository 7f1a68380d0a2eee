import { PlumblineError } from '../errors.js';
import { type CalldataSizer, type KernelOptions, MAX_LZSS_INPUT } from './contracts.js';
import { requireDictionaryFits } from './dictionary-limit.js';
import { instantiate, type KernelSource } from './instantiate.js';
import { packedSize } from './packed-size.js';
import { wasm } from './wasm/calldata.generated.js';

/** Exports of calldata.wasm; see assembly/calldata.ts. */
interface CalldataExports {
  readonly memory: WebAssembly.Memory;
  /** Address for a dictionary of this length. */
  dictionaryPointer(length: number): number;
  indexDictionary(length: number): void;
  /** Address for an input of this length; may grow the memory. */
  inputPointer(length: number): number;
  lzssBits(length: number): number;
}

/** The module uses no SIMD, so both builds are the same. */
const text = async () => ({ wasm });
const SOURCE: KernelSource = { name: 'calldata', simd: text, scalar: text };

const HEADER_BYTES = 3;

/**
 * Creates a sizer for one dictionary. The dictionary is copied and indexed immediately (about 5 ms for 64 KiB). Each
 * sizer has its own memory, so there may be several.
 *
 * @param dictionary - 0 to `MAX_DICTIONARY` bytes; if it lacks 0xFE or 0xFF, both are appended
 *   (docs/spec/compression.md 4.2)
 * @throws PlumblineError `KERNEL_UNAVAILABLE`; `OUT_OF_RANGE` for a longer dictionary
 */
export async function loadCalldataSizer(dictionary: Uint8Array, options: KernelOptions = {}): Promise<CalldataSizer> {
  requireDictionaryFits(dictionary);
  const kernel = await instantiate<CalldataExports>(SOURCE, options);
  const write = (pointer: number, bytes: Uint8Array) => new Uint8Array(kernel.memory.buffer).set(bytes, pointer);
  write(kernel.dictionaryPointer(dictionary.length), dictionary);
  kernel.indexDictionary(dictionary.length);

  function lzssSize(input: Uint8Array): number {
    if (input.length > MAX_LZSS_INPUT) {
      throw new PlumblineError(
        'CALLDATA_TOO_LARGE',
        `the input has ${input.length} bytes, the maximum is ${MAX_LZSS_INPUT}`,
        {
          length: input.length,
          limit: MAX_LZSS_INPUT,
        },
      );
    }
    write(kernel.inputPointer(input.length), input);
    return HEADER_BYTES + Math.ceil(kernel.lzssBits(input.length) / 8);
  }

  return { lzssSize, compressedTxSize: (input) => packedSize(lzssSize(input), input.length) };
}
