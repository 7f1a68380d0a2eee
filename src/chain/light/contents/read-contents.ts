import { effectiveGasPrice } from '../../../ethereum/base-fee.js';
import { blobBaseFee, GAS_PER_BLOB } from '../../../ethereum/blob-gas.js';
import { createdAddress } from '../../../ethereum/created-address.js';
import { parseSignedTransaction } from '../../../ethereum/transaction.js';
import { rulesAt } from '../../../evm/common.js';
import type { Network } from '../../../networks/network.js';
import { verifyBlockBody } from '../../../proof/contents/block-body.js';
import { verifyReceipts } from '../../../proof/contents/receipts.js';
import type { Block, TransactionReceipt } from '../../block.js';
import { blockBytes } from '../../block-bytes.js';
import { answerRefused, missing } from '../refused.js';

/*
 * A chunk of its own, loaded when the contents of a block are first read. Parsing transactions and recovering their senders
 * takes much code that a node does not need to read state.
 */
export { loadSignerRecovery } from '../../../ethereum/signer.js';

/** Reads and verifies the whole block from an endpoint's answer. @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED` */
export function readBlockBody(
  { header, hash }: Pick<Block, 'header' | 'hash'>,
  answer: unknown,
  chainId: number,
): Block {
  if (answer === null) throw missing(`body of block ${header.number}`);
  const verdict = verifyBlockBody({ header, hash }, answer);
  if (!verdict.verified) throw answerRefused(`body of block ${header.number}`, verdict);
  const transactions = verdict.transactions.map(({ raw }) =>
    parseSignedTransaction(raw, chainId, { blobs: true, frontier: true }),
  );
  const { withdrawals } = verdict;
  const size = blockBytes({ header, transactions, uncles: [], withdrawals: withdrawals ?? [] }).length;
  return { header, hash, transactions, size, ...(withdrawals !== undefined && { withdrawals }) };
}

/** Reads and verifies the receipts of a block, in order. @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED` */
export function readReceipts(block: Block, answer: unknown, network: Network): readonly TransactionReceipt[] {
  const { header } = block;
  const what = `receipts of block ${header.number}`;
  if (answer === null) throw missing(what);
  const verdict = verifyReceipts(block, block.transactions, answer);
  if (!verdict.verified) throw answerRefused(what, verdict);
  const { blobs } = rulesAt(network, header.number, header.timestamp);
  const blobGasPrice = blobs === undefined ? 1n : blobBaseFee(header.excessBlobGas ?? 0n, blobs);
  return verdict.receipts.map(({ stateRoot, ...receipt }, index): TransactionReceipt => {
    const transaction = block.transactions[index]!;
    const { blobVersionedHashes } = transaction;
    return {
      ...receipt,
      transaction,
      block,
      index,
      ...(stateRoot !== undefined && { stateRoot }),
      effectiveGasPrice: effectiveGasPrice(transaction, header.baseFeePerGas ?? 0n),
      ...(blobVersionedHashes !== undefined && {
        blobGasUsed: GAS_PER_BLOB * BigInt(blobVersionedHashes.length),
        blobGasPrice,
      }),
      contractAddress: transaction.to === undefined ? createdAddress(transaction) : undefined,
    };
  });
}
