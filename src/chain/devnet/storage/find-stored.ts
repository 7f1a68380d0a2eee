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

/** Settings that identify a stored devnet, and those for reading it. */
export interface StoredSettings extends GenesisSettings {
  /** Hasher and kernel of the network's hash scheme. */
  readonly zk: ZkEngine;
  /** Notified when the store fails or works again. While it fails, the devnet continues in memory. */
  readonly health?: StoreHealth | undefined;
  /** How often the state is stored. */
  readonly checkpoints?: CheckpointOptions | undefined;
}

/** A devnet's data in its store. */
export interface StoredDevnet {
  readonly pages: PageStore;
  readonly blocks: DevnetStore;
  readonly checkpoints: Checkpoints;
  /** Newest block; undefined if the store holds no devnet. */
  readonly head: number | undefined;
  readonly genesis: BlockRecord | undefined;
  /** Which parts of old blocks were pruned. */
  readonly history: PrunedHistory;
  /** The state to load; undefined if the blocks must be applied from genesis on. */
  readonly checkpoint: Checkpoint | undefined;
}

/** Error for a stored chain with another genesis, chain id or hash scheme. */
export function anotherGenesis(): PlumblineError<'STORE_CORRUPT'> {
  return storeCorrupt(
    'it began from another genesis, chain id or hash scheme; open it with its own settings, or use another store name',
  );
}

/** Hash of what must equal the stored chain's, 32 bytes. Headers contain neither chain id nor hash scheme. */
function identityOf({ alloc, network, zk }: StoredSettings): Uint8Array {
  const rest = new TextEncoder().encode(`${network.chainId} ${zk.hasher.scheme}`);
  return sha256(concatBytes(genesisIdentity(alloc), rest));
}

/**
 * Reads what a store holds.
 *
 * @throws PlumblineError `STORE_CORRUPT` if it holds a chain with another genesis, chain id or hash scheme;
 *   `STORE_TOO_NEW`
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
  const checkpoint = await readCheckpoint(checkpoints, settings.health);
  if (checkpoint === undefined || checkpoint.block > head) {
    if (history.changesTo > 0) throw unrecoverable(history);
    return { ...found, head, genesis, checkpoint: undefined };
  }
  const expected = genesisBlock(settings, genesis.block.header.stateRoot);
  // Earlier versions stored the hash of the accounts only.
  const isSame = [identity, genesisIdentity(settings.alloc)].some((own) => equalBytes(checkpoint.genesis, own));
  if (!isSame || !equalBytes(genesis.block.hash, expected.hash)) throw anotherGenesis();
  return { ...found, head, genesis, checkpoint };
}

/** The state of a pruned devnet cannot be rebuilt from its blocks. */
function unrecoverable({ changesTo }: PrunedHistory): PlumblineError<'STORE_CORRUPT'> {
  return storeCorrupt(`its state is damaged, and blocks up to ${changesTo} were pruned`);
}

/** The stored checkpoint; undefined if there is none, or if it is damaged: the blocks are enough. */
async function readCheckpoint(
  checkpoints: Checkpoints,
  health: StoreHealth | undefined,
): Promise<Checkpoint | undefined> {
  try {
    return await checkpoints.read();
  } catch (error) {
    if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
    health?.repaired(error.details);
    return undefined;
  }
}
