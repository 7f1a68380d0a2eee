import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';
import { decodeChecked, encodeChecked } from '../../../store/checked-text.js';

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

/** With what JSON begins, and no checksum. */
const OPENING_BRACE = 0x7b;
/** Roots that are stored. */
const MAX_STORED = 256;

/** What a reading of layer 1 is of, and how far it can be believed: readings that differ in it are kept apart. */
export interface FinalityIdentity {
  /** Of layer 2. */
  readonly chainId: number;
  /** Address of the rollup contract. */
  readonly rollup: Hex;
  /** Read by `eth_getProof`, and not by `eth_call`. */
  readonly prove: boolean;
  /** Origins of layer 1 that agreed. */
  readonly agreeing: number;
  /** Hash of the one layer-1 block that was trusted, 32 bytes. */
  readonly header?: Uint8Array | undefined;
}

/** Keeps what layer 1 holds for times without it. A store that is full, gone or damaged costs that and nothing else. */
export class FinalityStore {
  private readonly key: string;
  private readonly header: Hex | null;

  constructor(
    private readonly table: BudgetedTable | undefined,
    { chainId, rollup, prove, agreeing, header }: FinalityIdentity,
  ) {
    const way = header !== undefined ? 'header' : prove ? 'proved' : 'called';
    this.key = `${chainId} ${rollup.toLowerCase()} ${way} ${agreeing}`;
    this.header = header === undefined ? null : bytesToHex(header);
  }

  /** @returns undefined where nothing is kept, or only what was read at another trusted block */
  async load(): Promise<KnownFinality | undefined> {
    try {
      const bytes = await this.table?.get(this.key);
      const text = bytes && textOf(bytes);
      if (text === undefined) return undefined;
      const { header, number, layerOneBlock, roots } = JSON.parse(text) as {
        header: Hex | null;
        number: number;
        layerOneBlock: number;
        roots: [number, string][];
      };
      if (header !== this.header) return undefined;
      const known = new Map(roots.map(([block, root]) => [block, hexToBytes(root, 32)]));
      const root = known.get(number);
      return root === undefined ? undefined : { newest: { number, root, layerOneBlock }, roots: known };
    } catch {
      return undefined;
    }
  }

  /** @param known - undefined removes what is kept */
  async save(known: KnownFinality | undefined): Promise<void> {
    if (known === undefined) await this.table?.delete(this.key);
    else await this.table?.put(this.key, this.encode(known));
  }

  private encode({ newest, roots }: KnownFinality): Uint8Array {
    const { number, layerOneBlock } = newest;
    // The newest one comes last, so that it is never the one cut off.
    const ordered = [...roots].filter(([block]) => block !== number).slice(1 - MAX_STORED);
    const kept = [...ordered, [number, newest.root] as const].map(([block, root]) => [block, bytesToHex(root)]);
    return encodeChecked(JSON.stringify({ header: this.header, number, layerOneBlock, roots: kept }));
  }
}

/** Entries of earlier versions have no checksum. @returns undefined where it does not fit */
function textOf(bytes: Uint8Array): string | undefined {
  return bytes[0] === OPENING_BRACE ? new TextDecoder().decode(bytes) : decodeChecked(bytes);
}
