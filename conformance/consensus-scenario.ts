import {
  denebExecutionHeader,
  getLcExecutionRoot,
  type LightClientHeader,
  type LightClientObject,
  layerOneBlock,
  lightClientHeader,
  type ObjectKind,
  objectFrom,
  syncCommittee,
} from '../src/consensus/containers.js';
import {
  type AnyUpdate,
  initializeLightClientStore,
  type LightClientStore,
  type ProcessedUpdates,
  processLightClientUpdates,
} from '../src/consensus/rules.js';
import { computeSyncCommitteePeriodAtSlot, sizesOf } from '../src/consensus/slots.js';
import { isPlumblineError } from '../src/errors.js';
import { BEACON_PRESETS, type BeaconNetwork } from '../src/networks/network.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { finish } from '../src/scheduling/pieces.js';
import type { Material } from './area.js';

/** An object of a beacon node as the fixtures write it. `ssz` is in base64. */
export interface ObjectFixture {
  readonly version: string;
  readonly json?: unknown;
  readonly ssz?: string;
}

interface HeaderFixture {
  slot: string;
  root: Hex;
  executionRoot: Hex;
  blockHash: Hex;
  blockNumber: string;
  stateRoot: Hex;
}

/** The store after a step. */
export interface StoreFixture {
  readonly finalized: HeaderFixture;
  readonly optimistic?: HeaderFixture;
  readonly period: number;
  readonly currentCommittee: Hex;
  readonly nextCommittee: Hex | null;
}

export interface StepFixture {
  readonly op: 'update' | 'finality' | 'optimistic' | 'force';
  readonly currentSlot: number;
  readonly object: ObjectFixture;
  readonly strict: StoreFixture & { readonly refused?: string; readonly participants?: number };
}

export interface Scenario {
  readonly name: string;
  readonly config: string;
  readonly genesisValidatorsRoot?: Hex;
  readonly trustedBlockRoot: Hex;
  readonly bootstrap?: ObjectFixture;
  readonly store?: {
    finalized_header: unknown;
    current_sync_committee: unknown;
    next_sync_committee: unknown;
  };
  readonly first: StoreFixture;
  readonly steps: readonly StepFixture[];
}

interface ConfigFixture {
  slotsPerEpoch: number;
  epochsPerPeriod: number;
  committeeSize: number;
  secondsPerSlot: number;
  genesisTime: number;
  genesisValidatorsRoot: Hex | null;
  forks: Record<string, { epoch: number; version: Hex }>;
}

/** The network of a scenario. @param genesis - another genesis validators root than that of the configuration */
export function networkOf(material: Pick<Material, 'json'>, name: string, genesis?: Hex): BeaconNetwork {
  const { genesisTime, genesisValidatorsRoot, forks, secondsPerSlot, ...sizes } =
    material.json<Record<string, ConfigFixture>>('consensus/configs.json')[name]!;
  const preset = sizes.committeeSize === BEACON_PRESETS.minimal.committeeSize ? 'minimal' : 'mainnet';
  if (JSON.stringify(sizes) !== JSON.stringify(BEACON_PRESETS[preset]))
    throw new Error(`${name} has other sizes than ${preset}`);
  return {
    name,
    preset,
    secondsPerSlot,
    genesisTime,
    genesisValidatorsRoot: genesis ?? genesisValidatorsRoot!,
    forks: Object.entries(forks).map(([fork, { epoch, version }]) => ({ name: fork, epoch, version })),
    depositChainId: 1,
  };
}

export const KINDS = { update: 'update', finality: 'finalityUpdate', optimistic: 'optimisticUpdate' } as const;

export function readObject<K extends ObjectKind>(
  network: BeaconNetwork,
  kind: K,
  object: ObjectFixture,
): LightClientObject<K> {
  if (object.json !== undefined) return objectFrom(network, kind, { version: object.version, data: object.json });
  return objectFrom(network, kind, base64(object.ssz!));
}

export const base64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));

/** The store that a scenario begins with: from its bootstrap, or as it stands there. */
export function beginning(network: BeaconNetwork, scenario: Scenario): LightClientStore {
  if (scenario.bootstrap === undefined) return believedStore(network, scenario);
  const verdict = initializeLightClientStore(network, readObject(network, 'bootstrap', scenario.bootstrap), {
    root: hexToBytes(scenario.trustedBlockRoot),
    currentSlot: Number.MAX_SAFE_INTEGER,
    maxAgeSlots: Number.MAX_SAFE_INTEGER,
  });
  if (!verdict.verified) throw new Error(`the bootstrap was refused: ${verdict.reason}`);
  return verdict.store;
}

function believedStore(network: BeaconNetwork, { store }: Scenario): LightClientStore {
  const header = lightClientHeader(denebExecutionHeader).fromJson(store!.finalized_header, 'finalized_header');
  const committee = syncCommittee(sizesOf(network).committeeSize);
  const current = committee.fromJson(store!.current_sync_committee, 'current_sync_committee');
  const next = store!.next_sync_committee;
  return {
    finalized: header,
    optimistic: header,
    current,
    ...(next === null ? {} : { next: committee.fromJson(next, 'next_sync_committee') }),
  };
}

export function run(
  network: BeaconNetwork,
  store: LightClientStore,
  updates: readonly AnyUpdate[],
  slot: number,
): ProcessedUpdates {
  return finish(processLightClientUpdates(network, store, updates, slot), () => undefined) as ProcessedUpdates;
}

/** Runs a body that refuses by a reason, or throws: the reason in the words of the fixtures. */
export function reasonOf(body: () => string): string {
  try {
    return body();
  } catch (error) {
    if (isPlumblineError(error, 'PROOF_MALFORMED')) return 'MALFORMED';
    if (isPlumblineError(error, 'FORK_UNSUPPORTED') || isPlumblineError(error, 'FORK_SCHEDULE')) return error.code;
    throw error;
  }
}

/** A store in the form of the fixtures. */
export function describeStore(network: BeaconNetwork, store: LightClientStore): StoreFixture {
  const committee = syncCommittee(sizesOf(network).committeeSize);
  return {
    finalized: describeHeader(network, store.finalized),
    optimistic: describeHeader(network, store.optimistic),
    period: computeSyncCommitteePeriodAtSlot(network, Number(store.finalized.beacon.slot)),
    currentCommittee: bytesToHex(committee.hashTreeRoot(store.current)),
    nextCommittee: store.next === undefined ? null : bytesToHex(committee.hashTreeRoot(store.next)),
  };
}

function describeHeader(network: BeaconNetwork, header: LightClientHeader): HeaderFixture {
  const { slot, beaconRoot, blockHash, number, stateRoot } = layerOneBlock(network, header);
  // The recorded scenarios end before Gloas.
  if (!('execution' in header)) throw new Error('a header of Gloas has no execution header');
  return {
    slot: String(slot),
    root: bytesToHex(beaconRoot),
    executionRoot: bytesToHex(getLcExecutionRoot(network, header)),
    blockHash: bytesToHex(blockHash),
    blockNumber: String(number),
    stateRoot: bytesToHex(stateRoot!),
  };
}
