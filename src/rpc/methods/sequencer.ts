import { PlumblineError } from '../../errors.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { MethodCallOptions } from '../method.js';
import { FORWARDS } from '../method-rows.js';
import { parseHash } from '../parse-params.js';
import { defineMethod, type RpcContext } from './context.js';

/*
 * What only the sequencer knows: what became of transactions that layer 1 makes it include (docs/spec/json-rpc.md 2.8), and of those that
 * it left out (2.4). The endpoint's word: nothing of the answers can be checked.
 */

/** `[forcedTransactionNumber]`, on older nodes `[transactionHash]`: when and how it was included, or null. */
export const linea_getForcedTransactionInclusionStatus = defineMethod<[number: number | Hex], unknown>(
  'linea_getForcedTransactionInclusionStatus',
  FORWARDS,
  (context, params, call) => forwarded(context, 'linea_getForcedTransactionInclusionStatus', params, call),
);

/** `[[{ forcedTransactionNumber, transaction, deadlineBlockNumber }, …]]`. Only a sequencer accepts it. */
export const linea_sendForcedRawTransaction = defineMethod<[transactions: readonly object[]], unknown>(
  'linea_sendForcedRawTransaction',
  { ...FORWARDS, effect: 'every-time' },
  (context, params, call) => forwarded(context, 'linea_sendForcedRawTransaction', params, call),
);

async function forwarded(
  { chain }: RpcContext,
  method: string,
  params: readonly unknown[],
  call: MethodCallOptions,
): Promise<unknown> {
  const answer = await chain.forward(method, params, call);
  if (answer !== undefined) return answer;
  throw new PlumblineError('METHOD_NOT_ENABLED', `${method} needs endpoints`, { method });
}

/** Why a transaction is in no block: null if nothing is known about it. */
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
