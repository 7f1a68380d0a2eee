import { orderedRoot } from '../../ethereum/ordered-trie.js';
import { equalBytes } from '../../primitives/bytes.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import type { HashedHeader } from './header-answer.js';
import type { MaruPayload } from './maru-block.js';

/** Why an execution header is not the one that was sealed. */
export type MaruPayloadFailureReason =
  /** It is the header of another execution block. */
  | 'OTHER_BLOCK'
  /** Payload and header have the same hash but differ in a field: the validators sealed an invalid payload. */
  | 'FIELD_MISMATCH'
  /** The transactions of the payload do not match the header. */
  | 'TRANSACTIONS_ROOT_MISMATCH';

/** Whether an execution header is the one that was sealed. */
export type MaruPayloadVerdict = { readonly verified: true } | ProofFailure<MaruPayloadFailureReason>;

/**
 * Verifies that an execution header is the one in a sealed beacon block, and that all fields of the payload match it,
 * transactions included.
 *
 * @param payload - of a block that `verifyMaruBlock` verified
 * @param execution - a header with its hash, as `verifyHeader` returns it
 * @source docs/spec/json-rpc.md 5.3, step 6
 */
export function verifyMaruPayload(payload: MaruPayload, { header, hash }: HashedHeader): MaruPayloadVerdict {
  return judge(() => {
    if (!equalBytes(payload.blockHash, hash)) {
      throw new Refusal('OTHER_BLOCK', 'payload.blockHash', 'is not the hash of the header');
    }
    const same: Partial<Record<keyof MaruPayload, boolean>> = {
      parentHash: equalBytes(payload.parentHash, header.parentHash),
      feeRecipient: equalBytes(payload.feeRecipient, header.miner),
      stateRoot: equalBytes(payload.stateRoot, header.stateRoot),
      receiptsRoot: equalBytes(payload.receiptsRoot, header.receiptsRoot),
      logsBloom: equalBytes(payload.logsBloom, header.logsBloom),
      prevRandao: equalBytes(payload.prevRandao, header.mixHash),
      blockNumber: payload.blockNumber === header.number,
      gasLimit: payload.gasLimit === header.gasLimit,
      gasUsed: payload.gasUsed === header.gasUsed,
      timestamp: payload.timestamp === header.timestamp,
      extraData: equalBytes(payload.extraData, header.extraData),
      baseFeePerGas: payload.baseFeePerGas === header.baseFeePerGas,
    };
    for (const [name, fine] of Object.entries(same)) {
      if (!fine) throw new Refusal('FIELD_MISMATCH', `payload.${name}`, 'differs from the header');
    }
    if (!equalBytes(orderedRoot(payload.transactions), header.transactionsRoot)) {
      throw new Refusal('TRANSACTIONS_ROOT_MISMATCH', 'payload.transactions', 'do not have the root of the header');
    }
    return { verified: true };
  });
}
