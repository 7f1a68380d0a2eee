import { isPlumblineError, PlumblineError } from '../../errors.js';
import { blobBaseFee, effectiveGasPrice, GAS_PER_BLOB } from '../../ethereum/base-fee.js';
import { EMPTY_TRIE_ROOT } from '../../ethereum/constants.js';
import { createdAddress } from '../../ethereum/encode-transaction.js';
import { parseSignedTransaction } from '../../ethereum/transaction.js';
import { rulesAt } from '../../evm/common.js';
import type { Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { verifyBlockBody, verifyReceipts } from '../../proof/contents.js';
import { type EndpointInfo, upstreamError } from '../../upstream/failure.js';
import type { AnswerValidator, EndpointGroup, UpstreamRequestOptions } from '../../upstream/group.js';
import type { Block, TransactionReceipt } from '../block.js';
import { blockBytes } from '../block-bytes.js';
import { answerRefused, isNotAvailableYet, isUnreachable, missing } from './refused.js';

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
function readReceipts(block: Block, answer: unknown, network: Network): readonly TransactionReceipt[] {
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

/** The empty list for a block without receipts, whose header says so. @throws PlumblineError `ANSWER_REFUSED` */
export function receiptsOfEmpty(
  { header, hash }: Pick<Block, 'header' | 'hash'>,
  network: Network,
): readonly TransactionReceipt[] | undefined {
  const isEmpty = [header.receiptsRoot, header.transactionsRoot].every((root) => equalBytes(root, EMPTY_TRIE_ROOT));
  return isEmpty ? readReceipts({ header, hash, transactions: [], size: 0 }, [], network) : undefined;
}

/**
 * How endpoints, by id, gave the receipts of a block: by its hash, or by its number after they had answered null for the hash
 * (EthereumJS). Endpoints without the method are remembered by their group.
 */
export type ReceiptForms = Map<string, 'hash' | 'number'>;

/** Null where it may mean that the endpoint does not read hashes. Another form decides. It never leaves this file. */
class FormUnknown extends Error {}

/**
 * Fetches the receipts of a block: by its hash, else by its number, else one by one. The root in the header decides which are
 * taken, so the form does not matter.
 *
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
 */
export async function fetchReceipts(
  group: EndpointGroup,
  forms: ReceiptForms,
  block: Block,
  network: Network,
  signal: AbortSignal | undefined,
): Promise<readonly TransactionReceipt[]> {
  const [hash, number] = [bytesToHex(block.hash), toQuantity(block.header.number)];
  const what = `receipts of block ${block.header.number}`;
  /** Endpoints that were asked in this form, and whether one of them said no. */
  let asked = new Set<string>();
  let isRefused = false;
  /** Endpoints whose receipts were false. They are not asked in another form. */
  const lying: string[] = [];
  const read = (answer: unknown, { id }: EndpointInfo) => {
    try {
      return readReceipts(block, answer, network);
    } catch (error) {
      if (answer !== null) lying.push(id);
      throw error;
    }
  };
  const options = {
    ...(signal !== undefined && { signal }),
    isTransient: isNotAvailableYet,
    onAsk: ({ id }) => void asked.add(id),
    tryNext: () => {
      isRefused = true;
      return true;
    },
  } satisfies UpstreamRequestOptions;
  const inList = (form: 'hash' | 'number'): AnswerValidator<unknown, readonly TransactionReceipt[]> => {
    return (answer, from) => {
      const { id } = from;
      if (answer === null && forms.get(id) !== form) {
        isRefused = true;
        throw new FormUnknown();
      }
      // A number may name another block by now.
      if (form === 'number' && isOfAnother(answer, hash)) throw missing(what);
      const receipts = read(answer, from);
      forms.set(id, form);
      return receipts;
    };
  };
  const calls = block.transactions.map(({ hash }) => ({
    method: 'eth_getTransactionReceipt',
    params: [bytesToHex(hash)],
  }));
  const oneByOne = (exclude: readonly string[]) =>
    group.requestMany(calls, {
      ...options,
      exclude,
      accept: (answers, from) => {
        const list = answers.map((answer, i) => {
          if (answer.kind === 'error') throw upstreamError(from, calls[i]!, answer.error);
          return answer.result;
        });
        if (list.includes(null) || isOfAnother(list, hash)) throw missing(what);
        return read(list, from);
      },
    });
  const inOne = (form: 'hash' | 'number', named: string) => (exclude: readonly string[]) =>
    group.request('eth_getBlockReceipts', [named], { ...options, exclude, accept: inList(form) });
  const byNumberOnly = [...forms].flatMap(([id, form]) => (form === 'number' ? [id] : []));
  let failure: unknown;
  let attempts = 0;
  for (const attempt of [inOne('hash', hash), inOne('number', number), oneByOne]) {
    const exclude = attempts++ === 0 ? byNumberOnly : lying;
    if (group.endpoints.every(({ id }) => exclude.includes(id))) continue;
    [asked, isRefused] = [new Set(), false];
    try {
      return await attempt(exclude);
    } catch (error) {
      if (signal?.aborted || isPlumblineError(error, 'ABORTED')) throw error;
      failure = isTelling(failure) ? failure : error;
      // Silence is the same in each form, unless others than the silent endpoints said no.
      if (isUnreachable(error) && !isRefused && asked.size === group.endpoints.length) break;
    }
  }
  throw failure instanceof FormUnknown ? missing(what) : failure;
}

/** Whether receipts are of another block, by what they say of themselves. */
function isOfAnother(answer: unknown, hash: string): boolean {
  const first: unknown = Array.isArray(answer) ? answer[0] : undefined;
  const named = (first as { readonly blockHash?: unknown } | null | undefined)?.blockHash;
  return typeof named === 'string' && named.toLowerCase() !== hash;
}

/** Whether an error tells more than that an endpoint does not have receipts, or not in one form. */
function isTelling(error: unknown): boolean {
  if (isPlumblineError(error, 'ANSWER_REFUSED')) return error.details.check !== 'MISSING';
  return error instanceof PlumblineError && error.code !== 'UPSTREAM_ERROR';
}
