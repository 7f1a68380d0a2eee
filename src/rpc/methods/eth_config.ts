import { HISTORY_CONTRACT } from '../../ethereum/constants.js';
import { type Rules, rulesAt } from '../../evm/common.js';
import { activePrecompiles } from '../../evm/precompile-ids.js';
import {
  BEACON_ROOTS_ADDRESS,
  CONSOLIDATION_REQUESTS_ADDRESS,
  WITHDRAWAL_REQUESTS_ADDRESS,
} from '../../evm/system-calls.js';
import type { ForkActivation, Network } from '../../networks/network.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { COMPUTES } from '../method-rows.js';
import { requireBlock } from '../resolve-block.js';
import { defineMethod } from './context.js';

/** Names of the precompiles by the number of their address. @source EIP-7910 */
const PRECOMPILE_NAMES: Readonly<Record<number, string>> = {
  1: 'ECREC',
  2: 'SHA256',
  3: 'RIPEMD160',
  4: 'ID',
  5: 'MODEXP',
  6: 'BN254_ADD',
  7: 'BN254_MUL',
  8: 'BN254_PAIRING',
  9: 'BLAKE2F',
  10: 'KZG_POINT_EVALUATION',
  11: 'BLS12_G1ADD',
  12: 'BLS12_G1MSM',
  13: 'BLS12_G2ADD',
  14: 'BLS12_G2MSM',
  15: 'BLS12_PAIRING_CHECK',
  16: 'BLS12_MAP_FP_TO_G1',
  17: 'BLS12_MAP_FP2_TO_G2',
  256: 'P256VERIFY',
};

/**
 * The fork in force, the next one and the last one that is planned.
 *
 * @source EIP-7910
 */
export const eth_config = defineMethod<[], Readonly<Record<'current' | 'next' | 'last', object | null>>>(
  'eth_config',
  COMPUTES,
  async ({ chain }, _, call) => {
    const { network } = chain;
    const [head, genesis] = await Promise.all([chain.head(call), requireBlock({ chain }, { number: 0 }, call)]);
    const { number, timestamp } = head.header;
    const begun = network.forks.filter((fork) => hasBegun(fork, number, timestamp));
    const planned = network.forks.slice(begun.length);
    const activations = activationsOf(network.forks, genesis.header.timestamp);
    const configOf = (fork: ForkActivation | undefined) => {
      if (fork === undefined) return null;
      const activationTime =
        fork.timestamp === undefined || fork.timestamp <= genesis.header.timestamp ? 0 : fork.timestamp;
      const rules = rulesAt(network, Math.max(number, fork.block ?? 0), fork.timestamp ?? timestamp);
      const passed = activations.filter((at) => at <= (fork.timestamp ?? fork.block ?? 0));
      return {
        activationTime,
        blobSchedule: blobsOf(rules),
        chainId: toQuantity(network.chainId),
        forkId: forkId(genesis.hash, passed),
        precompiles: Object.fromEntries(
          activePrecompiles(rules)
            .map((at): [string, Hex] => [PRECOMPILE_NAMES[at]!, `0x${at.toString(16).padStart(40, '0')}`])
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        ),
        systemContracts: systemContractsOf(rules, network),
      };
    };
    const next = configOf(planned[0]);
    return { current: configOf(begun.at(-1)), next, last: next && configOf(planned.at(-1)) };
  },
);

function hasBegun({ block, timestamp: since }: ForkActivation, number: number, timestamp: number): boolean {
  return since === undefined ? (block ?? 0) <= number : since <= timestamp;
}

/** Blocks, then times, at which forks begin after genesis, each once (EIP-2124, EIP-6122). Paris is seldom one of them. */
function activationsOf(forks: readonly ForkActivation[], genesisTime: number): number[] {
  const at = forks.flatMap(({ hardfork, netsplit, block = 0, timestamp }) => {
    if (hardfork === 'paris') return netsplit === undefined || netsplit === 0 ? [] : [netsplit];
    if (timestamp === undefined) return block > 0 ? [block] : [];
    return timestamp > genesisTime ? [timestamp] : [];
  });
  return [...new Set(at)];
}

function blobsOf({ blobs }: Rules) {
  if (blobs === undefined) return null;
  const { target, max, baseFeeUpdateFraction } = blobs;
  return { target, max, baseFeeUpdateFraction: Number(baseFeeUpdateFraction) };
}

function systemContractsOf({ cancun, prague }: Rules, { depositContract }: Network): Record<string, Hex> {
  return {
    ...(cancun && { BEACON_ROOTS_ADDRESS: bytesToHex(BEACON_ROOTS_ADDRESS) }),
    ...(prague && {
      CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS: bytesToHex(CONSOLIDATION_REQUESTS_ADDRESS),
      ...(depositContract !== undefined && { DEPOSIT_CONTRACT_ADDRESS: depositContract }),
      HISTORY_STORAGE_ADDRESS: bytesToHex(HISTORY_CONTRACT),
      WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS: bytesToHex(WITHDRAWAL_REQUESTS_ADDRESS),
    }),
  };
}

/** CRC-32 of the hash of genesis and the forks that have begun. @source EIP-2124 */
function forkId(genesis: Uint8Array, activations: readonly number[]): Hex {
  const bytes = [...genesis];
  for (const at of activations)
    for (let shift = 56n; shift >= 0n; shift -= 8n) bytes.push(Number((BigInt(at) >> shift) & 255n));
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return `0x${((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0')}`;
}
