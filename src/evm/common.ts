import { Common, Mainnet } from '@ethereumjs/common';
import type { Hardfork, Network } from '../networks/network.js';

const ORDER: readonly Hardfork[] = ['london', 'paris', 'shanghai', 'cancun', 'prague', 'osaka'];

/** The rules of one block that matter outside the interpreter. */
export interface Rules {
  readonly hardfork: Hardfork;
  readonly chainId: number;
  readonly shanghai: boolean;
  readonly cancun: boolean;
  readonly prague: boolean;
  readonly osaka: boolean;
}

/** Largest gas limit of one transaction from Osaka on (EIP-7825). */
export const TRANSACTION_GAS_CAP = 16_777_216n;

/** The fork in force at a block: the last of the schedule that has begun, by number or by timestamp (seconds). */
export function hardforkAt(network: Pick<Network, 'forks'>, number: number, timestamp: number): Hardfork {
  let current = network.forks[0]?.hardfork ?? 'london';
  for (const { hardfork, block, timestamp: since } of network.forks) {
    const begun = since !== undefined ? since <= timestamp : (block ?? 0) <= number;
    if (begun) current = hardfork;
  }
  return current;
}

/** Rules of a network at a block. */
export function rulesAt(network: Pick<Network, 'forks' | 'chainId'>, number: number, timestamp: number): Rules {
  const hardfork = hardforkAt(network, number, timestamp);
  const since = (fork: Hardfork) => ORDER.indexOf(hardfork) >= ORDER.indexOf(fork);
  return {
    hardfork,
    chainId: network.chainId,
    shanghai: since('shanghai'),
    cancun: since('cancun'),
    prague: since('prague'),
    osaka: since('osaka'),
  };
}

/** The same rules in the form the interpreter takes. */
export function commonOf(rules: Rules): Common {
  return new Common({ chain: { ...Mainnet, chainId: rules.chainId }, hardfork: rules.hardfork });
}
