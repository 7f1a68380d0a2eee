import { concatBytes } from './bytes.js';

/**
 * All bytes of a stream, unless there are too many: the rest is then not read.
 *
 * @param limit - bytes
 * @param onPart - told the length of each part as it comes, that of the one above the limit too
 * @returns undefined above the limit
 * @throws what the stream breaks off with
 */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
  onPart?: (length: number) => void,
): Promise<Uint8Array | undefined> {
  const reader = stream?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  const parts: Uint8Array[] = [];
  for (let length = 0; length <= limit; ) {
    const { done, value } = await reader.read();
    if (done) return concatBytes(...parts);
    onPart?.(value.length);
    length += value.length;
    parts.push(value);
  }
  // Not awaited: a source that never ends may never confirm.
  reader.cancel().catch(() => {});
  return undefined;
}
