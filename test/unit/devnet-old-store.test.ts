import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { openDB } from 'idb';
import { expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/test-token.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { openIdbStore } from '../../src/store/idb-store.js';
import type { Table } from '../../src/store/page-store.js';
import { devNode, stranger } from '../support/dev-node.js';

/** A database of schema 1 with block records of format 2, and what the devnet that wrote it answered. */
const recorded = JSON.parse(readFileSync(new URL('../vectors/store/devnet-1.json', import.meta.url), 'utf8')) as {
  readonly version: number;
  readonly head: Hex;
  readonly finalized: Hex;
  readonly proof: unknown;
  readonly entries: readonly { readonly table: Table; readonly key: string | number; readonly value: Hex }[];
};

async function oldDatabase(name: string): Promise<void> {
  const old = await openDB(name, recorded.version, {
    upgrade(database) {
      for (const table of ['meta', 'blocks', 'dictionaries']) database.createObjectStore(table);
    },
  });
  for (const { table, key, value } of recorded.entries) await old.put(table, hexToBytes(value), key);
  old.close();
}

async function reopened(name: string) {
  const stages = new Set<string>();
  const store = await openIdbStore(name);
  const dev = await devNode({
    store,
    chain: { kind: 'devnet', scheme: 'poseidon2' },
    onProgress: ({ stage }) => stages.add(stage),
  });
  return { ...dev, stages };
}

test('a devnet of schema 1 is brought up by applying its blocks, and is opened from a checkpoint after that', async () => {
  await oldDatabase('old-devnet');
  for (const expected of ['genesis', 'state']) {
    const { node, ask, stages } = await reopened('old-devnet');
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash: recorded.head });
    expect(await ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: recorded.finalized });
    expect(await ask('linea_getProof', TEST_TOKEN, [], 'latest')).toEqual(recorded.proof);
    // An edit that waited for a block when it was recorded.
    expect(await ask('eth_getBalance', stranger('79'), 'latest')).toBe('0x5');
    expect(stages).toContain(expected);
    await node.close();
  }
  // What it held stands as it was.
  const store = await openIdbStore('old-devnet');
  for (const { table, key, value } of recorded.entries) expect(bytesToHex((await store.get(table, key))!)).toBe(value);
  await store.close();
});
