import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import { notReached } from '../refused.js';
import type { BlockLevel } from './heads.js';
import type { LightBlock } from './light-block.js';

interface Hashed {
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** Trust levels at which blocks were accepted, by block hash. The oldest entries are dropped first. */
export class HeadLevels {
  private readonly levels = new Map<string, BlockLevel>();
  /** The newest settled block. */
  private settled: LightBlock | undefined;

  constructor(private readonly most: number) {}

  of({ hash }: Hashed): BlockLevel | undefined {
    return this.levels.get(bytesToKey(hash));
  }

  /** A settled block stays settled. */
  set({ hash }: Hashed, level: BlockLevel): void {
    const key = bytesToKey(hash);
    if (this.levels.get(key) === 'settled') return;
    this.levels.delete(key);
    this.levels.set(key, level);
    if (this.levels.size > this.most) this.levels.delete(this.levels.keys().next().value!);
  }

  /** Takes a block that layer-1 consensus settles. */
  settle(block: LightBlock): void {
    if (this.settled === undefined || block.header.number > this.settled.header.number) this.settled = block;
    this.set(block, 'settled');
  }

  /** Number of the newest settled block. */
  get settledNumber(): number | undefined {
    return this.settled?.header.number;
  }

  /** @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` for another block at the height of the newest settled one */
  requireSettled({ header: { number }, hash }: LightBlock): void {
    if (this.settled?.header.number !== number || equalBytes(this.settled.hash, hash)) return;
    const reason = `the chain of the endpoints has another block ${number} than the settled one`;
    throw notReached('settled', undefined, reason);
  }

  /** A settled block stays settled. */
  delete({ hash }: Hashed): void {
    const key = bytesToKey(hash);
    if (this.levels.get(key) !== 'settled') this.levels.delete(key);
  }
}
