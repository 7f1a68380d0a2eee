/**
 * How many bytes a transaction adds to a blob: the size that LZSS would give it, packed into field elements
 * (docs/spec/compression.md). Nothing is compressed. Wallets size the same bytes again and again, so there is a cache, too.
 */

import { PlumblineError } from '../errors.js';
import { copyBytes, equalBytes } from '../primitives/bytes.js';
import {
  type CalldataSizer,
  type KernelOptions,
  type LinearMemory,
  MAX_LZSS_INPUT,
  requireDictionaryFits,
} from './contracts.js';
import { instantiate, type KernelSource } from './instantiate.js';
import { wasm } from './wasm/calldata.generated.js';

/** Exports of calldata.wasm; see assembly/calldata.ts. */
interface CalldataExports {
  readonly memory: LinearMemory;
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
 *
 * @example
 * ```ts
 * import { generalDictionary, loadCalldataSizer } from 'plumbline-l2/fees';
 *
 * const sizer = await loadCalldataSizer((await generalDictionary()).bytes);
 * sizer.compressedTxSize(new Uint8Array(1_000)); // => 32
 * ```
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

const ELEMENT_BITS = 254;
const ELEMENT_BYTES = 32;

/**
 * Size for the fee formula in bytes. Bytes that LZSS does not shrink are stored after the 3-byte header, which may be a
 * byte or two longer than LZSS. The result is packed into field elements of 254 usable bits, 32 bytes each.
 *
 * @param lzss - size of the LZSS stream, header included
 * @param length - bytes before compression
 * @source docs/spec/compression.md 6
 */
export function packedSize(lzss: number, length: number): number {
  const bytes = lzss > length ? length + 3 : lzss;
  return ELEMENT_BYTES * Math.ceil((8 * bytes) / ELEMENT_BITS);
}

/** Limits of a size cache; both apply. */
interface SizeCacheLimits {
  /** Number of inputs; default 4096. */
  readonly entries?: number;
  /** Bytes of all inputs together; default 2 MiB. A longer input is sized but not cached. */
  readonly bytes?: number;
}

const ENTRIES = 4096;
const BYTES = 2 ** 21;

interface Entry {
  readonly input: Uint8Array;
  readonly lzssSize: number;
}

/**
 * A sizer with a cache of recent inputs. A cached size is returned only for exactly the same bytes: the hash finds an
 * entry, and the bytes are compared. Of two inputs with one hash the newer is cached, so inputs made to collide cost no
 * more than having no cache.
 *
 * @param sizer - computes sizes that are not cached; its errors are passed on and not cached
 */
export function rememberingSizer(sizer: CalldataSizer, limits: SizeCacheLimits = {}): CalldataSizer {
  const { entries: maxEntries = ENTRIES, bytes: maxBytes = BYTES } = limits;
  /** In order of last use, oldest first. */
  const entries = new Map<number, Entry>();
  let bytes = 0;

  function remove(key: number, entry: Entry): void {
    entries.delete(key);
    bytes -= entry.input.length;
  }

  function lzssSize(input: Uint8Array): number {
    if (input.length > maxBytes || maxEntries < 1) return sizer.lzssSize(input);
    const key = hashOf(input);
    const known = entries.get(key);
    if (known !== undefined && equalBytes(known.input, input)) {
      entries.delete(key);
      entries.set(key, known);
      return known.lzssSize;
    }
    const entry: Entry = { input: copyBytes(input), lzssSize: sizer.lzssSize(input) };
    if (known !== undefined) remove(key, known);
    for (const [oldest, old] of entries) {
      if (entries.size < maxEntries && bytes + input.length <= maxBytes) break;
      remove(oldest, old);
    }
    entries.set(key, entry);
    bytes += input.length;
    return entry.lzssSize;
  }

  return { lzssSize, compressedTxSize: (input) => packedSize(lzssSize(input), input.length) };
}

/** FNV-1a, truncated to 30 bits, because engines store such numbers without boxing. */
function hashOf(input: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < input.length; i++) hash = Math.imul(hash ^ input[i]!, 0x01000193);
  return hash >>> 2;
}
