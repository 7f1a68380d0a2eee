import { RLP } from '@ethereumjs/rlp';
import { headerFields, headerFromFields, headerHash } from '../../../ethereum/header.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';
import { checkedBlock, type LightBlock } from './light-block.js';

/** Headers in one entry of the table. The heights of an entry begin at a multiple of this. */
const PAGE = 16;

/**
 * Stores linked headers for later sessions, by height. A stored header is checked like one of an endpoint: its hash is
 * recomputed and must be the parent hash in its child. Trust levels are not stored: a header gets the level of the head that
 * it is linked to.
 */
export class HeaderStore {
  private waiting = new Map<number, LightBlock>();
  private storing: Promise<void> | undefined;

  constructor(
    private readonly table: BudgetedTable,
    private readonly network: Network,
  ) {}

  /** Stores a header. It replaces another one of the same height. */
  put(block: LightBlock): void {
    this.waiting.set(block.header.number, block);
    this.storing ??= this.store()
      // Headers that cannot be stored are dropped. They can be fetched again.
      .catch(() => this.waiting.clear())
      .finally(() => {
        this.storing = undefined;
      });
  }

  /** Resolves when all headers are in the table. */
  async settled(): Promise<void> {
    await this.storing;
  }

  /** The stored headers below `child`, from its parent down to `number`, until one is missing or does not link. */
  async below(child: LightBlock, number: number): Promise<LightBlock[]> {
    const found: LightBlock[] = [];
    let above = child;
    let page: ReadonlyMap<number, LightBlock> = new Map();
    for (let at = child.header.number - 1; at >= number; at--) {
      if (found.length === 0 || at % PAGE === PAGE - 1) page = await this.page(Math.floor(at / PAGE));
      const block = this.waiting.get(at) ?? page.get(at);
      if (block === undefined || !equalBytes(block.hash, above.header.parentHash)) break;
      found.push(block);
      above = block;
    }
    return found;
  }

  private async store(): Promise<void> {
    // Headers of the same turn are written together.
    await undefined;
    while (this.waiting.size > 0) {
      const [first] = this.waiting.keys();
      const index = Math.floor(first! / PAGE);
      const page = new Map(await this.page(index));
      for (const [number, block] of this.waiting) {
        if (Math.floor(number / PAGE) !== index) continue;
        this.waiting.delete(number);
        page.set(number, block);
      }
      const blocks = [...page.values()].sort((a, b) => a.header.number - b.header.number);
      await this.table.put(this.keyOf(index), RLP.encode(blocks.map(({ header }) => headerFields(header))));
    }
  }

  /** @returns an empty map for a damaged page */
  private async page(index: number): Promise<ReadonlyMap<number, LightBlock>> {
    const bytes = await this.table.get(this.keyOf(index));
    if (bytes === undefined) return new Map();
    try {
      const blocks = (RLP.decode(bytes) as Uint8Array[][]).map((fields) => {
        const header = headerFromFields(fields);
        return checkedBlock(this.network, header, headerHash(header));
      });
      return new Map(blocks.map((block) => [block.header.number, block]));
    } catch {
      return new Map();
    }
  }

  private keyOf(index: number): string {
    return `${this.network.chainId} ${String(index * PAGE).padStart(16, '0')}`;
  }
}
