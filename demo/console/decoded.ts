import { about, formatAge, groups } from '../lib/format.js';

const ether = (value: bigint) => `${about(value, 18)} ETH`;
const gwei = (value: bigint) => `${about(value, 9)} gwei`;

/** Units of what methods answer with a quantity. */
const UNITS: Readonly<Record<string, (value: bigint) => string>> = {
  eth_getBalance: ether,
  eth_gasPrice: gwei,
  eth_maxPriorityFeePerGas: gwei,
  eth_estimateGas: (value) => `${groups(value)} gas`,
  eth_blockNumber: (value) => `block ${groups(value)}`,
  eth_getTransactionCount: (value) => `${groups(value)} transactions sent`,
};

/** An answer in units; undefined where it says nothing more than its text. */
export function decoded(method: string, result: unknown): string | undefined {
  if (typeof result === 'string') {
    if (!/^0x[0-9a-f]{1,64}$/i.test(result)) return undefined;
    const isQuantity = UNITS[method] !== undefined || !/^0x0|^0x.{63,}$/.test(result) || result === '0x0';
    return isQuantity ? (UNITS[method] ?? groups)(BigInt(result)) : undefined;
  }
  if (typeof result !== 'object' || result === null) return undefined;
  const { gasLimit, baseFeePerGas, priorityFeePerGas, number, timestamp } = result as Record<
    string,
    string | undefined
  >;
  if (gasLimit !== undefined && priorityFeePerGas !== undefined && baseFeePerGas !== undefined) {
    const [gas, price] = [BigInt(gasLimit), BigInt(baseFeePerGas) + BigInt(priorityFeePerGas)];
    return `${groups(gas)} gas × ${gwei(price)} = at most ${ether(gas * price)}`;
  }
  if (number !== undefined && timestamp !== undefined) {
    return `block ${groups(BigInt(number))}, ${formatAge(Number(timestamp))}`;
  }
  return undefined;
}
