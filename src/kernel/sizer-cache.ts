import { equalBytes } from '../primitives/bytes.js';
import type { CalldataSizer } from './contracts.js';
import { packedSize } from './packed-size.js';

/** How much a remembering sizer keeps; both bounds hold. */
export interface SizeCacheLimits {
  /** Inputs remembered; 4096 when left out. */
  readonly entries?: number;
  /** Bytes of all remembered inputs together; 2 MiB when left out. A longer input is sized and not remembered. */
  readonly bytes?: number;
}

const ENTRIES = 4096;
const BYTES = 2 ** 21;

interface Entry {
  readonly input: Uint8Array;
  readonly lzssSize: number;
}

/**
 * A sizer that remembers the inputs it sized last. What it says of an input is always what `sizer` said of these very
 * bytes: the hash only finds an entry, the bytes decide. Of two inputs with one hash the newer is kept, so inputs made to
 * collide cost no more than having no cache.
 *
 * @param sizer - asked about inputs that are not remembered; its errors pass through and are not remembered
 */
export function rememberingSizer(sizer: CalldataSizer, limits: SizeCacheLimits = {}): CalldataSizer {
  const { entries: maxEntries = ENTRIES, bytes: maxBytes = BYTES } = limits;
  /** In order of last use, the oldest first. */
  const entries = new Map<number, Entry>();
  let bytes = 0;

  function forget(key: number, entry: Entry): void {
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
    const entry: Entry = { input: input.slice(), lzssSize: sizer.lzssSize(input) };
    if (known !== undefined) forget(key, known);
    for (const [oldest, old] of entries) {
      if (entries.size < maxEntries && bytes + input.length <= maxBytes) break;
      forget(oldest, old);
    }
    entries.set(key, entry);
    bytes += input.length;
    return entry.lzssSize;
  }

  return { lzssSize, compressedTxSize: (input) => packedSize(lzssSize(input), input.length) };
}

/** FNV-1a, cut to 30 bits: engines keep such numbers without a box. */
function hashOf(input: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < input.length; i++) hash = Math.imul(hash ^ input[i]!, 0x01000193);
  return hash >>> 2;
}
