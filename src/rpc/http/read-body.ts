import { readAtMost } from '../../primitives/read-at-most.js';

/**
 * Text of the body of a request or a response. The limit holds for the bytes that arrive, not only for the announced
 * length. The rest of a body that is too large is not read.
 *
 * @param limit - bytes
 * @returns undefined for a body that is not UTF-8 or is cut off
 */
export async function readBody(request: Request | Response, limit: number): Promise<string | 'too-large' | undefined> {
  try {
    const bytes = await readBytes(request, limit);
    return bytes === undefined ? 'too-large' : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** @returns undefined above the limit */
async function readBytes(request: Request | Response, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined;
  // Firefox has no Request.body.
  const stream = request.body as ReadableStream<Uint8Array> | null | undefined;
  if (stream === undefined) {
    const whole = new Uint8Array(await request.arrayBuffer());
    return whole.length > limit ? undefined : whole;
  }
  return readAtMost(stream, limit);
}
