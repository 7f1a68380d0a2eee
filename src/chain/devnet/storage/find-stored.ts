import { sha256 } from '@noble/hashes/sha2.js';
import { isPlumblineError, type PlumblineError } from '../../../errors.js';
import type { Network } from '../../../networks/network.js';
import { concatBytes, equalBytes } from '../../../primitives/bytes.js';
import type { PageStore } from '../../../store/page-store.js';
import type { StoreHealth } from '../../../store/store-status.js';
import type { BlockRecord } from '../records/block-record.js';
import type { Checkpoint } from '../records/checkpoint-codec.js';
import { decodeHistory, HISTORY_KEY, type Ledger, type PrunedHistory } from '../records/ledger.js';
import type { DevnetState, ZkEngine } from '../state/devnet-state.js';
import {
  allocAsStored,
  type GenesisAlloc,
  type GenesisSettings,
  genesisBlock,
  genesisIdentity,
} from '../state/genesis.js';
import { ChainWriter, type StoringOptions } from './chain-writer.js';
import { type CheckpointOptions, Checkpoints, storedCheckpoint } from './checkpoints.js';
import { anotherGenesis, DevnetStore, storeCorrupt } from './devnet-store.js';
import { type DevnetBudget, openPruning, type Pruning } from './pruning.js';
import { StoredL1 } from './stored-l1.js';

/** Settings that identify a stored devnet, and those for reading it. */
export interface StoredSettings extends GenesisSettings {
  /** Hasher and kernel of the network's hash scheme; undefined for a layer 1, which has no zk state and no store. */
  readonly zk: ZkEngine | undefined;
  /** Notified when the store fails or works again. While it fails, the devnet continues in memory. */
  readonly health?: StoreHealth | undefined;
  /** How often the state is stored. */
  readonly checkpoints?: CheckpointOptions | undefined;
}

/** A devnet's data in its store. */
export interface StoredDevnet {
  readonly pages: PageStore;
  readonly blocks: DevnetStore;
  /** Its layer 1. */
  readonly layerOne: StoredL1;
  readonly checkpoints: Checkpoints;
  /** Newest block; undefined if the store holds no devnet. */
  readonly head: number | undefined;
  readonly genesis: BlockRecord | undefined;
  /** Accounts of its genesis; those of the settings if the store holds no devnet. */
  readonly alloc: GenesisAlloc;
  /** Which parts of old blocks were pruned. */
  readonly history: PrunedHistory;
  /** The state to load; undefined if the blocks must be applied from genesis on. */
  readonly checkpoint: Checkpoint | undefined;
  /** The writer of its blocks; see `ChainWriter`. */
  openWriter(
    chain: { readonly head: number; hashOf(number: number): Uint8Array | undefined },
    health: StoreHealth,
    enqueue: (work: () => Promise<void>) => Promise<void>,
    storing?: StoringOptions,
  ): ChainWriter;
  /** Undefined without a budget. */
  openPruning(
    settings: { readonly network: Network; readonly budget?: DevnetBudget | undefined },
    chain: { readonly ledger: Ledger; readonly state: DevnetState },
  ): Pruning | undefined;
}

/**
 * Hash of what must equal the stored chain's, 32 bytes. Headers contain neither chain id nor hash scheme.
 *
 * @param accounts - `genesisIdentity`
 */
function identityOf(accounts: Uint8Array, { network, zk }: StoredSettings): Uint8Array {
  const rest = new TextEncoder().encode(`${network.chainId} ${zk!.hasher.scheme}`);
  return sha256(concatBytes(accounts, rest));
}

/**
 * Reads what a store holds. This module is a chunk of its own, which a devnet in memory does not load.
 *
 * @throws PlumblineError `STORE_CORRUPT` if it holds a chain with another genesis, chain id or hash scheme;
 *   `STORE_TOO_NEW`
 */
export async function findStored(given: StoredSettings, pages: PageStore): Promise<StoredDevnet> {
  const blocks = new DevnetStore(pages, given.network.chainId);
  const head = await blocks.head((repair) => given.health?.repaired(repair));
  const genesis = head === undefined ? undefined : await blocks.block(0);
  const checkpoint = genesis && (await readCheckpoint(pages, given.health));
  let { alloc } = given;
  let accounts = genesisIdentity(alloc);
  // Earlier versions stored the hash of the accounts only.
  const isSame = () =>
    [identityOf(accounts, given), accounts].some((own) => checkpoint && equalBytes(checkpoint.genesis, own));
  // Only a genesis of an earlier format needs its changes, which take long to decode.
  if (genesis !== undefined && !isSame()) {
    alloc = allocAsStored(alloc, genesis.changes);
    accounts = genesisIdentity(alloc);
  }
  const settings = { ...given, alloc };
  const checkpoints = new Checkpoints(pages, identityOf(accounts, given), given.checkpoints);
  let writer: ChainWriter | undefined;
  const history = decodeHistory(await pages.get('blocks', HISTORY_KEY));
  const found: Pick<
    StoredDevnet,
    'pages' | 'blocks' | 'layerOne' | 'alloc' | 'checkpoints' | 'history' | 'openWriter' | 'openPruning'
  > = {
    pages,
    blocks,
    layerOne: await StoredL1.open(pages, (key, value) => writer!.put(key, value)),
    alloc,
    checkpoints,
    history,
    openWriter(...parts) {
      writer = new ChainWriter(blocks, ...parts);
      return writer;
    },
    openPruning: (...parts) => openPruning({ pages, history }, ...parts),
  };
  if (head === undefined || genesis === undefined) return { ...found, head, genesis: undefined, checkpoint: undefined };
  if (checkpoint === undefined || checkpoint.block > head) {
    if (history.changesTo > 0) throw unrecoverable(history);
    return { ...found, head, genesis, checkpoint: undefined };
  }
  const expected = genesisBlock(settings, genesis.block.header.stateRoot);
  if (!isSame() || !equalBytes(genesis.block.hash, expected.hash)) throw anotherGenesis();
  return { ...found, head, genesis, checkpoint };
}

/** The state of a pruned devnet cannot be rebuilt from its blocks. */
function unrecoverable({ changesTo }: PrunedHistory): PlumblineError<'STORE_CORRUPT'> {
  return storeCorrupt(`its state is damaged, and blocks up to ${changesTo} were pruned`);
}

/** The stored checkpoint; undefined if there is none, or if it is damaged: the blocks are enough. */
async function readCheckpoint(pages: PageStore, health: StoreHealth | undefined): Promise<Checkpoint | undefined> {
  try {
    return await storedCheckpoint(pages);
  } catch (error) {
    if (!isPlumblineError(error, 'STORE_CORRUPT')) throw error;
    health?.repaired(error.details);
    return undefined;
  }
}
