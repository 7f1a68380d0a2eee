import { setTimeout as wait } from 'node:timers/promises';
import type { Anvil } from '../test/support/anvil.js';

/** Processor time of one measurement, at least: the clock of another process ticks every 10 ms. */
const TURN_MS = 250;
const IDLE_MS = 1_000;

/** Milliseconds of processor time of a run. */
export async function costOf(run: () => Promise<unknown>, cpuMs: () => number, idleShare = 0): Promise<number> {
  let runs = 0;
  const [began, cpu] = [performance.now(), cpuMs()];
  for (;;) {
    await run();
    runs++;
    const used = cpuMs() - cpu - idleShare * (performance.now() - began);
    if (used >= TURN_MS) return used / runs;
  }
}

/** Processor time of this process so far, milliseconds. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The share of a processor that an idle anvil takes. */
export async function idleShareOf(anvil: Anvil): Promise<number> {
  const cpu = anvil.cpuMs();
  await wait(IDLE_MS);
  return (anvil.cpuMs() - cpu) / IDLE_MS;
}
