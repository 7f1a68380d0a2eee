import {
  beginning,
  KINDS,
  networkOf,
  readObject,
  type Scenario,
  type StepFixture,
} from '../../../conformance/consensus-scenario.js';
import type { AnyUpdate, LightClientStore } from '../../../src/consensus/rules.js';
import type { BeaconNetwork } from '../../../src/networks/network.js';
import { fixtureJson } from '../../support/fixtures.js';

/** Row of tampered.json with an object of its own. */
export interface TamperedRow {
  readonly name: string;
  readonly step: number;
  readonly op: keyof typeof KINDS;
  readonly currentSlot: number;
  readonly object: StepFixture['object'];
}

/** The chain over four forks that was made for plumbline: minimal preset, twelve steps, all of them accepted. */
export const scenario: Scenario = fixtureJson<Scenario>('consensus/synthetic/four-forks.json');
export const network: BeaconNetwork = networkOf({ json: fixtureJson }, scenario.config);
export const start: LightClientStore = beginning(network, scenario);

export function updateOf({ op, object }: Pick<StepFixture, 'op' | 'object'>): AnyUpdate {
  return readObject(network, KINDS[op as keyof typeof KINDS], object);
}

export const updates: readonly AnyUpdate[] = scenario.steps.map(updateOf);

export const lastSlot: number = scenario.steps.at(-1)!.currentSlot;

export function tampered(name: string): TamperedRow {
  const { cases } = fixtureJson<{ cases: TamperedRow[] }>('consensus/tampered.json');
  return cases.find((row) => row.name === name)!;
}
