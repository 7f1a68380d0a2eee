import { readAtMost } from '../../primitives/bounded-input.js';

/** Has the page make an HTTP request of the worker's node. */
export interface PageFetch {
  /** @param call - a number that no other call has */
  (url: string, init: RequestInit, call: number): Promise<PageAnswer>;
  /** Ends a call. */
  abort(call: number): void | Promise<void>;
}

interface PageAnswer {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly body: Uint8Array;
}

const MAX_ANSWER_BYTES = 64 * 2 ** 20;

/** The page's side: answers are read whole, and one above 64 MiB is an error. */
export function answering(given: typeof fetch): PageFetch {
  const running = new Map<number, AbortController>();
  const ask = async (url: string, init: RequestInit, call: number): Promise<PageAnswer> => {
    const stop = new AbortController();
    running.set(call, stop);
    try {
      const { status, headers, body: stream } = await given(url, { ...init, signal: stop.signal });
      const body = await readAtMost(stream, MAX_ANSWER_BYTES);
      if (body === undefined) throw new Error('the answer is too long');
      return { status, headers: [...headers], body };
    } finally {
      running.delete(call);
    }
  };
  return Object.assign(ask, { abort: (call: number) => running.get(call)?.abort() });
}

/** The worker's side, as a `fetch`. An abort ends the waiting and the page's request. */
export function fetchByPage(page: PageFetch): typeof fetch {
  let calls = 0;
  return async (input, { signal, ...init } = {}) => {
    signal?.throwIfAborted();
    const call = calls++;
    let stop = () => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = () => {
        reject(signal!.reason as Error);
        // The page may be gone.
        void Promise.resolve(page.abort(call)).catch(() => {});
      };
    });
    signal?.addEventListener('abort', stop, { once: true });
    const answer = page(String(input), init, call);
    answer.catch(() => {});
    try {
      const { status, headers, body } = await Promise.race([answer, aborted]);
      // Some statuses, such as 204, must not have a body.
      return new Response(body.length === 0 ? null : (body as Uint8Array<ArrayBuffer>), { status, headers });
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  };
}
