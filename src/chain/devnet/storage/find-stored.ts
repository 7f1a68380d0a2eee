import { sha256 } from '@noble/hashes/sha2.js';
import { isPlumblineError, type PlumblineError } from '../../../errors.js';
import { concatBytes, equalBytes } from '../../../primitives/bytes.js';
import type { PageStore } from '../../../store/page-store.js';
import type { StoreHealth } from '../../../store/store-status.js';
import type { BlockRecord } from '../records/block-record.js';
import type { Checkpoint } from '../records/checkpoint-codec.js';
import { decodeHistory, HISTORY_KEY, type PrunedHistory } from '../records/pruned-history.js';
import type { ZkEngine } from '../state/devnet-state.js';
import { genesisIdentity } from '../state/genesis.js';
import { type GenesisSettings, genesisBlock } from '../state/genesis-block.js';
import { type CheckpointOptions, Checkpoints } from './checkpoints.js';
import { DevnetStore, storeCorrupt } from './devnet-store.js';

/** What a stored devnet is identified and read by. */
export interface StoredSettings extends GenesisSettings {
  /** Of the network's scheme. */
  readonly zk: ZkEngine;
  /** Notified whether the store can be used; the devnet goes on in memory when it can not. */
  readonly health?: StoreHealth | undefined;
  /** How often the state is stored. */
  readonly checkpoints?: CheckpointOptions | undefined;
}

/** What a store holds of a devnet. */
export interface StoredDevnet {
  readonly pages: PageStore;
  readonly blocks: DevnetStore;
  readonly checkpoints: Checkpoints;
  /** Newest block; undefined, as the rest, for a store that holds none yet. */
  readonly head: number | undefined;
  readonly genesis: BlockRecord | undefined;
  /** What old blocks have lost. */
  readonly history: PrunedHistory;
  /** The state that can be loaded; undefined where the blocks have to be applied from genesis on. */
  readonly checkpoint: Checkpoint | undefined;
}

/** The store holds the blocks of a chain with another genesis, chain id or hash of the zk state. */
export function anotherGenesis(): PlumblineError<'STORE_CORRUPT'> {
  return storeCorrupt('it began from another genesis, chain id or hash of the zk state');
}

/** What a chain has to have in common with the stored one, 32 bytes. Headers tell neither chain id nor hash. */
function identityOf({ alloc, network, zk }: StoredSettings): Uint8Array {
  const rest = new TextEncoder().encode(`${network.chainId} ${zk.hasher.scheme}`);
  return sha256(concatBytes(genesisIdentity(alloc), rest));
}

/**
 * Looks into a store.
 *
 * @throws PlumblineError `STORE_CORRUPT` when it holds the chain of another genesis, chain id or hash; `STORE_TOO_NEW`
 */
export async function findStored(settings: StoredSettings, pages: PageStore): Promise<StoredDevnet> {
  const blocks = new DevnetStore(pages, settings.network.chainId);
  const identity = identityOf(settings);
  const checkpoints = new Checkpoints(pages, identity, settings.checkpoints);
  const history = decodeHistory(await pages.get('blocks', HISTORY_KEY));
  const found = { pages, blocks, checkpoints, history };
  const head = await blocks.head((repair) => settings.health?.repaired(repair));
  if (head === undefined) return { ...found, head, genesis: undefined, checkpoint: undefined };
  const genesis = await blocks.block(0);
  const checkpoint = await readable(checkpoints, settings.health);
  if (checkpoint === undefined || checkpoint.block > head) {
    if (history.changesTo > 0) throw lost(history);
    return { ...found, head, genesis, checkpoint: undefined };
  }
  const expected = genesisBlock(settings, genesis.block.header.stateRoot);
  // Stores of earlier versions name the accounts alone.
  const isSame = [identity, genesisIdentity(settings.alloc)].some((own) => equalBytes(checkpoint.genesis, own));
  if (!isSame || !equalBytes(genesis.block.hash, expected.hash)) throw anotherGenesis();
  return { ...found, head, genesis, checkpoint };
}

/** The state of a devnet that has let go of what its old blocks changed cannot be made again of the others. */
function lost({ changesTo }: PrunedHistory): PlumblineError<'STORE_CORRUPT'> {
  return storeCorrupt(`its state is damaged, and blocks up to ${changesTo} were pruned`);
}

/** A damaged checkpoint is as good as none: the blocks are all there is to it. */
async function readable(checkpoints: Checkpoints, health: StoreHealth | undefined): Promise<Checkpoint | undefined> {
  try {
    return await checkpoints.read();
  } catch (error) {
    if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
    health?.repaired(error.details);
    return undefined;
  }
}
