import { readAtMost } from '../../primitives/bounded-input.js';

/** Has the page make an HTTP request of the worker's node. */
export type PageFetch = (
  url: string,
  init: RequestInit,
) => Promise<{
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly body: Uint8Array;
}>;

const MAX_ANSWER_BYTES = 64 * 2 ** 20;

/** The page's side: answers are read whole, and one above 64 MiB is an error. */
export function answering(given: typeof fetch): PageFetch {
  return async (url, init) => {
    const { status, headers, body: stream } = await given(url, init);
    const body = await readAtMost(stream, MAX_ANSWER_BYTES);
    if (body === undefined) throw new Error('the answer is too long');
    return { status, headers: [...headers], body };
  };
}

/** The worker's side, as a `fetch`. An abort ends the waiting; the page's request goes on. */
export function fetchByPage(page: PageFetch): typeof fetch {
  return async (input, { signal, ...init } = {}) => {
    signal?.throwIfAborted();
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    const { status, headers, body } = await Promise.race([page(String(input), init), aborted]);
    // Some statuses, such as 204, must not have a body.
    return new Response(body.length === 0 ? null : (body as Uint8Array<ArrayBuffer>), { status, headers });
  };
}
