import { vi } from 'vitest';

/** More than work may take in one turn. */
const LONG_MS = 11;

/**
 * Runs work under a clock by which every piece of work takes long: each time the work asks for a turn, it gets a new one.
 *
 * @returns how many turns the event loop made meanwhile, and what the work returned
 */
export async function countedTurns<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += LONG_MS;
    return now;
  });
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    const result = await work();
    return { result, turns };
  } finally {
    isOver = true;
    // The last turn ends under the clock under which it began.
    for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
    clock.mockRestore();
  }
}
