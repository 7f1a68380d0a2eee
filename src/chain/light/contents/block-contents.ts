import { PlumblineError } from '../../../errors.js';
import type { Network } from '../../../networks/network.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { readCount, readObject } from '../../../proof/json-reader.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { Block, IncludedTransaction, TransactionReceipt } from '../../chain.js';
import { firstThatHas } from '../first-that-has.js';
import { isNotThereYet } from '../refused.js';

/** Blocks whose contents are kept; the least recently used goes first. */
const KEPT = 32;

/** Transactions and receipts of blocks whose headers are known, checked against the roots in these. */
export class BlockContentsReader {
  private readonly bodies = new Map<string, Block>();
  private readonly receiptLists = new Map<string, readonly TransactionReceipt[]>();

  /** @param agreeing - origins that have to say so before a transaction is in no block */
  constructor(
    private readonly group: EndpointGroup,
    private readonly network: Network,
    private readonly agreeing?: number,
  ) {}

  /** The whole block. @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints */
  async withBody({ header, hash }: Pick<Block, 'header' | 'hash'>, signal?: AbortSignal): Promise<Block> {
    const kept = this.bodies.get(bytesToKey(hash));
    if (kept !== undefined) return kept;
    const { readBlockBody } = await import('./read-contents.js');
    const block = await this.group.request('eth_getBlockByHash', [bytesToHex(hash), true], {
      ...(signal !== undefined && { signal }),
      mayCome: isNotThereYet,
      accept: (answer) => readBlockBody({ header, hash }, answer, this.network.chainId),
    });
    return keep(this.bodies, hash, block);
  }

  /** Receipts of a block, in order. @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints */
  async receipts(of: Pick<Block, 'header' | 'hash'>, signal?: AbortSignal): Promise<readonly TransactionReceipt[]> {
    const kept = this.receiptLists.get(bytesToKey(of.hash));
    if (kept !== undefined) return kept;
    const block = await this.withBody(of, signal);
    const { readReceipts } = await import('./read-contents.js');
    const receipts = await this.group.request('eth_getBlockReceipts', [bytesToHex(block.hash)], {
      ...(signal !== undefined && { signal }),
      mayCome: isNotThereYet,
      accept: (answer) => readReceipts(block, answer, this.network),
    });
    return keep(this.receiptLists, block.hash, receipts);
  }

  /**
   * A transaction by its hash, with the block that an endpoint says it is in and it is in.
   *
   * @param blockAt - a block of the chain by its number
   * @returns undefined when as many endpoints as have to agree know of no block with it
   * @throws PlumblineError `ANSWER_REFUSED` when it is not where it was said to be, `PROOF_MALFORMED`, of the endpoints
   */
  find(
    hash: Uint8Array,
    blockAt: (number: number) => Promise<Pick<Block, 'header' | 'hash'> | undefined>,
  ): Promise<IncludedTransaction | undefined> {
    return firstThatHas(this.group, 'eth_getTransactionByHash', [bytesToHex(hash)], {
      ...(this.agreeing !== undefined && { agreeing: this.agreeing }),
      accept: async (answer) => {
        const place = readPlace(answer);
        const of = place === undefined ? undefined : await blockAt(place);
        if (of === undefined) return undefined;
        const block = await this.withBody(of);
        const index = block.transactions.findIndex((transaction) => equalBytes(transaction.hash, hash));
        if (index >= 0) return { transaction: block.transactions[index]!, block, index };
        const what = `transaction ${bytesToHex(hash)} in block ${block.header.number}`;
        throw new PlumblineError('ANSWER_REFUSED', `${what}: there is none`, { what, check: 'MISSING', at: '' });
      },
    });
  }
}

/** Number of the block that an answer says a transaction is in. */
function readPlace(answer: unknown): number | undefined {
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
