import { bytesToHex } from '../../primitives/hex.js';
import type { RpcContext } from '../context.js';
import { formatReceipt, formatTransaction } from '../format.js';
import type { Method } from '../method.js';
import { parseBytes, parseHash } from '../parse-params.js';

export const eth_sendRawTransaction: Method<RpcContext> = {
  name: 'eth_sendRawTransaction',
  async handle({ chain }, [raw]) {
    return bytesToHex(await chain.submit(parseBytes(raw, 'transaction', 'transaction params')));
  },
};

/** Null for a transaction that is in no block. */
export const eth_getTransactionReceipt: Method<RpcContext> = {
  name: 'eth_getTransactionReceipt',
  async handle({ chain }, [hash]) {
    const receipt = await chain.receipt(parseHash(hash, 'transactionHash'));
    return receipt === undefined ? null : formatReceipt(receipt);
  },
};

/** Null for a transaction that is in no block. */
export const eth_getTransactionByHash: Method<RpcContext> = {
  name: 'eth_getTransactionByHash',
  async handle({ chain }, [hash]) {
    const included = await chain.transaction(parseHash(hash, 'transactionHash'));
    return included === undefined ? null : formatTransaction(included);
  },
};
