import { bytesToKey } from '../../../primitives/bytes.js';
import type { HeadLevel } from './heads.js';

interface Hashed {
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** Levels at which blocks were vouched for, those that were told first going first. */
export class HeadLevels {
  private readonly levels = new Map<string, HeadLevel>();

  constructor(private readonly most: number) {}

  of({ hash }: Hashed): HeadLevel | undefined {
    return this.levels.get(bytesToKey(hash));
  }

  set({ hash }: Hashed, level: HeadLevel): void {
    const key = bytesToKey(hash);
    this.levels.delete(key);
    this.levels.set(key, level);
    if (this.levels.size > this.most) this.levels.delete(this.levels.keys().next().value!);
  }

  delete({ hash }: Hashed): void {
    this.levels.delete(bytesToKey(hash));
  }
}
