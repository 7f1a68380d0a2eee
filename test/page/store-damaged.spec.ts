import { expect, test } from '@playwright/test';
import { close, devnet, lastStatus, look, start, stored, storeTests } from './store-scene.js';

storeTests();

test('a damaged state page, trie node, checkpoint or head pointer is rebuilt and reported', async ({ page }) => {
  const { name, hashes } = await stored(page, 3);
  const places = await page.evaluate(async (database) => {
    const [state, trie] = [await storePage.keys(database, 'state'), await storePage.keys(database, 'trie')];
    return [
      ['state', state[0]!],
      ['state', state.at(-1)!],
      ['trie', trie[0]!],
      ['meta', 'devnet-checkpoint'],
      ['meta', 'devnet-head'],
    ] as const;
  }, name);
  for (const [table, key] of places) {
    for (const how of ['flip', 'delete'] as const) {
      await page.evaluate(([database, ...rest]) => storePage.damage(database, ...rest), [
        name,
        table,
        key,
        how,
      ] as const);
      expect(await start(page, devnet(name, { storeCheck: 'full' })), `${how} ${table} ${key}`).toBeUndefined();
      const found = await look(page);
      expect(found.hashes, `${how} ${table} ${key}`).toEqual(hashes);
      // A checkpoint that is not there is one that had not been written yet.
      if (key !== 'devnet-checkpoint' || how === 'flip') {
        await expect.poll(() => lastStatus(page)).toMatchObject({ mode: 'durable', repaired: [{ table }] });
      }
      await page.evaluate(() => storePage.prove());
      await close(page);
      expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
      expect((await look(page)).status, `after ${how} ${table} ${key}`).toBeUndefined();
      await close(page);
    }
  }
});

test('a damaged or missing block is reported with its table and number, and nothing is changed', async ({ page }) => {
  for (const how of ['flip', 'delete'] as const) {
    const { name } = await stored(page, 3);
    await page.evaluate(([database, given]) => storePage.damage(database, 'blocks', 2, given), [name, how] as const);
    const before = await page.evaluate((database) => storePage.contents(database), name);
    const blocks = (rows: typeof before) => rows.filter(([table]) => table === 'blocks');
    expect(await start(page, devnet(name))).toMatchObject({
      code: 'STORE_CORRUPT',
      details: { table: 'blocks', reason: expect.stringContaining('block 2') },
    });
    const after = await page.evaluate((database) => storePage.contents(database), name);
    expect(blocks(after)).toEqual(blocks(before));
    // In memory where that was asked for; what is damaged stays, to be looked at.
    expect(await start(page, devnet(name, { storage: { fallback: 'memory' } }))).toBeUndefined();
    expect(await lastStatus(page)).toMatchObject({ mode: 'memory', reason: 'STORE_CORRUPT' });
    await close(page);
  }
});

test('deleted tables: the state is rebuilt from the blocks, caches start empty, missing blocks are reported', async ({
  page,
}) => {
  const { name, hashes } = await stored(page, 3);
  const without = (tables: string[]) =>
    page.evaluate(([database, gone]) => storePage.withoutTables(database, gone), [name, tables] as const);
  for (const tables of [['state', 'trie'], ['dictionaries', 'proofs'], ['meta']]) {
    await without(tables);
    expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
    expect((await look(page)).hashes).toEqual(hashes);
    const { repaired = [] } = (await lastStatus(page))!;
    expect(repaired.map(({ table }) => table)).toEqual(expect.arrayContaining(tables));
    await page.evaluate(() => storePage.prove());
    await close(page);
    expect(await start(page, devnet(name, { storeCheck: 'full' }))).toBeUndefined();
    expect((await look(page)).status).toBeUndefined();
    await close(page);
  }
  await without(['blocks']);
  expect(await start(page, devnet(name))).toMatchObject({
    code: 'STORE_CORRUPT',
    details: { table: 'blocks', reason: 'all 4 blocks are missing' },
  });
});
