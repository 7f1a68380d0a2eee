import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { parseHash } from '../parsing/parse-params.js';
import { defineMethod } from './context.js';

/** Why a transaction is in no block: null if nothing is known about it (docs/spec/json-rpc.md 2.4). */
export const linea_getTransactionExclusionStatusV1 = defineMethod<
  [hash: Hex],
  {
    readonly txHash: Hex;
    readonly from: Hex;
    readonly nonce: Hex;
    readonly txRejectionStage: string;
    readonly reasonMessage: string;
    readonly blockNumber?: Hex;
    readonly timestamp: string;
  } | null
>(
  'linea_getTransactionExclusionStatusV1',
  {
    answers: { devnet: 'held', light: 'forwarded', replica: 'forwarded' },
    effect: 'none',
    timed: true,
  },
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
