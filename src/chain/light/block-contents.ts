import { PlumblineError } from '../../errors.js';
import { loadSignerRecovery } from '../../ethereum/signer.js';
import type { Network } from '../../networks/network.js';
import { bytesToKey, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { readCount, readObject } from '../../proof/json-reader.js';
import { type EndpointGroup, requestFirstFound } from '../../upstream/group.js';
import type { Block, IncludedTransaction, TransactionReceipt } from '../block.js';
import { fetchReceipts, type ReceiptForms, readBlockBody, receiptsOfEmpty } from './read-contents.js';
import { isNotAvailableYet } from './refused.js';

/** Blocks whose contents are kept; the oldest is dropped first. */
const KEPT = 32;

/**
 * Reads transactions and receipts of blocks and verifies them against the roots in their headers. A chunk of its own, loaded when
 * the contents of a block are first read: parsing transactions and recovering their senders takes much code that a node does not
 * need to read state.
 */
export class BlockContentsReader {
  private readonly bodies = new Map<string, Block>();
  private readonly receiptLists = new Map<string, readonly TransactionReceipt[]>();
  private readonly receiptForms: ReceiptForms = new Map();

  /** @param agreeing - origins that must not know a transaction before it counts as absent */
  constructor(
    private readonly group: EndpointGroup,
    private readonly network: Network,
    private readonly agreeing?: number,
  ) {}

  /** The whole block. @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints */
  async withBody({ header, hash }: Pick<Block, 'header' | 'hash'>, signal?: AbortSignal): Promise<Block> {
    const kept = this.bodies.get(bytesToKey(hash));
    if (kept !== undefined) return kept;
    await loadSignerRecovery();
    const block = await this.group.request('eth_getBlockByHash', [bytesToHex(hash), true], {
      ...(signal !== undefined && { signal }),
      isTransient: isNotAvailableYet,
      accept: (answer) => readBlockBody({ header, hash }, answer, this.network.chainId),
    });
    return keep(this.bodies, hash, block);
  }

  /** Receipts of a block, in order. An empty block needs no request. @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints */
  async receipts(of: Pick<Block, 'header' | 'hash'>, signal?: AbortSignal): Promise<readonly TransactionReceipt[]> {
    const kept = this.receiptLists.get(bytesToKey(of.hash));
    if (kept !== undefined) return kept;
    const none = receiptsOfEmpty(of, this.network);
    if (none !== undefined) return none;
    const block = await this.withBody(of, signal);
    const receipts = await fetchReceipts(this.group, this.receiptForms, block, this.network, signal);
    return keep(this.receiptLists, block.hash, receipts);
  }

  /**
   * A transaction by its hash, and its block. An endpoint names the block; the transactions of that block are verified.
   *
   * @param blockAt - returns a block of the chain by its number
   * @returns undefined if enough origins know of no block with it
   * @throws PlumblineError `ANSWER_REFUSED` if it is not in the block that the endpoint names, `PROOF_MALFORMED`, of the
   *   endpoints
   */
  find(
    hash: Uint8Array,
    blockAt: (number: number) => Promise<Pick<Block, 'header' | 'hash'> | undefined>,
    signal?: AbortSignal,
  ): Promise<IncludedTransaction | undefined> {
    return requestFirstFound(this.group, 'eth_getTransactionByHash', [bytesToHex(hash)], {
      ...(this.agreeing !== undefined && { agreeing: this.agreeing }),
      ...(signal !== undefined && { signal }),
      accept: async (answer) => {
        const number = readBlockNumber(answer);
        const of = number === undefined ? undefined : await blockAt(number);
        if (of === undefined) return undefined;
        const block = await this.withBody(of, signal);
        const index = block.transactions.findIndex((transaction) => equalBytes(transaction.hash, hash));
        if (index >= 0) return { transaction: block.transactions[index]!, block, index };
        const what = `transaction ${bytesToHex(hash)} in block ${block.header.number}`;
        throw new PlumblineError('ANSWER_REFUSED', `${what}: is not there`, { what, check: 'MISSING', at: '' });
      },
    });
  }
}

/** Number of the block that contains the transaction, by the answer. */
function readBlockNumber(answer: unknown): number | undefined {
  if (answer === null) return undefined;
  const { blockNumber } = readObject(answer, '');
  if (blockNumber === null || blockNumber === undefined) return undefined;
  return readCount(blockNumber, 'blockNumber');
}

function keep<T>(map: Map<string, T>, hash: Uint8Array, value: T): T {
  map.set(bytesToKey(hash), value);
  if (map.size > KEPT) map.delete(map.keys().next().value!);
  return value;
}
