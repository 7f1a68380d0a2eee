import { describe, expect, onTestFinished, test } from 'vitest';
import { HeaderStore } from '../../src/chain/light/heads/header-store.js';
import { lightBlock } from '../../src/chain/light/heads/light-block.js';
import { FinalityStore } from '../../src/chain/light/settlement/finality.js';
import { devnet } from '../../src/networks/devnet.js';
import { BudgetedTable } from '../../src/store/budgeted-table.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { WriteBehind } from '../../src/store/write-behind.js';
import { openDevnet } from '../support/stored-devnet.js';

/** A table of a store in memory. */
function tableOf(name: 'finalizations' | 'headers') {
  const store = new MemoryStore();
  const writer = new WriteBehind(store, { delayMs: 1e6 });
  return { store, writer, table: new BudgetedTable(writer, name, 2 ** 20) };
}

describe('stored roots of layer 1', () => {
  const identity = { chainId: 59139, rollup: `0x${'11'.repeat(20)}`, prove: false, agreeing: 1 } as const;
  const root = (byte: number) => new Uint8Array(32).fill(byte);
  const newest = { number: 9, root: root(9), layerOneBlock: 70 };
  const known = {
    newest,
    readAt: 1_700_000_000_000,
    anchors: new Map([
      [7, { root: root(7) }],
      [8, { hash: root(8) }],
    ]),
  };

  test('are loaded again, and refused with any bit flipped', async () => {
    const { store, writer, table } = tableOf('finalizations');
    await new FinalityStore(table, identity).save(known);
    await writer.flush();
    const found = await new FinalityStore(table, identity).load();
    expect(found?.newest).toEqual(newest);
    expect(found?.readAt).toBe(1_700_000_000_000);
    expect([7, 8].map((block) => found?.anchors.get(block))).toEqual([{ root: root(7) }, { hash: root(8) }]);
    const key = (await store.keys('finalizations'))[0]!;
    const value = (await store.get('finalizations', key))!;
    for (let at = 0; at < value.length; at++) {
      const bit = 1 << (at % 7);
      await store.commit({ puts: [{ table: 'finalizations', key, value: value.with(at, value[at]! ^ bit) }] });
      expect(await new FinalityStore(table, identity).load(), `byte ${at}`).toBeUndefined();
    }
  });
});

describe('stored headers', () => {
  const network = devnet({ scheme: 'poseidon2' });

  test('are stored again after the table has failed once', async () => {
    const { table } = tableOf('headers');
    const store = new HeaderStore(table, network);
    const chain = await openDevnet();
    onTestFinished(() => chain.close());
    const [first, second, third] = (await chain.control.mine(3)).map(lightBlock);
    const { get } = table;
    table.get = () => Promise.reject(new Error('broken'));
    store.put(first!);
    await store.settled();
    table.get = get;
    store.put(second!);
    await store.settled();
    const found = await new HeaderStore(table, network).below(third!, 1);
    expect(found.map(({ header }) => header.number)).toEqual([2]);
  });
});
