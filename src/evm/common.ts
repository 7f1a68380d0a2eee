import type { BlobSchedule } from '../ethereum/base-fee.js';
import { type ForkActivation, HARDFORKS, type Hardfork, type Network } from '../networks/network.js';
import { concatBytes } from '../primitives/bytes.js';

/** Rules of one block that are used outside the interpreter: of each fork, whether it is active, and more. */
export interface Rules extends Readonly<Record<Hardfork, boolean>> {
  readonly hardfork: Hardfork;
  readonly chainId: number;
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
  const isActive = Object.fromEntries(HARDFORKS.map((fork, i) => [fork, i <= order])) as Record<Hardfork, boolean>;
  let blobs: BlobSchedule | undefined;
  for (const fork of active) blobs = fork.blobs ?? blobs;
  return { ...isActive, hardfork, chainId: network.chainId, blobs };
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
