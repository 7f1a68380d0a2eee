import type { BlobSchedule } from '../ethereum/blob-gas.js';
import { type ForkActivation, HARDFORKS, type Hardfork, type Network } from '../networks/network.js';

/** The rules of one block that matter outside the interpreter. */
export interface Rules {
  readonly hardfork: Hardfork;
  readonly chainId: number;
  readonly homestead: boolean;
  readonly spuriousDragon: boolean;
  readonly byzantium: boolean;
  readonly constantinople: boolean;
  readonly istanbul: boolean;
  readonly berlin: boolean;
  readonly london: boolean;
  readonly paris: boolean;
  readonly shanghai: boolean;
  readonly cancun: boolean;
  readonly prague: boolean;
  readonly osaka: boolean;
  /** Undefined where no blob transactions are let in. */
  readonly blobs: BlobSchedule | undefined;
}

/** Largest gas limit of one transaction from Osaka on (EIP-7825). */
export const TRANSACTION_GAS_CAP = 16_777_216n;

/** Those forks of the schedule that have begun at a block, in order; each needs the one before it. */
function begunAt(network: Pick<Network, 'forks'>, number: number, timestamp: number): readonly ForkActivation[] {
  const { forks } = network;
  const begun = ({ block, timestamp: since }: ForkActivation) =>
    since !== undefined ? since <= timestamp : (block ?? 0) <= number;
  const waiting = forks.findIndex((fork) => !begun(fork));
  return waiting < 0 ? forks : forks.slice(0, waiting);
}

/** Rules of a network at a block: of the last fork of its schedule that has begun, by number or by timestamp (seconds). */
export function rulesAt(network: Pick<Network, 'forks' | 'chainId'>, number: number, timestamp: number): Rules {
  const begun = begunAt(network, number, timestamp);
  const hardfork = begun[begun.length - 1]?.hardfork ?? network.forks[0]?.hardfork ?? 'london';
  const order = HARDFORKS.indexOf(hardfork);
  const since = (fork: Hardfork) => order >= HARDFORKS.indexOf(fork);
  let blobs: BlobSchedule | undefined;
  for (const fork of begun) blobs = fork.blobs ?? blobs;
  return {
    hardfork,
    chainId: network.chainId,
    homestead: since('homestead'),
    spuriousDragon: since('spuriousDragon'),
    byzantium: since('byzantium'),
    constantinople: since('constantinople'),
    istanbul: since('istanbul'),
    berlin: since('berlin'),
    london: since('london'),
    paris: since('paris'),
    shanghai: since('shanghai'),
    cancun: since('cancun'),
    prague: since('prague'),
    osaka: since('osaka'),
    blobs,
  };
}
