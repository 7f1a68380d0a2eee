import { describe, expect, test } from 'vitest';
import { decodeChainFile } from '../../src/chain/devnet/chain-file.js';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import type { Key, Table } from '../../src/store/page-store.js';
import { devNode, KeptStore, stranger } from '../support/dev-node.js';

/*
 * What a node whose store was damaged while it ran exports.
 */

const chain = { kind: 'devnet', scheme: 'poseidon2', finality: { heldFinalizations: 4 } } as const;

async function grown(blocks: number, more: InlineOptions = {}) {
  const store = new KeptStore();
  const dev = await devNode({ chain, store, ...more });
  for (let nonce = 0; nonce < blocks; nonce++) {
    await dev.transfer(0, { nonce, to: stranger((0x20 + (nonce % 9)).toString(16)) });
  }
  await dev.ask('anvil_setBalance', stranger('7a'), '0x5');
  return { store, dev };
}

type Damage = (store: KeptStore, table: Table, key: Key) => Promise<void>;

const flipped: Damage = async (store, table, key) => {
  const value = (await store.get(table, key))!;
  value[value.length >> 1]! ^= 4;
  await store.commit({ puts: [{ table, key, value }] });
};

const gone: Damage = (store, table, key) => store.commit({ deletes: [{ table, key }] });

/** Damages one record after the other, and mends it again. */
async function exportsNothing(scene: Awaited<ReturnType<typeof grown>>, places: readonly [Table, Key][]) {
  const { store, dev } = scene;
  const whole = await dev.node.exportChain();
  for (const [table, key] of places) {
    const value = (await store.get(table, key))!;
    for (const damage of [flipped, gone]) {
      await damage(store, table, key);
      await expect(dev.node.exportChain(), `${table} ${key}`).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
      await store.commit({ puts: [{ table, key, value }] });
    }
  }
  expect(await dev.node.exportChain()).toEqual(whole);
}

describe('an export of a damaged store is refused if damage is in', () => {
  test('blocks, pointer, edits', async () => {
    const scene = await grown(40);
    await exportsNothing(scene, [
      ['blocks', 0],
      ['blocks', 7],
      ['blocks', 40],
      ['meta', 'devnet-head'],
    ]);
    await flipped(scene.store, 'meta', 'devnet-edits');
    await expect(scene.dev.node.exportChain()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });

  test('a block under the key of another', async () => {
    const { store, dev } = await grown(9);
    const value = (await store.get('blocks', 5))!;
    await store.commit({ puts: [{ table: 'blocks', key: 6, value }] });
    await expect(dev.node.exportChain()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });

  test('the history and state that pruned blocks need', async () => {
    const scene = await grown(170, { storage: { budgets: { devnet: 200_000 } } });
    await exportsNothing(scene, [
      ['blocks', 'pruned'],
      ['blocks', 3],
      ['meta', 'devnet-checkpoint'],
      ['trie', (await scene.store.keys('trie'))[0]!],
      ['state', '0'],
      ['state', 'state'],
    ]);
  });
});

test('the state is not exported if the blocks give it, so its damage does not matter', async () => {
  const { store, dev } = await grown(40);
  const before = await dev.node.exportChain();
  const tables = new Set(
    (await decodeChainFile(before)).entries.map(({ table, key }) => (table === 'meta' ? key : table)),
  );
  expect(tables).toEqual(new Set(['devnet-head', 'devnet-edits', 'blocks']));
  for (const table of ['state', 'trie'] as const) await flipped(store, table, (await store.keys(table))[0]!);
  expect(await dev.node.exportChain()).toEqual(before);
});
