import { orderedRoot } from '../../ethereum/ordered-trie.js';
import { equalBytes } from '../../primitives/bytes.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import type { HashedHeader } from './header-answer.js';
import type { LinkFailureReason } from './header-link.js';
import type { MaruPayload } from './maru-block.js';
import type { VerifiedMaruBlock } from './maru-seals.js';

/** Why a beacon block is not the one right after another. */
export type MaruLinkFailureReason =
  | LinkFailureReason
  /** The execution block stands on another one than the parent's. */
  | 'PAYLOAD_PARENT_MISMATCH';

/** Whether a beacon block is the one right after another. */
export type MaruLinkVerdict = { readonly verified: true } | ProofFailure<MaruLinkFailureReason>;

/**
 * Verifies that a beacon block is the one right after another.
 *
 * @source docs/spec/json-rpc.md 5.3, step 7
 */
export function verifyMaruLink(parent: VerifiedMaruBlock, child: VerifiedMaruBlock): MaruLinkVerdict {
  const [before, after] = [parent.block, child.block];
  return judge(() => {
    if (after.header.number !== before.header.number + 1) {
      const message = `is ${after.header.number}, that of the parent ${before.header.number}`;
      throw new Refusal('NUMBER_MISMATCH', 'header.number', message);
    }
    if (!equalBytes(after.header.parentRoot, parent.hash)) {
      throw new Refusal('PARENT_MISMATCH', 'header.parentRoot', 'is not the hash of the parent');
    }
    if (after.header.timestamp <= before.header.timestamp) {
      const message = `is ${after.header.timestamp}, that of the parent ${before.header.timestamp}`;
      throw new Refusal('TIMESTAMP_ORDER', 'header.timestamp', message);
    }
    if (!equalBytes(after.payload.parentHash, before.payload.blockHash)) {
      throw new Refusal('PAYLOAD_PARENT_MISMATCH', 'payload.parentHash', "is not the parent's execution block");
    }
    return { verified: true };
  });
}

/** Why an execution header is not the one that was sealed. */
export type MaruPayloadFailureReason =
  /** It is the header of another execution block. */
  | 'OTHER_BLOCK'
  /** Payload and header have the same hash and differ: the validators sealed what is not a block. */
  | 'FIELD_MISMATCH'
  /** The transactions of the payload are not those of the header. */
  | 'TRANSACTIONS_ROOT_MISMATCH';

/** Whether an execution header is the one that was sealed. */
export type MaruPayloadVerdict = { readonly verified: true } | ProofFailure<MaruPayloadFailureReason>;

/**
 * Verifies that an execution header is the one a sealed beacon block binds, and that the payload says the same as it,
 * transactions included.
 *
 * @param payload - of a block that `verifyMaruBlock` has verified
 * @param execution - a header with its hash, as `verifyHeader` gives it
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
      if (!fine) throw new Refusal('FIELD_MISMATCH', `payload.${name}`, 'is not that of the header');
    }
    if (!equalBytes(orderedRoot(payload.transactions), header.transactionsRoot)) {
      throw new Refusal('TRANSACTIONS_ROOT_MISMATCH', 'payload.transactions', 'do not have the root of the header');
    }
    return { verified: true };
  });
}
