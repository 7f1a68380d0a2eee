import { layerOneBlock } from '../src/consensus/containers.js';
import type { LightClientStore } from '../src/consensus/rules.js';
import type { BeaconNetwork } from '../src/networks/network.js';
import { type Area, differs, type Material, type Report } from './area.js';
import { type AnchorFixture, checkAnchor } from './consensus-anchor.js';
import {
  beginning,
  describeStore,
  KINDS,
  networkOf,
  readObject,
  reasonOf,
  run,
  type Scenario,
  type StepFixture,
  type StoreFixture,
} from './consensus-scenario.js';
import { tamperedArea } from './consensus-tampered.js';
import { checkGloas } from './gloas-forgeries.js';

const FOLDERS = ['sync', 'mainnet', 'synthetic', 'anchor', 'settled'];

function scenarioFiles(material: Material): string[] {
  const files = FOLDERS.flatMap((folder) => material.list(`consensus/${folder}`, /\.json$/));
  // These have no beacon chain: the area `settled` reads them.
  return files.filter((path) => !/settled\/.*(recorded-headers|-generated)/.test(path));
}

interface Outcome {
  store: LightClientStore;
  participants?: number | undefined;
  refused?: string;
}

/** The outcome of a step, in the form of the fixtures. */
function outcomeOf(network: BeaconNetwork, store: LightClientStore, step: StepFixture): Outcome {
  if (step.op === 'force') return { store };
  const kind = KINDS[step.op];
  let after = store;
  let participants: number | undefined;
  const refused = reasonOf(() => {
    const result = run(network, store, [readObject(network, kind, step.object)], step.currentSlot);
    after = result.store;
    participants = result.applied[0]?.participants;
    return result.refused?.reason ?? 'ACCEPTED';
  });
  return { store: after, participants, ...(refused === 'ACCEPTED' ? {} : { refused }) };
}

/** The members of a store that a fixture has. */
function storeDiffers(network: BeaconNetwork, expected: StoreFixture, store: LightClientStore): string | undefined {
  const actual = describeStore(network, store);
  const members = ['finalized', 'optimistic', 'period', 'currentCommittee', 'nextCommittee'] as const;
  const told = members.filter((name) => name in expected);
  return differs(
    told.map((name) => expected[name]),
    told.map((name) => actual[name]),
  );
}

async function runScenario(material: Material, report: Report, path: string): Promise<void> {
  const scenario = material.json<Scenario & AnchorFixture>(path);
  const network = networkOf(material, scenario.config, scenario.genesisValidatorsRoot);
  const name = path.replace('consensus/', '').replace('.json', '');
  let store = beginning(network, scenario);
  await report.check(`${name} first`, () => storeDiffers(network, scenario.first, store));
  for (const [i, step] of scenario.steps.entries()) {
    await report.check(`${name} ${i} ${step.op}`, () => {
      const before = store;
      const { refused, participants, store: after } = outcomeOf(network, store, step);
      store = after;
      if (refused !== step.strict.refused) return differs(step.strict.refused ?? 'accepted', refused ?? 'accepted');
      if (refused !== undefined) return before === after ? undefined : 'a refused object changed the store';
      if (step.op !== 'force' && participants !== step.strict.participants)
        return differs(step.strict.participants, participants);
      return storeDiffers(network, step.strict, store);
    });
  }
  await report.check(`${name} together`, () => runTogether(network, scenario));
  // The header of an anchor is the newest one; others rest on what is final.
  const header = scenario.execution === undefined ? store.finalized : store.optimistic;
  await checkAnchor(scenario, layerOneBlock(network, header), report, name);
}

/** The accepted updates of a scenario, with their signatures verified together. */
function runTogether(network: BeaconNetwork, { steps, ...scenario }: Scenario): string | undefined {
  const accepted = steps.filter(({ op, strict }) => op !== 'force' && strict.refused === undefined);
  const last = accepted.at(-1);
  if (last === undefined) return undefined;
  const objects = accepted.map(({ op, object }) => readObject(network, KINDS[op as keyof typeof KINDS], object));
  const { store, applied } = run(network, beginning(network, { ...scenario, steps }), objects, last.currentSlot);
  if (applied.length !== accepted.length) return differs(accepted.length, applied.length);
  return storeDiffers(network, last.strict, store);
}

/** Steps of light clients: the official suites, recorded updates, and chains made up for plumbline. */
const stepsArea: Area = {
  name: 'consensus',
  usesKernel: false,
  files: scenarioFiles,
  async run(material, report) {
    for (const path of scenarioFiles(material)) if (material.wants(path)) await runScenario(material, report, path);
    if (material.wants('gloas')) await checkGloas(material, report);
  },
};

export const CONSENSUS_AREAS: readonly Area[] = [stepsArea, tamperedArea];
