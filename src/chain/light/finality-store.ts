import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import type { PageStore } from '../../store/page-store.js';

/** The end of a finalization, as layer 1 holds it. */
export interface FinalizedBlock {
  /** Of layer 2. */
  readonly number: number;
  /** Root of the zk state after it, 32 bytes. */
  readonly root: Uint8Array;
  /** Layer-1 block at which both were read. */
  readonly layerOneBlock: number;
}

/** What layer 1 was seen to hold, newest first. A root that is there never changes. */
export interface KnownFinality {
  readonly newest: FinalizedBlock;
  readonly roots: ReadonlyMap<number, Uint8Array>;
}

/** Roots that are stored. */
const MAX_STORED = 256;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Keeps what layer 1 holds for times without it. A store that is full, gone or damaged costs that and nothing else. */
export class FinalityStore {
  private readonly key: string;

  constructor(
    private readonly store: PageStore | undefined,
    chainId: number,
  ) {
    this.key = `finality-${chainId}`;
  }

  async load(): Promise<KnownFinality | undefined> {
    try {
      const bytes = await this.store?.get('meta', this.key);
      if (bytes === undefined) return undefined;
      const { number, layerOneBlock, roots } = JSON.parse(decoder.decode(bytes)) as {
        number: number;
        layerOneBlock: number;
        roots: [number, string][];
      };
      const known = new Map(roots.map(([block, root]) => [block, hexToBytes(root, 32)]));
      const root = known.get(number);
      return root === undefined ? undefined : { newest: { number, root, layerOneBlock }, roots: known };
    } catch {
      return undefined;
    }
  }

  async save({ newest, roots }: KnownFinality): Promise<void> {
    const { number, layerOneBlock } = newest;
    const kept = [...roots].slice(-MAX_STORED).map(([block, root]) => [block, bytesToHex(root)]);
    const value = encoder.encode(JSON.stringify({ number, layerOneBlock, roots: kept }));
    try {
      await this.store?.commit({ puts: [{ table: 'meta', key: this.key, value }] });
    } catch {}
  }
}
