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
