import 'fake-indexeddb/auto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type FollowedState, LightClientRecord } from '../../../src/chain/light/light-client-record.js';
import { processLightClientUpdates } from '../../../src/consensus/rules.js';
import { finish } from '../../../src/scheduling/pieces.js';
import { nextTurn } from '../../../src/scheduling/turns.js';
import { BudgetedTable } from '../../../src/store/budgeted-table.js';
import { openIdbStore } from '../../../src/store/idb-store.js';
import { WriteBehind } from '../../../src/store/write-behind.js';
import { lastSlot, network, start, updates } from './scene.js';

const checkpoint = new Uint8Array(32).fill(1);
const states: FollowedState[] = [{ store: start, checkpoint }];
for (const update of updates) {
  const { store } = states.at(-1)!;
  const next = await finish(processLightClientUpdates(network, store, [update], lastSlot), nextTurn);
  states.push({ store: next.store, checkpoint });
}
const oldest = states[0]!;
const newest = states.at(-1)!;

/** The record in two tabs: two connections to one database. */
async function twoTabs() {
  const name = `record-${crypto.randomUUID()}`;
  const open = async () => {
    const store = await openIdbStore(name);
    onTestFinished(() => store.close());
    const writer = new WriteBehind(store, { delayMs: 1 });
    return new LightClientRecord(new BudgetedTable(writer, 'finalizations', 2 ** 20), network);
  };
  return { open, tabs: [await open(), await open()] as const };
}

describe('the stored state of the light client, with two tabs that write it', () => {
  test('is the newer one, whichever tab is first', async () => {
    for (const [one, other] of [
      [oldest, newest],
      [newest, oldest],
    ] as const) {
      const { open, tabs } = await twoTabs();
      await Promise.all([tabs[0].save(one), tabs[1].save(other)]);
      expect((await (await open()).load())?.store).toEqual(newest.store);
      await tabs[0].save(oldest);
      expect((await (await open()).load())?.store).toEqual(newest.store);
    }
  });

  test('is the one with the newer optimistic header, where both have the same final one', async () => {
    const { open, tabs } = await twoTabs();
    await tabs[0].save(newest);
    await tabs[1].save({ checkpoint, store: { ...newest.store, optimistic: newest.store.finalized } });
    expect((await (await open()).load())?.store).toEqual(newest.store);
  });

  test('is the newest one of many', async () => {
    const { open, tabs } = await twoTabs();
    await Promise.all(states.map((state, i) => tabs[i % 2]!.save(state)));
    expect((await (await open()).load())?.store).toEqual(newest.store);
  });

  test('keeps a contradiction, and gives way to another checkpoint', async () => {
    const { open, tabs } = await twoTabs();
    const store = { ...oldest.store, contradiction: { reason: 'EQUIVOCATION', slot: 7 } } as const;
    await Promise.all([tabs[0].save({ store, checkpoint }), tabs[1].save(newest)]);
    expect((await (await open()).load())?.store.contradiction).toEqual(store.contradiction);
    const other = { ...oldest, checkpoint: new Uint8Array(32).fill(2) };
    await tabs[1].save(other);
    expect(await (await open()).load()).toEqual(other);
  });
});
