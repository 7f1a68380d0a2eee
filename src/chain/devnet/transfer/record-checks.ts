import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { effectiveGasPrice } from '../../../ethereum/base-fee.js';
import { blobBaseFee } from '../../../ethereum/blob-gas.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import { createdAddress } from '../../../ethereum/created-address.js';
import { type BlockHeader, headerFields } from '../../../ethereum/header.js';
import { orderedTrieRoot } from '../../../ethereum/ordered-trie.js';
import { encodeReceipt, logsBloom } from '../../../ethereum/receipt.js';
import { parseSignedTransaction, type SignedTransaction } from '../../../ethereum/transaction.js';
import { withdrawalsRoot } from '../../../ethereum/withdrawal.js';
import { type Rules, rulesAt } from '../../../evm/common.js';
import type { AccountChange } from '../../../evm/state/state-overlay.js';
import type { Network } from '../../../networks/network.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import type { TransactionReceipt } from '../../chain.js';
import { blobGasOf } from '../mining/block-execution.js';
import { isUnsigned } from '../mining/impersonation.js';
import type { BlockRecord } from '../records/block-record.js';
import { refusedFile } from './chain-file.js';

/**
 * Compares block records, handed in one after the other, with what the headers of their blocks commit to: transactions and
 * their senders, receipts, uncles, withdrawals, and code by its hash. That the headers are linked, and that the changes lead
 * to their state roots, is left to whoever opens the chain.
 *
 * What no header commits to cannot be checked: whether the changes are those that the transactions make (edits of a
 * developer are among them, and recorded nowhere else), who asked for a transaction that nobody signed, what the clock and
 * the fees were set to, which blocks came from outside. Before Byzantium the success of a transaction neither.
 *
 * Everything here throws PlumblineError `CHAIN_FILE_REFUSED`, and what does not decode whatever it likes.
 */
export class RecordChecks {
  /** Hashes of code that is known so far. */
  private readonly codes = new Set([bytesToKey(EMPTY_CODE_HASH)]);
  private parent: BlockHeader | undefined;

  constructor(private readonly network: Network) {}

  /** Code of accounts. @param what - that has made the changes */
  changes(what: string, changes: readonly AccountChange[]): void {
    for (const { after, code } of changes) {
      if (after === undefined) continue;
      if (code !== undefined) {
        if (!equalBytes(keccak_256(code), after.codeHash)) throw refusedFile(`has code in ${what} of another hash`);
        this.codes.add(bytesToKey(after.codeHash));
      }
      if (!this.codes.has(bytesToKey(after.codeHash))) throw refusedFile(`lacks code of an account in ${what}`);
    }
  }

  async block(record: BlockRecord): Promise<void> {
    const { header } = record.block;
    const rules = rulesAt(this.network, header.number, header.timestamp);
    if (this.parent !== undefined) this.header(header, this.parent, rules);
    this.parent = header;
    if (record.pruned !== 'body') {
      await this.body(record);
      await this.receipts(record, rules);
    }
    this.changes(`block ${header.number}`, record.changes);
  }

  private header(header: BlockHeader, parent: BlockHeader, { london, shanghai, cancun, prague }: Rules): void {
    const must = musts(header);
    must('time', header.timestamp > parent.timestamp);
    must('gas used', header.gasUsed <= header.gasLimit);
    must('base fee', london === (header.baseFeePerGas !== undefined));
    must('withdrawals root', shanghai === (header.withdrawalsRoot !== undefined));
    must('blob gas', cancun === (header.excessBlobGas !== undefined));
    must('requests hash', prague === (header.requestsHash !== undefined));
  }

  private async body({ block, uncles = [] }: BlockRecord): Promise<void> {
    const { header, transactions, withdrawals = [] } = block;
    const must = musts(header);
    const raws = transactions.map(({ raw }) => raw);
    must('list of transactions', equalBytes(await orderedTrieRoot(raws), header.transactionsRoot));
    must('list of uncles', equalBytes(keccak_256(RLP.encode(uncles.map(headerFields))), header.sha3Uncles));
    if (header.withdrawalsRoot === undefined) must('list of withdrawals', withdrawals.length === 0);
    else must('list of withdrawals', equalBytes(await withdrawalsRoot(withdrawals), header.withdrawalsRoot));
    for (const transaction of transactions) must('sender of a transaction', this.isSender(transaction));
  }

  private isSender(transaction: SignedTransaction): boolean {
    if (transaction.impersonated === true) return isUnsigned(transaction);
    const parsing = { blobs: true, frontier: true };
    return equalBytes(parseSignedTransaction(transaction.raw, this.network.chainId, parsing).from, transaction.from);
  }

  private async receipts({ block: { header }, receipts }: BlockRecord, rules: Rules): Promise<void> {
    const must = musts(header);
    const encoded = receipts.map((receipt) => encodeReceipt({ ...receipt, type: receipt.transaction.type }));
    must('list of receipts', equalBytes(await orderedTrieRoot(encoded), header.receiptsRoot));
    const logs = receipts.flatMap((receipt) => receipt.logs);
    must('bloom of logs', equalBytes(logsBloom(logs), header.logsBloom));
    const blobPrice =
      rules.blobs === undefined || header.excessBlobGas === undefined
        ? 1n
        : blobBaseFee(header.excessBlobGas, rules.blobs);
    let cumulative = 0n;
    for (const receipt of receipts) {
      must('gas of a transaction', receipt.gasUsed === receipt.cumulativeGasUsed - cumulative);
      must('receipt of a transaction', follows(receipt, header.baseFeePerGas ?? 0n, blobPrice));
      cumulative = receipt.cumulativeGasUsed;
    }
    must('gas used', header.gasUsed === cumulative);
  }
}

/** What a receipt says beside what the header commits to follows from the transaction. */
function follows(receipt: TransactionReceipt, baseFeePerGas: bigint, blobPrice: bigint): boolean {
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

function musts({ number }: BlockHeader) {
  return (what: string, holds: boolean): void => {
    if (!holds) throw refusedFile(`does not hold: block ${number} has another ${what} than its header`);
  };
}
