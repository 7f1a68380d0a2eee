import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createFeeMarket1559Tx } from '@ethereumjs/tx';
import { bytesToHex, hexToBytes } from '@ethereumjs/util';
import { DEV_ACCOUNTS, type Hex, type PlumblineNode } from 'plumbline';
import type { Estimate, Transfer } from './types.js';

/** The signed bytes of a transfer. A page of a real wallet signs in the wallet; the dev accounts' keys are public. */
export async function signTransfer(node: PlumblineNode, { from, call }: Transfer, fees: Estimate): Promise<Hex> {
  const nonce = (await node.request({ method: 'eth_getTransactionCount', params: [from, 'latest'] })) as Hex;
  const account = DEV_ACCOUNTS.find(({ address }) => address === from);
  if (account === undefined) throw new Error(`not a dev account: ${from}`);
  const common = new Common({ chain: { ...Mainnet, chainId: node.info.chainId }, hardfork: Hardfork.Prague });
  const transaction = createFeeMarket1559Tx(
    {
      nonce,
      to: call.to,
      data: call.data,
      gasLimit: fees.gasLimit,
      maxFeePerGas: BigInt(fees.baseFeePerGas) + BigInt(fees.priorityFeePerGas),
      maxPriorityFeePerGas: fees.priorityFeePerGas,
    },
    { common },
  ).sign(hexToBytes(account.privateKey));
  return bytesToHex(transaction.serialize());
}
