import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { parseHash } from '../parsing/parse-params.js';
import { defineMethod } from './context.js';

/** Why a transaction is in no block: null if nothing is known about it (docs/spec/json-rpc.md 2.4). */
export const linea_getTransactionExclusionStatusV1 = defineMethod(
  'linea_getTransactionExclusionStatusV1',
  async ({ chain }, [hash], call) => {
    const exclusion = await chain.exclusion(parseHash(hash, 'transactionHash'), call);
    if (exclusion === undefined) return null;
    const { transaction, stage, reason, blockNumber, timestamp } = exclusion;
    return {
      txHash: bytesToHex(transaction.hash),
      from: bytesToHex(transaction.from),
      nonce: toQuantity(transaction.nonce),
      txRejectionStage: stage,
      reasonMessage: reason,
      ...(blockNumber !== undefined && { blockNumber: toQuantity(blockNumber) }),
      timestamp: new Date(timestamp * 1000).toISOString(),
    };
  },
);
