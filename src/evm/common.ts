import type { BlobSchedule } from '../ethereum/base-fee.js';
import { type ForkActivation, HARDFORKS, type Hardfork, type Network } from '../networks/network.js';
import { concatBytes } from '../primitives/bytes.js';

/** Rules of one block that are used outside the interpreter. */
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
  readonly amsterdam: boolean;
  /** Undefined if blob transactions are not accepted. */
  readonly blobs: BlobSchedule | undefined;
}

/**
 * Largest gas limit of one transaction from Osaka on (EIP-7825). From Amsterdam on the largest execution gas; what a limit has above
 * it is the reservoir of state gas (EIP-8037).
 */
export const TRANSACTION_GAS_CAP = 16_777_216n;
const TRANSACTION_TOTAL_CAP = 2n ** 32n - 1n;

/** Largest gas limit of one transaction (EIP-7825, EIP-8037); undefined before Osaka. */
export function transactionGasCap(rules: Pick<Rules, 'osaka' | 'amsterdam'>): bigint | undefined {
  if (rules.amsterdam) return TRANSACTION_TOTAL_CAP;
  return rules.osaka ? TRANSACTION_GAS_CAP : undefined;
}

/** How many forks are active at a block, from the first one on. A fork is active only if all before it are. */
function activeForks(forks: readonly ForkActivation[], number: number, timestamp: number): number {
  const firstInactive = forks.findIndex(({ block, timestamp: since }) =>
    since !== undefined ? since > timestamp : (block ?? 0) > number,
  );
  return firstInactive < 0 ? forks.length : firstInactive;
}

/** By the forks of a network, and how many of them are active. */
const known = new WeakMap<readonly ForkActivation[], Rules[]>();

/** Rules of a network at a block: those of the last active fork, by number or by timestamp (seconds). */
export function rulesAt(network: Pick<Network, 'forks' | 'chainId'>, number: number, timestamp: number): Rules {
  const { forks, chainId } = network;
  let rules = known.get(forks);
  if (rules === undefined) {
    rules = [];
    known.set(forks, rules);
  }
  const count = activeForks(forks, number, timestamp);
  if (rules[count]?.chainId !== chainId) rules[count] = rulesOf(forks.slice(0, count), network);
  return rules[count]!;
}

function rulesOf(active: readonly ForkActivation[], network: Pick<Network, 'forks' | 'chainId'>): Rules {
  const hardfork = active[active.length - 1]?.hardfork ?? network.forks[0]?.hardfork ?? 'london';
  const order = HARDFORKS.indexOf(hardfork);
  const since = (fork: Hardfork) => order >= HARDFORKS.indexOf(fork);
  let blobs: BlobSchedule | undefined;
  for (const fork of active) blobs = fork.blobs ?? blobs;
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
    amsterdam: since('amsterdam'),
    blobs,
  };
}

const P256_VERIFY = 0x100;

/** @source Ethereum Yellow Paper, appendix E; EIP-198, 196, 197 (Byzantium), 152 (Istanbul), 4844 (Cancun), 2537 (Prague) */
function lastInRow({ byzantium, istanbul, cancun, prague }: Rules): number {
  if (prague) return 0x11;
  if (cancun) return 0x0a;
  if (istanbul) return 0x09;
  return byzantium ? 0x08 : 0x04;
}

/** Numbers of the standard addresses that are precompiles under these rules, in order: from 1 to 0x11, and 0x100. */
export function activePrecompiles(rules: Rules): readonly number[] {
  const row = Array.from({ length: lastInRow(rules) }, (_, i) => i + 1);
  // EIP-7951
  return rules.osaka ? [...row, P256_VERIFY] : row;
}

const PREFIX = Uint8Array.of(0xef, 0x01, 0x00);
const DELEGATION_BYTES = 23;

/** Whether byte code is a delegation to another account's code (EIP-7702). */
export function isDelegation(code: Uint8Array): boolean {
  return code.length === DELEGATION_BYTES && PREFIX.every((byte, i) => code[i] === byte);
}

/** Byte code of a delegation. @param address - 20 bytes */
export function delegationTo(address: Uint8Array): Uint8Array {
  return concatBytes(PREFIX, address);
}

/** Address that a delegation names, 20 bytes. */
export function delegateOf(delegation: Uint8Array): Uint8Array {
  return delegation.subarray(PREFIX.length);
}
