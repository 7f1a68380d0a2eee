import { containersOf, type LightClientObject, type ObjectKind, objectFrom } from '../src/consensus/containers.js';
import { initializeLightClientStore, type LightClientStore } from '../src/consensus/rules.js';
import { sizesOf } from '../src/consensus/slots.js';
import { toJson } from '../src/consensus/ssz.js';
import type { BeaconNetwork } from '../src/networks/network.js';
import { concatBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { type Area, differs, type Material } from './area.js';
import {
  beginning,
  describeStore,
  KINDS,
  networkOf,
  type ObjectFixture,
  readObject,
  reasonOf,
  run,
  type Scenario,
  type StepFixture,
} from './consensus-scenario.js';

const PATH = 'consensus/tampered.json';

interface Patch {
  path: (string | number)[];
  value?: unknown;
  xor?: Hex;
  remove?: true;
  insert?: unknown;
}

interface Tampered {
  name: string;
  base: string;
  step: number | 'bootstrap';
  refused: string;
  object?: ObjectFixture;
  op?: keyof typeof KINDS;
  currentSlot?: number;
  patch?: Patch[];
  ssz?: { truncate?: number; append?: Hex; at?: number; bytes?: Hex }[];
  version?: string;
  config?: string;
  genesisValidatorsRoot?: Hex;
  trustedBlockRoot?: Hex;
  maxAgeSlots?: number;
}

function applyPatch(root: unknown, { path, value, xor, remove, insert }: Patch): void {
  const key = path.at(-1)!;
  // biome-ignore lint/suspicious/noExplicitAny: any place of any JSON
  const parent = path.slice(0, -1).reduce<any>((at, name) => at[name], root);
  if (remove === true) Array.isArray(parent) ? parent.splice(key as number, 1) : delete parent[key];
  else if (insert !== undefined) parent.splice(key, 0, insert);
  else if (xor !== undefined) {
    const mask = hexToBytes(xor);
    parent[key] = bytesToHex(hexToBytes(parent[key]).map((byte, i) => byte ^ (mask[i] ?? 0)));
  } else parent[key] = value;
}

function alterBytes(
  bytes: Uint8Array,
  { truncate, append, at, bytes: replacement }: NonNullable<Tampered['ssz']>[number],
) {
  if (truncate !== undefined) return bytes.slice(0, -truncate);
  if (append !== undefined) return concatBytes(bytes, hexToBytes(append));
  const altered = bytes.slice();
  altered.set(hexToBytes(replacement!), at);
  return altered;
}

/** The altered object, read on the network that it is given to. */
function readAltered<K extends ObjectKind>(
  base: BeaconNetwork,
  network: BeaconNetwork,
  kind: K,
  object: ObjectFixture,
  { patch, ssz, version }: Tampered,
): LightClientObject<K> {
  const named = { ...object, ...(version === undefined ? {} : { version }) };
  if (patch === undefined && ssz === undefined) return readObject(network, kind, named);
  const original = readObject(base, kind, object);
  const container = containersOf(original.layout, sizesOf(base).committeeSize)[kind];
  if (ssz !== undefined) {
    return objectFrom(network, kind, ssz.reduce(alterBytes, container.encode(original.data)));
  }
  const json: unknown = structuredClone(object.json ?? toJson(original.data));
  for (const one of patch!) applyPatch(json, one);
  return readObject(network, kind, { version: named.version, json });
}

/** Stores of each base before its steps; the bases have the same cases in turns. */
type Prepared = (base: string, step: number) => LightClientStore;

function preparedStores(material: Material): Prepared {
  const held = new Map<string, LightClientStore[]>();
  return (base, step) => {
    const scenario = material.json<Scenario>(`consensus/${base}`);
    const network = networkOf(material, scenario.config, scenario.genesisValidatorsRoot);
    const stores = held.get(base) ?? [beginning(network, scenario)];
    held.set(base, stores);
    for (let i = stores.length - 1; i < step; i++) {
      const { op, object, currentSlot } = scenario.steps[i] as StepFixture & { op: keyof typeof KINDS };
      stores.push(run(network, stores[i]!, [readObject(network, KINDS[op], object)], currentSlot).store);
    }
    return stores[step]!;
  };
}

function judgeCase(material: Material, storeBefore: Prepared, row: Tampered): string | undefined {
  const scenario = material.json<Scenario>(`consensus/${row.base}`);
  const base = networkOf(material, scenario.config, scenario.genesisValidatorsRoot);
  const genesis = row.genesisValidatorsRoot ?? (row.config === undefined ? scenario.genesisValidatorsRoot : undefined);
  const network = networkOf(material, row.config ?? scenario.config, genesis);
  if (row.step === 'bootstrap') {
    const reason = reasonOf(() => {
      const object = readAltered(base, network, 'bootstrap', row.object ?? scenario.bootstrap!, row);
      const verdict = initializeLightClientStore(network, object, {
        root: hexToBytes(row.trustedBlockRoot ?? scenario.trustedBlockRoot),
        currentSlot: row.currentSlot ?? Number.MAX_SAFE_INTEGER,
        maxAgeSlots: row.maxAgeSlots ?? Number.MAX_SAFE_INTEGER,
      });
      return verdict.verified ? 'ACCEPTED' : verdict.reason;
    });
    return differs(row.refused, reason);
  }
  const store = storeBefore(row.base, row.step);
  const step = scenario.steps[row.step]!;
  const kind = KINDS[row.op ?? (step.op as keyof typeof KINDS)];
  const before = describeStore(network, store);
  let after = store;
  const reason = reasonOf(() => {
    const object = readAltered(base, network, kind, row.object ?? step.object, row);
    const result = run(network, store, [object], row.currentSlot ?? step.currentSlot);
    after = result.store;
    return result.refused?.reason ?? 'ACCEPTED';
  });
  if (reason === 'ACCEPTED') return differs(row.refused, reason);
  return differs([row.refused, before], [reason, describeStore(network, after)]);
}

/** Objects of which one thing was altered, each with the check that refuses it. */
export const tamperedArea: Area = {
  name: 'consensus tampered',
  usesKernel: false,
  showsEveryFailure: true,
  files: (material) => [PATH].filter(material.has),
  async run(material, report) {
    const storeBefore = preparedStores(material);
    for (const [i, row] of material.json<{ cases: Tampered[] }>(PATH).cases.entries()) {
      await report.check(`${i} ${row.base} ${row.step}: ${row.name}`, () => judgeCase(material, storeBefore, row));
    }
  },
};
