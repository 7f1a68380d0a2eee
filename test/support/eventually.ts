import { vi } from 'vitest';

/** Waits until a check passes: as long as a busy machine may need, and no longer than it takes. @returns what it returns */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 10 });

/**
 * Lets everything in this process happen that waits for nothing but its turn: messages, timers without a delay, answers.
 * Turns are counted and not time, which a busy machine would not give it.
 */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve));
}
