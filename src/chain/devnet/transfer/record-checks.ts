import { RLP } from '@ethereumjs/rlp';
import { effectiveGasPrice } from '../../../ethereum/base-fee.js';
import { blobBaseFee } from '../../../ethereum/blob-gas.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import { createdAddress } from '../../../ethereum/encode-transaction.js';
import { type BlockHeader, headerFields } from '../../../ethereum/header.js';
import { orderedTrieRoot } from '../../../ethereum/ordered-trie.js';
import { encodeReceipt, logsBloom } from '../../../ethereum/receipt.js';
import { loadSignerRecovery } from '../../../ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../../../ethereum/transaction.js';
import { withdrawalsRoot } from '../../../ethereum/withdrawal.js';
import { type Rules, rulesAt } from '../../../evm/common.js';
import type { AccountChange } from '../../../evm/state/state-overlay.js';
import { keccak256 } from '../../../kernel/keccak.js';
import type { Network } from '../../../networks/network.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import type { TransactionReceipt } from '../../block.js';
import { blobGasOf } from '../mining/block-execution.js';
import { isUnsigned } from '../mining/impersonation.js';
import type { BlockRecord } from '../records/block-record.js';
import { refusedFile } from './chain-file.js';

/**
 * Compares block records, in order, with what their headers commit to: transactions and senders, receipts, uncles,
 * withdrawals, and code by its hash. The links between headers, and that the changes give their state roots, are
 * checked when the chain is opened.
 *
 * No header commits to these, so they cannot be checked: whether the changes are those of the transactions and the
 * developer's edits, who sent an unsigned transaction, settings of clock and fees, and
 * which blocks were imported. Before Byzantium the success of a transaction cannot be checked either.
 *
 * Every method throws PlumblineError `CHAIN_FILE_REFUSED`, or any error for data that cannot be decoded.
 */
export class RecordChecks {
  /** Hashes of the code seen so far. */
  private readonly codes = new Set([bytesToKey(EMPTY_CODE_HASH)]);
  private parent: BlockHeader | undefined;

  constructor(private readonly network: Network) {}

  /** Checks the code of accounts. @param what - source of the changes, for the message */
  changes(what: string, changes: readonly AccountChange[]): void {
    for (const { after, code } of changes) {
      if (after === undefined) continue;
      if (code !== undefined) {
        if (!equalBytes(keccak256(code), after.codeHash))
          throw refusedFile(`has code in ${what} that does not match its hash`);
        this.codes.add(bytesToKey(after.codeHash));
      }
      if (!this.codes.has(bytesToKey(after.codeHash))) throw refusedFile(`lacks the code of an account in ${what}`);
    }
  }

  async block(record: BlockRecord): Promise<void> {
    const { header } = record.block;
    const rules = rulesAt(this.network, header.number, header.timestamp);
    if (this.parent !== undefined) this.header(header, this.parent, rules);
    this.parent = header;
    if (record.pruned !== 'body') {
      await this.body(record);
      this.receipts(record, rules);
    }
    this.changes(`block ${header.number}`, record.changes);
  }

  private header(header: BlockHeader, parent: BlockHeader, { london, shanghai, cancun, prague }: Rules): void {
    const check = checkerOf(header);
    check('time', header.timestamp > parent.timestamp);
    check('gas used', header.gasUsed <= header.gasLimit);
    check('base fee', london === (header.baseFeePerGas !== undefined));
    check('withdrawals root', shanghai === (header.withdrawalsRoot !== undefined));
    check('blob gas', cancun === (header.excessBlobGas !== undefined));
    check('requests hash', prague === (header.requestsHash !== undefined));
  }

  private async body({ block, uncles = [] }: BlockRecord): Promise<void> {
    const { header, transactions, withdrawals = [] } = block;
    const check = checkerOf(header);
    const raws = transactions.map(({ raw }) => raw);
    check('list of transactions', equalBytes(orderedTrieRoot(raws), header.transactionsRoot));
    check('list of uncles', equalBytes(keccak256(RLP.encode(uncles.map(headerFields))), header.sha3Uncles));
    if (header.withdrawalsRoot === undefined) check('list of withdrawals', withdrawals.length === 0);
    else check('list of withdrawals', equalBytes(withdrawalsRoot(withdrawals), header.withdrawalsRoot));
    await loadSignerRecovery();
    for (const transaction of transactions) check('sender of a transaction', this.isSender(transaction));
  }

  private isSender(transaction: SignedTransaction): boolean {
    if (transaction.impersonated === true) return isUnsigned(transaction);
    const parsing = { blobs: true, frontier: true };
    return equalBytes(parseSignedTransaction(transaction.raw, this.network.chainId, parsing).from, transaction.from);
  }

  private receipts({ block: { header }, receipts }: BlockRecord, rules: Rules): void {
    const check = checkerOf(header);
    const encoded = receipts.map((receipt) => encodeReceipt({ ...receipt, type: receipt.transaction.type }));
    check('list of receipts', equalBytes(orderedTrieRoot(encoded), header.receiptsRoot));
    const logs = receipts.flatMap((receipt) => receipt.logs);
    check('bloom of logs', equalBytes(logsBloom(logs), header.logsBloom));
    const blobPrice =
      rules.blobs === undefined || header.excessBlobGas === undefined
        ? 1n
        : blobBaseFee(header.excessBlobGas, rules.blobs);
    let cumulative = 0n;
    for (const receipt of receipts) {
      check('gas of a transaction', receipt.gasUsed === receipt.cumulativeGasUsed - cumulative);
      check('receipt of a transaction', matchesTransaction(receipt, header.baseFeePerGas ?? 0n, blobPrice));
      cumulative = receipt.cumulativeGasUsed;
    }
    check('gas used', header.gasUsed === cumulative);
  }
}

/** Whether the fields of a receipt that no header commits to follow from its transaction. */
function matchesTransaction(receipt: TransactionReceipt, baseFeePerGas: bigint, blobPrice: bigint): boolean {
  const { transaction, contractAddress = new Uint8Array(0) } = receipt;
  const created = transaction.to === undefined ? createdAddress(transaction) : new Uint8Array(0);
  const hasBlobs = transaction.blobVersionedHashes !== undefined;
  return (
    equalBytes(contractAddress, created) &&
    receipt.effectiveGasPrice === effectiveGasPrice(transaction, baseFeePerGas) &&
    receipt.blobGasUsed === (hasBlobs ? blobGasOf(transaction) : undefined) &&
    receipt.blobGasPrice === (hasBlobs ? blobPrice : undefined)
  );
}

function checkerOf({ number }: BlockHeader) {
  return (what: string, holds: boolean): void => {
    if (!holds) throw refusedFile(`is inconsistent: the ${what} of block ${number} does not match its header`);
  };
}
