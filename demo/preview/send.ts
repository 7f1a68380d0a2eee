import { signal } from '@preact/signals';
import type { Hex } from 'plumbline-l2';
import { type Answer, ask } from '../state/requests.js';
import { running } from '../state/session.js';
import { encodeCall } from './abi.js';
import type { Shown } from './state.js';

/** A balance of the chain; undefined where it was not asked for. */
export type Actual = Hex | undefined;

/** What became of the calls. */
export interface Sent {
  readonly of: Shown;
  readonly succeeded: boolean;
  readonly gasUsed: readonly bigint[];
  /** Wei that was paid for gas. */
  readonly paid: bigint;
  readonly actual: readonly Actual[];
  /** All that was asked for is as the preview said. */
  readonly equal: boolean;
}

export const sent = signal<Sent | undefined>(undefined);

interface Receipt {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
}

/** Sends what was previewed with just the limits and prices of the preview; the devnet signs for its own accounts. */
export async function send(of: Shown): Promise<void> {
  const { calls, balances } = of.answer.result;
  const hashes: Hex[] = [];
  for (const [i, call] of of.calls.entries()) {
    const { gasLimit, baseFeePerGas, priorityFeePerGas } = calls[i]!.fee!;
    const maxFeePerGas: Hex = `0x${(BigInt(baseFeePerGas) + BigInt(priorityFeePerGas)).toString(16)}`;
    const fees = { gas: gasLimit, maxFeePerGas, maxPriorityFeePerGas: priorityFeePerGas };
    const { result }: Answer<Hex> =
      typeof call === 'string'
        ? await ask('eth_sendRawTransaction', [call])
        : await ask('eth_sendTransaction', [{ ...(hasPrice(call) ? {} : fees), gas: gasLimit, ...call }]);
    hashes.push(result);
  }
  if (running.value?.settings.mining === 'manual') await ask('evm_mine');
  const receipts: Receipt[] = [];
  for (const hash of hashes) receipts.push((await ask<Receipt>('eth_getTransactionReceipt', [hash])).result);
  const actual: Actual[] = [];
  for (const one of balances) actual.push('account' in one ? await balanceOf(one.account, one.asset) : undefined);
  sent.value = {
    of,
    succeeded: receipts.every(({ status }) => status === '0x1'),
    gasUsed: receipts.map(({ gasUsed }) => BigInt(gasUsed)),
    paid: receipts.reduce((sum, one) => sum + BigInt(one.gasUsed) * BigInt(one.effectiveGasPrice), 0n),
    actual,
    equal: balances.every((one, i) => actual[i] === undefined || ('after' in one && one.after === actual[i])),
  };
}

const hasPrice = (call: object) => 'gasPrice' in call || 'maxFeePerGas' in call;

async function balanceOf(account: Hex, asset: Shown['answer']['result']['balances'][number]['asset']): Promise<Actual> {
  if (asset.kind === 'native') return (await ask<Hex>('eth_getBalance', [account, 'latest'])).result;
  if (asset.kind !== 'erc20') return undefined;
  const call = { to: asset.address, data: encodeCall('70a08231', account) };
  const { result } = await ask<Hex>('eth_call', [call, 'latest']);
  return `0x${BigInt(result).toString(16)}`;
}
