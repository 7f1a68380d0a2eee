import { expect } from 'vitest';
import { bytesToHex, type Hex } from '../../../src/primitives/hex.js';
import { addressOf } from '../random-programs.js';
import { type EthereumjsRun, runEthereumjs } from './ethereumjs-engine.js';
import { show } from './outcome.js';
import { type PlumblineRun, runPlumbline } from './plumbline-engine.js';
import type { Scenario } from './scenario.js';

const LAST_PRECOMPILE = addressOf(0x1ff);

/**
 * Runs scenarios with @ethereumjs/vm and with the library.
 *
 * @returns how often they ended in each way, by exception
 * @throws when anything differs, with the name of the scenario
 */
export async function compareWithEthereumjs(scenarios: Iterable<Scenario>): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  for (const one of scenarios) {
    const theirs = await runEthereumjs(one);
    const ours = await runPlumbline(one);
    expect(`${one.name} ${textOf(one, ours)}`).toBe(`${one.name} ${expectedText(one, theirs)}`);
    const end = theirs.exception ?? ('refused' in theirs.outcome ? 'refused' : 'success');
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  return ends;
}

function textOf(one: Scenario, { outcome, details }: PlumblineRun): string {
  const names = (details?.touched ?? []).flatMap(({ address, storageKeys }) => {
    return [bytesToHex(address), ...storageKeys.map((key) => bytesToHex(address) + bytesToHex(key))];
  });
  return show([outcome, exceptionOf(one, details?.exception), details?.gasUsedBeforeRefund ?? 0n, warm(one, names)]);
}

function expectedText(one: Scenario, { outcome, exception, gasUsedBeforeRefund, touched }: EthereumjsRun): string {
  return show([outcome, exceptionOf(one, exception), gasUsedBeforeRefund, warm(one, touched)]);
}

/** What a precompile fails with, as the recipient of a transaction, has no settled name. */
function exceptionOf({ message: { to } }: Scenario, exception: string | undefined): string | undefined {
  const isPrecompile = to !== undefined && bytesToHex(to) <= LAST_PRECOMPILE;
  // @ethereumjs/evm has no error of its own for it.
  if (exception === 'return data out of bounds') return 'out of gas';
  return isPrecompile && exception !== undefined ? 'failed' : exception;
}

/**
 * Slots, and contracts without any: created accounts and precompiles are named by one engine alone, and so is what a delegation
 * names, if the gas is short for the call.
 */
function warm({ alloc }: Scenario, names: readonly string[]): string[] {
  const isSlot = (name: string) => name.length > 42;
  const withSlots = new Set(names.filter(isSlot).map((name) => name.slice(0, 42)));
  const delegates = new Set(Object.values(alloc).map((account) => `0x${account?.code?.slice(8)}`));
  const counts = (name: string) => {
    return alloc[name as Hex]?.code !== undefined && !withSlots.has(name) && !delegates.has(name);
  };
  return names.filter((name) => isSlot(name) || counts(name)).sort();
}
