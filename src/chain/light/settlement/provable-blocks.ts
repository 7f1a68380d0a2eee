import { PlumblineError } from '../../../errors.js';
import { bytesToHex } from '../../../primitives/hex.js';
import type { BlockReference } from '../../block-reference.js';
import type { BlockFinder } from '../heads/block-finder.js';
import type { LayerOneFinality } from './finality.js';
import type { FinalizedBlock } from './finality-store.js';

/** The blocks after which the zk state can be proved: those whose root layer 1 holds. */
export class ProvableBlocks {
  /** @param finality - undefined without endpoints of layer 1: nothing can be proved */
  constructor(
    private readonly finality: LayerOneFinality | undefined,
    private readonly finder: Pick<BlockFinder, 'byHash'>,
  ) {}

  /** @throws PlumblineError `BLOCK_NOT_PROVABLE` without layer 1; as `LayerOneFinality.newest` */
  async newest(): Promise<FinalizedBlock> {
    if (this.finality === undefined) throw notProvable('finalized', 'no endpoint of layer 1 is given');
    return this.finality.newest();
  }

  /** @throws PlumblineError `BLOCK_NOT_PROVABLE` where no finalization ended there; as `LayerOneFinality.rootOf` */
  async at(reference: BlockReference): Promise<FinalizedBlock> {
    const number = await this.numberOf(reference);
    const name = 'hash' in reference ? bytesToHex(reference.hash) : String(number);
    if (this.finality === undefined || number === undefined) throw notProvable(name, 'is not held');
    const root = await this.finality.rootOf(number);
    if (root === undefined) throw notProvable(name, 'has no root on layer 1');
    return { number, root, layerOneBlock: this.finality.known?.layerOneBlock ?? 0 };
  }

  private async numberOf(reference: BlockReference): Promise<number | undefined> {
    if ('number' in reference) return reference.number;
    return 'hash' in reference ? (await this.finder.byHash(reference.hash))?.header.number : 0;
  }
}

function notProvable(block: string, reason: string): PlumblineError<'BLOCK_NOT_PROVABLE'> {
  return new PlumblineError('BLOCK_NOT_PROVABLE', `block ${block} ${reason}`, { block });
}
