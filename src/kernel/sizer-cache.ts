import { copyBytes, equalBytes } from '../primitives/bytes.js';
import type { CalldataSizer } from './contracts.js';
import { packedSize } from './packed-size.js';

/** Limits of a size cache; both apply. */
export interface SizeCacheLimits {
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
