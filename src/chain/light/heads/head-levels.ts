import { bytesToKey } from '../../../primitives/bytes.js';
import type { HeadLevel } from './heads.js';

interface Hashed {
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** Trust levels at which blocks were accepted, by block hash. The oldest entries are dropped first. */
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
