/** A piece of a range of blocks, and the block it ends with. */
export interface Piece {
  readonly last: number;
}

/**
 * The pieces that make up the blocks `first` to `last`, in order. While one is worked on the next one is fetched, and no
 * further. When the reader stops, so does what is under way.
 *
 * @param fetch - a piece that begins with this block
 */
export async function* lookAhead<Fetched extends Piece>(
  first: number,
  last: number,
  fetch: (first: number, signal: AbortSignal) => Promise<Fetched>,
  signal: AbortSignal,
): AsyncGenerator<Fetched, void, void> {
  const stop = new AbortController();
  const pass = () => stop.abort(signal.reason);
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass, { once: true });
  const begin = (from: number) => {
    const fetched = fetch(from, stop.signal);
    // Its failure is met when its turn comes, if it does.
    fetched.catch(() => {});
    return fetched;
  };
  try {
    let next = begin(first);
    for (;;) {
      const piece = await next;
      const isLast = piece.last >= last;
      if (!isLast) next = begin(piece.last + 1);
      yield piece;
      if (isLast) return;
    }
  } finally {
    signal.removeEventListener('abort', pass);
    stop.abort();
  }
}
