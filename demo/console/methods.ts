import { DEV_ACCOUNTS, TEST_TOKEN } from 'plumbline-l2';
import { pretty } from '../lib/format.js';

/** A method that the console offers, with parameters that do something. */
export interface Offered {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Answered by a devnet alone. */
  readonly devnet?: true;
}

const [first, second] = DEV_ACCOUNTS.map(({ address }) => address) as [string, string];
const call = { from: first, to: second, value: '0xde0b6b3a7640000' };

/** Methods with examples. Any other may be typed. */
export const OFFERED: readonly Offered[] = [
  { method: 'linea_estimateGas', params: [call] },
  { method: 'linea_getProof', params: [TEST_TOKEN, ['0x2'], 'finalized'] },
  { method: 'eth_blockNumber', params: [] },
  { method: 'eth_chainId', params: [] },
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
  { method: 'eth_getBalance', params: [first, 'latest'] },
  { method: 'eth_getCode', params: [TEST_TOKEN, 'latest'] },
  { method: 'eth_getStorageAt', params: [TEST_TOKEN, '0x2', 'latest'] },
  { method: 'eth_getTransactionCount', params: [first, 'latest'] },
  { method: 'eth_getProof', params: [TEST_TOKEN, ['0x2'], 'latest'] },
  { method: 'eth_call', params: [{ to: TEST_TOKEN, data: '0x18160ddd' }, 'latest'] },
  { method: 'eth_estimateGas', params: [call] },
  { method: 'eth_createAccessList', params: [{ to: TEST_TOKEN, data: '0x18160ddd' }, 'latest'] },
  { method: 'eth_gasPrice', params: [] },
  { method: 'eth_feeHistory', params: ['0x4', 'latest', [50]] },
  { method: 'eth_getLogs', params: [{ fromBlock: 'earliest', toBlock: 'latest' }] },
  { method: 'eth_sendRawTransaction', params: ['0x'] },
  { method: 'net_version', params: [] },
  { method: 'web3_clientVersion', params: [] },
  { method: 'eth_accounts', params: [], devnet: true },
  { method: 'eth_sendTransaction', params: [call], devnet: true },
  { method: 'evm_mine', params: [], devnet: true },
  { method: 'evm_snapshot', params: [], devnet: true },
  { method: 'anvil_setBalance', params: [first, '0x3635c9adc5dea00000'], devnet: true },
];

/** Parameters as one would type them: short ones on a line. */
export function textOf(params: readonly unknown[]): string {
  const line = JSON.stringify(params);
  return line.length < 60 ? line : pretty(params);
}
