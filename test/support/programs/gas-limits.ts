import type { Anvil } from '../anvil.js';
import { compareWithRevm, type Ends } from './compare-revm.js';
import { stepsOf } from './revm-engine.js';
import type { Scenario } from './scenario.js';

/** Later instructions of a program are not looked at. */
const MOST_STEPS = 1_000;

/**
 * Runs each scenario with every gas limit at which one more instruction of its outermost frame can be paid, and one below
 * it, and with limits between them that end it in inner frames.
 *
 * @param most - limits tried of one scenario, spread over all of them
 */
export async function compareAtEveryLimit(anvil: Anvil, scenarios: Iterable<Scenario>, most: number): Promise<Ends> {
  const ends: Ends = new Map();
  for (const one of scenarios) {
    const limits = spread([...(await limitsOf(anvil, one))], most);
    const runs = limits.map((gasLimit) => ({
      ...one,
      name: `${one.name} with ${gasLimit} gas`,
      message: { ...one.message, gasLimit },
    }));
    await compareWithRevm(anvil, runs, ends);
  }
  return ends;
}

async function limitsOf(anvil: Anvil, one: Scenario): Promise<Set<bigint>> {
  const limits = new Set<bigint>();
  const steps = await stepsOf(anvil, one, MOST_STEPS);
  const first = steps[0];
  if (first === undefined) return limits;
  const intrinsic = one.message.gasLimit - BigInt(first.gas);
  for (const [i, { gas, gasCost }] of steps.entries()) {
    const before = intrinsic + BigInt(first.gas - gas);
    const after = intrinsic + BigInt(first.gas - (steps[i + 1]?.gas ?? gas));
    for (const edge of [before + BigInt(gasCost), after])
      limits
        .add(edge - 1n)
        .add(edge)
        .add(edge + 1n);
    // A call: with these limits what it passes on ends within it.
    if (after - before > 2_000n) {
      for (let part = 1n; part < 16n; part++) limits.add(before + ((after - before) * part) / 16n);
    }
  }
  for (const limit of limits) if (limit < intrinsic || limit > one.message.gasLimit) limits.delete(limit);
  return limits;
}

function spread(limits: readonly bigint[], most: number): bigint[] {
  if (limits.length <= most) return [...limits];
  return Array.from({ length: most }, (_, i) => limits[Math.floor((i * limits.length) / most)]!);
}
