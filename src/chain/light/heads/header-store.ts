import { RLP } from '@ethereumjs/rlp';
import { headerFields, headerFromFields, headerHash } from '../../../ethereum/header.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';
import { checkedBlock, type LightBlock } from './light-block.js';

/** Headers of one entry, those of a range of heights that begins at a multiple of this. */
const PAGE = 16;

/**
 * Headers that were linked in this session or in an earlier one, by height. A header that is read proves itself, as one that
 * an endpoint gives does: its hash is recomputed, and has to be the one that its child names. No level is stored: that of
 * the head it is linked to is its level. What does not link is passed over.
 */
export class HeaderStore {
  private waiting = new Map<number, LightBlock>();
  private storing: Promise<void> | undefined;

  constructor(
    private readonly table: BudgetedTable,
    private readonly network: Network,
  ) {}

  /** Keeps a header in the place of another of its height. */
  put(block: LightBlock): void {
    this.waiting.set(block.header.number, block);
    this.storing ??= this.store()
      // What cannot be stored is not kept: it can be had again.
      .catch(() => this.waiting.clear())
      .finally(() => {
        this.storing = undefined;
      });
  }

  /** Done when all that was put is with the table. */
  async settled(): Promise<void> {
    await this.storing;
  }

  /** The headers below `child`, from its parent down to `number` at the lowest, as far as they are kept and link. */
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
    // What comes in the same turn goes together.
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

  /** A damaged page is as good as none. */
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
