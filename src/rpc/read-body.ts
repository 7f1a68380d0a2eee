import { readAtMost } from '../primitives/bounded-input.js';

/**
 * Text of the body of a request or a response. The limit holds for the bytes that arrive, not only for the announced
 * length. The rest of a body that is too large is not read.
 *
 * @param limit - bytes
 * @param onPart - called with the announced length before the body is read, or with that of each part; false ends the reading,
 *   as of a body that is too large
 * @returns undefined for a body that is not UTF-8 or is cut off
 */
export async function readBody(
  request: Request | Response,
  limit: number,
  onPart?: (length: number) => boolean,
): Promise<string | 'too-large' | undefined> {
  try {
    const bytes = await readBytes(request, limit, onPart);
    return bytes === undefined ? 'too-large' : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** @returns undefined above the limit */
async function readBytes(
  request: Request | Response,
  limit: number,
  onPart: ((length: number) => boolean) | undefined,
): Promise<Uint8Array | undefined> {
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > limit) return undefined;
  // A server ends a request at the length that it announces. For a stream, Node's adapter would make a second Request.
  const isFramed = announced !== null && request instanceof Request;
  // Firefox has no Request.body.
  const stream = isFramed ? undefined : (request.body as ReadableStream<Uint8Array> | null | undefined);
  if (stream !== undefined) return readAtMost(stream, limit, onPart);
  if (onPart?.(Number(announced ?? 0)) === false) return undefined;
  const whole = new Uint8Array(await request.arrayBuffer());
  return whole.length > limit ? undefined : whole;
}
