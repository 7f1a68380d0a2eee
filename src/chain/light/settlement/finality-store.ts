import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';
import { decodeChecked, encodeChecked } from '../../../store/checked-text.js';

/** A finalized block and its root on layer 1. */
export interface FinalizedBlock {
  /** Of layer 2. */
  readonly number: number;
  /** Root of the zk state after it, 32 bytes. */
  readonly root: Uint8Array;
  /** Number of the layer-1 block at which both were read. */
  readonly layerOneBlock: number;
}

/** Roots read from layer 1. A root on layer 1 never changes. */
export interface KnownFinality {
  readonly newest: FinalizedBlock;
  /** When `newest` was read, milliseconds since 1970. */
  readonly readAt: number;
  /** By layer-2 block number, 32 bytes each. */
  readonly roots: ReadonlyMap<number, Uint8Array>;
}

/** First byte of JSON. Entries with a checksum begin with another byte. */
const OPENING_BRACE = 0x7b;
/** Most roots that are stored. */
const MAX_STORED = 256;

/** How and from where roots were read. Roots with different identities are stored separately. */
export interface FinalityIdentity {
  /** Of layer 2. */
  readonly chainId: number;
  /** Address of the rollup contract. */
  readonly rollup: Hex;
  /** Whether they are read by `eth_getProof`, not by `eth_call`. */
  readonly prove: boolean;
  /** Number of layer-1 origins that agreed. */
  readonly agreeing: number;
  /** Hash of the trusted layer-1 block, 32 bytes. */
  readonly header?: Uint8Array | undefined;
  /** Present where layer-1 consensus proves the block at which they are read. */
  readonly finalHash?: unknown;
}

/** Stores roots for times when layer 1 cannot be reached. If the store fails, nothing is stored and nothing else changes. */
export class FinalityStore {
  private readonly key: string;
  private readonly header: Hex | null;

  constructor(
    private readonly table: BudgetedTable | undefined,
    { chainId, rollup, prove, agreeing, header, finalHash }: FinalityIdentity,
  ) {
    const way = header !== undefined ? 'header' : finalHash !== undefined ? 'consensus' : prove ? 'proved' : 'called';
    this.key = `${chainId} ${rollup.toLowerCase()} ${way} ${agreeing}`;
    this.header = header === undefined ? null : bytesToHex(header);
  }

  /** @returns undefined if there are none, or only those of another trusted layer-1 block */
  async load(): Promise<KnownFinality | undefined> {
    try {
      const bytes = await this.table?.get(this.key);
      const text = bytes && textOf(bytes);
      if (text === undefined) return undefined;
      const { header, number, layerOneBlock, readAt, roots } = JSON.parse(text) as {
        header: Hex | null;
        number: number;
        layerOneBlock: number;
        // Entries of earlier versions do not have it.
        readAt?: number;
        roots: [number, string][];
      };
      if (header !== this.header) return undefined;
      const known = new Map(roots.map(([block, root]) => [block, hexToBytes(root, 32)]));
      const root = known.get(number);
      return root === undefined
        ? undefined
        : { newest: { number, root, layerOneBlock }, readAt: readAt ?? 0, roots: known };
    } catch {
      return undefined;
    }
  }

  /** @param known - undefined deletes the stored roots */
  async save(known: KnownFinality | undefined): Promise<void> {
    if (known === undefined) await this.table?.delete(this.key);
    else await this.table?.put(this.key, this.encode(known));
  }

  private encode({ newest, readAt, roots }: KnownFinality): Uint8Array {
    const { number, layerOneBlock } = newest;
    // The newest one comes last, so that it is never cut off.
    const ordered = [...roots].filter(([block]) => block !== number).slice(1 - MAX_STORED);
    const kept = [...ordered, [number, newest.root] as const].map(([block, root]) => [block, bytesToHex(root)]);
    return encodeChecked(JSON.stringify({ header: this.header, number, layerOneBlock, readAt, roots: kept }));
  }
}

/** Entries of earlier versions have no checksum. @returns undefined if the checksum is wrong */
function textOf(bytes: Uint8Array): string | undefined {
  return bytes[0] === OPENING_BRACE ? new TextDecoder().decode(bytes) : decodeChecked(bytes);
}
