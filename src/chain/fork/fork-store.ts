import { invalidParameter, PlumblineError } from '../../errors.js';
import { ZERO_WORD } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { PageStore } from '../../store/page-store.js';
import type { StoreHealth } from '../../store/store-status.js';
import { decodeChecked, encodeChecked } from '../../store/table-usage.js';
import type { Block, BlockReference } from '../block.js';
import { TRUST_RANK, type TrustLevel } from '../block.js';
import { type BlockRecord, pruneRecord } from '../devnet/records/block-record.js';
import { anotherGenesis, DevnetStore } from '../devnet/storage/devnet-store.js';
import { LightBlock } from '../light/heads/light-block.js';

/** The block of a network that a fork begins with. */
export interface ForkOrigin {
  readonly block: Block;
  /** How far the block was trusted when the fork was made. */
  readonly level: TrustLevel;
}

/** A fork in its store. */
export interface StoredFork {
  readonly pages: PageStore;
  readonly blocks: DevnetStore;
  readonly origin: ForkOrigin;
  /** Newest block. */
  readonly head: number;
}

const ORIGIN = 'fork-origin';

/**
 * Reads which fork a store holds.
 *
 * @returns undefined if it holds no chain
 * @throws PlumblineError `STORE_CORRUPT` for a damaged chain, and one that is not a fork, or of another network
 */
export async function readFork(
  pages: PageStore,
  chainId: number,
  health: StoreHealth | undefined,
): Promise<StoredFork | undefined> {
  const text = await pages.get('meta', ORIGIN);
  if (text === undefined) {
    if ((await new DevnetStore(pages, chainId).head()) !== undefined) throw anotherGenesis();
    return undefined;
  }
  const { chainId: stored, number, level } = originOf(text);
  if (stored !== chainId) throw anotherGenesis();
  const blocks = new DevnetStore(pages, chainId, number);
  const head = await blocks.head((repair) => health?.repaired(repair));
  // The entry is written before the blocks.
  if (head === undefined) return undefined;
  const { header, hash } = (await blocks.block(number)).block;
  return { pages, blocks, head, origin: { block: new LightBlock(header, hash), level } };
}

/** Stores a new fork: the block that it begins with. */
export async function storeFork(pages: PageStore, chainId: number, origin: ForkOrigin): Promise<StoredFork> {
  const { header, hash } = origin.block;
  const { number } = header;
  const value = encodeChecked(JSON.stringify({ chainId, number, level: origin.level }));
  await pages.commit({ puts: [{ table: 'meta', key: ORIGIN, value }] });
  const blocks = new DevnetStore(pages, chainId, number);
  const block: Block = { header, hash, transactions: [], size: 0 };
  const record: BlockRecord = { block, receipts: [], changes: [], zkRoot: ZERO_WORD };
  await blocks.writeGenesis(pruneRecord(record, 'body'));
  return { pages, blocks, head: number, origin };
}

/** @throws PlumblineError `INVALID_PARAMETER` if another block is asked for than that of the stored fork */
export function requireSameBlock({ origin }: StoredFork, asked: BlockReference | undefined): void {
  const { header, hash } = origin.block;
  if (asked === undefined || 'tag' in asked) return;
  const isSame = 'number' in asked ? asked.number === header.number : bytesToHex(asked.hash) === bytesToHex(hash);
  if (isSame) return;
  throw invalidParameter(
    'chain.fork.block',
    `is another block than that of the stored fork, ${header.number} (${bytesToHex(hash)}); name that one, or another storeName`,
  );
}

function originOf(bytes: Uint8Array): {
  readonly chainId: number;
  readonly number: number;
  readonly level: TrustLevel;
} {
  const text = decodeChecked(bytes);
  const { chainId, number, level } = text === undefined ? ({} as Record<string, unknown>) : JSON.parse(text);
  if (Number.isSafeInteger(chainId) && Number.isSafeInteger(number) && Object.hasOwn(TRUST_RANK, String(level))) {
    return { chainId, number, level };
  }
  const reason = 'the entry of the fork is damaged';
  throw new PlumblineError('STORE_CORRUPT', reason, { table: 'meta', reason });
}
