import { pathToFileURL } from 'node:url';

/** One figure of a bench run: a ratio between two things measured in the same run, and the bar it is held to, if any. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** What the value is: `x` for a ratio, else a unit. */
  readonly unit: string;
  /** Missed when the value is below (`atLeast`) or above (`atMost`). */
  readonly bar?: { readonly atLeast?: number; readonly atMost?: number };
  readonly note?: string;
}

export interface BenchArea {
  readonly name: string;
  /** The question the area answers, printed first. */
  readonly question: string;
  /** Areas that run before it when it is asked for by name: what it stands on. */
  readonly standsOn?: readonly string[];
  run(options: { /** `--soak`; 0 for none. */ readonly soakMinutes: number }): Promise<Figure[]>;
}

/** Builds `dist`, unless it is up to date. */
export async function buildLibrary(): Promise<void> {
  const script = pathToFileURL(`${process.cwd()}/scripts/build.mjs`).href;
  await ((await import(script)) as { buildLibrary(): Promise<void> }).buildLibrary();
}

/**
 * Median time of one call in nanoseconds for each body, the bodies taking turns so that noise hits them alike.
 *
 * @param rounds - turns each body takes
 * @param turnMs - how long a turn should last
 */
export function alternate(bodies: Record<string, () => unknown>, rounds = 15, turnMs = 8): Record<string, number> {
  const names = Object.keys(bodies);
  const repeats = new Map<string, number>();
  for (const name of names) {
    const body = bodies[name]!;
    let count = 1;
    for (;;) {
      // The fastest of three: one pause of the collector must not pass for a slow body.
      let elapsed = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < 3; attempt++) {
        const started = performance.now();
        for (let i = 0; i < count; i++) body();
        elapsed = Math.min(elapsed, performance.now() - started);
      }
      if (elapsed >= turnMs || count >= 1 << 24) break;
      count = elapsed < turnMs / 10 ? count * 8 : Math.ceil((count * turnMs * 1.2) / elapsed);
    }
    repeats.set(name, count);
  }
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const body = bodies[name]!;
      const count = repeats.get(name)!;
      const started = performance.now();
      for (let i = 0; i < count; i++) body();
      times[name]!.push(((performance.now() - started) * 1e6) / count);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name]!)]));
}

/**
 * As `alternate`, for bodies that are waited for.
 *
 * @param options.warmUpMs - how long each body is called before anything is measured
 * @param options.turnMs - how long a turn should last
 * @returns milliseconds of a call in each round, by body
 */
export async function alternateAsync(
  bodies: Record<string, () => Promise<unknown>>,
  { rounds = 25, warmUpMs = 1_500, turnMs = 15 } = {},
): Promise<Record<string, number[]>> {
  const turns = Object.entries(bodies).map(([name, body]) => ({ name, body, count: 1, times: [] as number[] }));
  for (const turn of turns) {
    const warm = performance.now() + warmUpMs;
    while (performance.now() < warm) await turn.body();
    const started = performance.now();
    for (let i = 0; i < 5; i++) await turn.body();
    turn.count = Math.max(1, Math.round((5 * turnMs) / (performance.now() - started)));
  }
  for (let round = 0; round < rounds; round++) {
    for (const { body, count, times } of turns) {
      const started = performance.now();
      for (let i = 0; i < count; i++) await body();
      times.push((performance.now() - started) / count);
    }
  }
  return Object.fromEntries(turns.map(({ name, times }) => [name, times]));
}

/** Median of the ratios within each round: what slows the machine down for a while slows both. */
export function medianRatio(times: readonly number[], baseline: readonly number[]): number {
  return median(times.map((time, round) => time / baseline[round]!));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
