import { GrowingBytes } from './bytes.js';

/**
 * Reads all bytes of a stream, unless there are more than the limit; then it stops.
 *
 * @param limit - bytes
 * @param onPart - called with the length of each part, including the one that exceeds the limit; false ends the reading
 * @returns undefined above the limit, and when `onPart` has ended it
 * @throws errors of the stream
 */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
  onPart?: (length: number) => unknown,
): Promise<Uint8Array | undefined> {
  const reader = stream?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  const read = new GrowingBytes();
  while (read.length <= limit) {
    const { done, value } = await reader.read();
    if (done) return read.bytes();
    if (onPart?.(value.length) === false || read.length + value.length > limit) break;
    read.push(value);
  }
  // Not awaited, because an endless source may never confirm.
  reader.cancel().catch(() => {});
  return undefined;
}

/** Depth up to which JSON is parsed. Requests and answers of this library nest up to 10 deep. */
export const MAX_JSON_DEPTH = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether arrays and objects of a JSON text are nested deeper than the limit. `JSON.parse` returns such a value, but what
 * walks through it then, such as `JSON.stringify` and `structuredClone`, runs out of stack. One pass; strings are skipped. It
 * does not check that the text is JSON.
 */
export function isDeeperThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > limit) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return false;
}

/** Index of the quote that ends a string; the end of the text for one without an end. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}
