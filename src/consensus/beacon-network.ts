import { PlumblineError } from '../errors.js';
import type { Hex } from '../primitives/hex.js';

/** Sizes that a preset of the consensus specifications sets. */
export interface BeaconPreset {
  readonly slotsPerEpoch: number;
  /** Epochs of a sync-committee period. */
  readonly epochsPerPeriod: number;
  /** Members of a sync committee; a multiple of 8. */
  readonly committeeSize: number;
  readonly secondsPerSlot: number;
}

/** One fork of a beacon chain. */
export interface BeaconFork {
  /** Lower-case name, as in the member `version` of the beacon API. */
  readonly name: string;
  readonly epoch: number;
  /** 4 bytes. */
  readonly version: Hex;
}

/** Everything that differs between beacon chains. */
export interface BeaconNetwork {
  readonly name: string;
  readonly preset: BeaconPreset;
  /** Unix time of slot 0, in seconds. */
  readonly genesisTime: number;
  /** 32 bytes. */
  readonly genesisValidatorsRoot: Hex;
  /** From genesis on, with rising epochs. A fork that this release cannot read may be listed: its slots are refused by name. */
  readonly forks: readonly BeaconFork[];
}

/** @source ethereum/consensus-specs@a08d8a6e presets/mainnet/altair.yaml, presets/mainnet/phase0.yaml */
export const MAINNET_PRESET: BeaconPreset = {
  slotsPerEpoch: 32,
  epochsPerPeriod: 256,
  committeeSize: 512,
  secondsPerSlot: 12,
};

/** Sync-committee period of a slot. */
export function computeSyncCommitteePeriodAtSlot({ preset }: BeaconNetwork, slot: number): number {
  return Math.floor(slot / (preset.slotsPerEpoch * preset.epochsPerPeriod));
}

/** Slot at a time, negative before genesis. @param now - Unix time in milliseconds */
export function slotAtTime({ genesisTime, preset }: BeaconNetwork, now: number): number {
  return Math.floor((now / 1000 - genesisTime) / preset.secondsPerSlot);
}

/** Newest slot in which an update may be signed: the clock may be a slot behind. @param now - Unix time in milliseconds */
export function latestSignatureSlot(network: BeaconNetwork, now: number): number {
  return slotAtTime(network, now) + 1;
}

/** Whole slots of a time, in milliseconds. */
export function slotsIn({ preset }: BeaconNetwork, ms: number): number {
  return Math.floor(ms / 1000 / preset.secondsPerSlot);
}

/** Unix time of a slot's start, in seconds. */
export function timeOfSlot({ genesisTime, preset }: BeaconNetwork, slot: number): number {
  return genesisTime + slot * preset.secondsPerSlot;
}

/** The fork that a slot belongs to, whether or not this release reads it. */
export function forkAt({ name, preset, forks }: BeaconNetwork, slot: number): BeaconFork {
  const epoch = Math.floor(slot / preset.slotsPerEpoch);
  const fork = forks.findLast((candidate) => candidate.epoch <= epoch);
  if (fork === undefined) throw forkUnsupported(name, 'before the first fork', epoch);
  return fork;
}

/** @param fork - its name, or where it lies if it has none */
export function forkUnsupported(network: string, fork: string, epoch?: number): PlumblineError<'FORK_UNSUPPORTED'> {
  const since = epoch === undefined ? '' : ` (epoch ${epoch})`;
  return new PlumblineError(
    'FORK_UNSUPPORTED',
    `${network}: this release does not read the fork "${fork}"${since} of layer 1; it reads Capella to Gloas, so use a newer release`,
    { network, fork, ...(epoch === undefined ? {} : { epoch }) },
  );
}
