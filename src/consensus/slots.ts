import { PlumblineError } from '../errors.js';
import { BEACON_PRESETS, type BeaconFork, type BeaconNetwork, type BeaconSizes } from '../networks/network.js';

/** Sizes of a network's preset. */
export function sizesOf({ preset }: BeaconNetwork): BeaconSizes {
  return BEACON_PRESETS[preset];
}

/** Slots of a sync-committee period. */
export function slotsPerPeriod(network: BeaconNetwork): number {
  const { slotsPerEpoch, epochsPerPeriod } = sizesOf(network);
  return slotsPerEpoch * epochsPerPeriod;
}

/** Sync-committee period of a slot. */
export function computeSyncCommitteePeriodAtSlot(network: BeaconNetwork, slot: number): number {
  return Math.floor(slot / slotsPerPeriod(network));
}

/** Epoch of a slot. */
export function computeEpochAtSlot(network: BeaconNetwork, slot: number): number {
  return Math.floor(slot / sizesOf(network).slotsPerEpoch);
}

/** Slot at a time, negative before genesis. @param now - Unix time in milliseconds */
export function slotAtTime({ genesisTime, secondsPerSlot }: BeaconNetwork, now: number): number {
  return Math.floor((now / 1000 - genesisTime) / secondsPerSlot);
}

/** Newest slot in which an update may be signed: the clock may be a slot behind. @param now - Unix time in milliseconds */
export function latestSignatureSlot(network: BeaconNetwork, now: number): number {
  return slotAtTime(network, now) + 1;
}

/** Whole slots of a time, in milliseconds. */
export function slotsIn({ secondsPerSlot }: BeaconNetwork, ms: number): number {
  return Math.floor(ms / 1000 / secondsPerSlot);
}

/** Unix time of a slot's start, in seconds. */
export function timeOfSlot({ genesisTime, secondsPerSlot }: BeaconNetwork, slot: number): number {
  return genesisTime + slot * secondsPerSlot;
}

/** The fork that a slot belongs to, whether or not this release reads it. */
export function forkAt(network: BeaconNetwork, slot: number): BeaconFork {
  const epoch = computeEpochAtSlot(network, slot);
  const fork = network.forks.findLast((candidate) => candidate.epoch !== undefined && candidate.epoch <= epoch);
  if (fork === undefined) throw forkUnsupported(network.name, 'before the first fork', epoch);
  return fork;
}

/** The epoch of a fork that is not scheduled, as the beacon API writes it. */
export const FAR_FUTURE_EPOCH = '18446744073709551615';

/**
 * What differs in a beacon node's answer to `/eth/v1/config/spec`. A member that it does not have, and a fork that it does not have
 * scheduled, are no difference.
 *
 * @source ethereum/beacon-APIs apis/config/spec.yaml
 */
export function specDifference(network: BeaconNetwork, answer: unknown): string | undefined {
  const { data } = (answer ?? {}) as { data?: unknown };
  const spec = (typeof data === 'object' && data !== null ? data : {}) as Readonly<Record<string, unknown>>;
  const { slotsPerEpoch, epochsPerPeriod, committeeSize } = sizesOf(network);
  const expected: [string, number | string][] = [
    ['SLOTS_PER_EPOCH', slotsPerEpoch],
    ['EPOCHS_PER_SYNC_COMMITTEE_PERIOD', epochsPerPeriod],
    ['SYNC_COMMITTEE_SIZE', committeeSize],
    ['SECONDS_PER_SLOT', network.secondsPerSlot],
    ['DEPOSIT_CHAIN_ID', network.depositChainId],
  ];
  for (const { name, epoch, version } of network.forks) {
    const fork = name === 'phase0' ? 'GENESIS' : name.toUpperCase();
    expected.push([`${fork}_FORK_VERSION`, version.toLowerCase()]);
    if (epoch !== undefined) expected.push([`${fork}_FORK_EPOCH`, epoch]);
  }
  for (const [name, value] of expected) {
    const found = spec[name];
    if (found === undefined || found === FAR_FUTURE_EPOCH || String(found).toLowerCase() === String(value)) continue;
    return `${name} is ${String(found).slice(0, 32)}, not ${value}`;
  }
  return undefined;
}

/** Unix time from which a fork is active, in seconds; undefined while it is not scheduled. */
export function timeOfFork(network: BeaconNetwork, name: string): number | undefined {
  const epoch = network.forks.find((fork) => fork.name === name)?.epoch;
  return epoch === undefined ? undefined : timeOfSlot(network, epoch * sizesOf(network).slotsPerEpoch);
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
