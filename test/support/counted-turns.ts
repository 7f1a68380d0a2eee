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

/** As `turnsOf`, under a clock by which every piece of work takes long: each time the work asks for a turn, it gets a new one. */
export async function countedTurns<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += LONG_MS;
    return now;
  });
  try {
    return await turnsOf(work);
  } finally {
    // The last turn ends under the clock under which it began.
    for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
    clock.mockRestore();
  }
}
