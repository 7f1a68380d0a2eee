import { vi } from 'vitest';

/** More than work may take in one turn. */
const LONG_MS = 11;

/** How many turns the event loop made while work ran, and what the work returned. */
export async function turnsOf<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    const result = await work();
    return { turns, result };
  } finally {
    isOver = true;
  }
}

/**
 * Runs work under a clock by which every piece of work takes long: each time the work asks for a turn, it gets a new one.
 *
 * @returns how many turns it waited for, and what the work returned. A wait reads the clock twice, when it begins and when it ends, and
 *   little else reads it; turns that the event loop makes of its own, as for a store, do not count
 */
export async function countedTurns<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
  let reads = 0;
  const began = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => began + ++reads * LONG_MS);
  try {
    const result = await work();
    return { turns: reads / 2, result };
  } finally {
    // The last turn ends under the clock under which it began.
    for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
    clock.mockRestore();
  }
}
