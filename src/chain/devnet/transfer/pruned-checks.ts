import { equalBytes } from '../../../primitives/bytes.js';
import type { PageStore } from '../../../store/page-store.js';
import type { DevnetSettings } from '../options.js';
import type { BlockRecord } from '../records/block-record.js';
import { CHECKPOINT_KEY, decodeCheckpoint, decodeSegment } from '../records/checkpoint-codec.js';
import type { PrunedHistory } from '../records/ledger.js';
import { DevnetState } from '../state/devnet-state.js';
import { sealGenesis } from '../state/genesis.js';
import type { DevnetStore } from '../storage/devnet-store.js';
import { refusedFile } from './chain-file.js';

/**
 * Checks the state of a chain with pruned blocks against its headers: from the genesis accounts, by the sum of the
 * pruned changes, to the block of the checkpoint. All nodes of the ordinary trie must be present. Left-over nodes of
 * older tries are deleted.
 *
 * This cannot check the zk state roots of the blocks up to the checkpoint, nor that the zk state holds the same
 * accounts as the ordinary one: each leads to its own root. Pruned data can be checked by its sum only.
 *
 * @param store - holds nothing but the chain
 * @param settings - with unshared kernels
 * @returns genesis, from the settings
 * @throws PlumblineError `CHAIN_FILE_REFUSED`, `STORE_CORRUPT`
 */
export async function checkPruned(
  store: PageStore,
  blocks: DevnetStore,
  { changesTo, changes }: PrunedHistory,
  settings: DevnetSettings,
): Promise<BlockRecord> {
  const stored = await store.get('meta', CHECKPOINT_KEY);
  if (stored === undefined) throw refusedFile('has pruned blocks but no state');
  const checkpoint = decodeCheckpoint(stored);
  if (checkpoint.block < changesTo) throw refusedFile('has the state of a pruned block');
  const state = await DevnetState.create(settings.zk, false);
  const genesis = await sealGenesis(settings, state);
  const { trie } = state;
  let root = genesis.block.header.stateRoot;
  const apply = async (record: BlockRecord, changed: BlockRecord['changes']) => {
    const { number, stateRoot } = record.block.header;
    const writes = changed.map(({ address, after, destroyed, slots }) => {
      return { address, account: after, clearStorage: destroyed, slots };
    });
    const next = await trie.write(writes);
    if (!equalBytes(next, stateRoot))
      throw refusedFile(`is inconsistent: its changes do not give the state root of block ${number}`);
    trie.hold(next);
    trie.release(root);
    root = next;
  };
  await apply(await blocks.block(changesTo), changes);
  await blocks.each(changesTo + 1, checkpoint.block, (record) => apply(record, record.changes));
  const nodes = new Map<string, Uint8Array>();
  for (const { number } of checkpoint.segments) decodeSegment(number, await store.get('trie', number), nodes);
  for (const name of trie.nodesOf(root, () => false).keys()) {
    if (!nodes.has(name)) throw refusedFile('lacks a node of the state trie');
  }
  const listed = new Set<unknown>(checkpoint.segments.map(({ number }) => number));
  const others = (await store.keys('trie')).filter((key) => !listed.has(key));
  await store.commit({ deletes: others.map((key) => ({ table: 'trie', key })) });
  return genesis;
}
