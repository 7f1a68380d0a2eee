import { vi } from 'vitest';

/** Waits until a check passes: as long as a busy machine may need, and no longer than it takes. @returns what it returns */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 10 });
