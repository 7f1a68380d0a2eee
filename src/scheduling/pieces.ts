/** Asks whether to go on: a promise to await first, or undefined to go straight on. It throws to abort. */
export type Pause = () => Promise<void> | undefined;

/** A calculation in pieces of a few milliseconds; it can wait, or end, at each `yield`. */
export type Pieces<T> = Generator<undefined, T, undefined>;

/** Runs to the end, with a call of `pause` after each piece. The result is a promise once `pause` has given one. */
export function finish<T>(pieces: Pieces<T>, pause: Pause): T | Promise<T> {
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
    const waiting = pause();
    if (waiting !== undefined) return finishLater(pieces, pause, waiting);
  }
}

async function finishLater<T>(pieces: Pieces<T>, pause: Pause, first: Promise<void>): Promise<T> {
  await first;
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
    await pause();
  }
}
