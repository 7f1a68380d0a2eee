import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';
import { parseHash } from '../parsing/parse-params.js';

/** Why a transaction is in no block: null when nothing is known of it (docs/spec/json-rpc.md 2.4). */
export const linea_getTransactionExclusionStatusV1: Method<RpcContext> = {
  name: 'linea_getTransactionExclusionStatusV1',
  async handle({ chain }, [hash]) {
    const exclusion = await chain.exclusion(parseHash(hash, 'transactionHash'));
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
};
