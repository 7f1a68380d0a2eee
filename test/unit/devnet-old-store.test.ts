import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { openDB } from 'idb';
import { expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { openIdbStore } from '../../src/store/idb-store.js';
import type { Table } from '../../src/store/page-store.js';
import { sendMessage } from '../support/bridge.js';
import { devNode, KeptStore, stranger } from '../support/dev-node.js';

/** A database as an earlier version left it, and what the node that wrote it answered. */
interface Recorded {
  readonly version: 1 | 2;
  readonly head: Hex;
  readonly finalized: Hex;
  readonly params: readonly unknown[];
  readonly proof: unknown;
  readonly entries: readonly { readonly table: Table; readonly key: string | number; readonly value: Hex }[];
}

const TABLES = { 1: ['meta', 'blocks', 'dictionaries'], 2: ['meta', 'blocks', 'dictionaries', 'state', 'trie'] };

function recordedAs(file: string): Recorded {
  return JSON.parse(readFileSync(new URL(`../vectors/store/${file}`, import.meta.url), 'utf8')) as Recorded;
}

async function oldDatabase(name: string, { version, entries }: Recorded): Promise<void> {
  const old = await openDB(name, version, {
    upgrade(database) {
      for (const table of TABLES[version]) database.createObjectStore(table);
    },
  });
  for (const { table, key, value } of entries) await old.put(table, hexToBytes(value), key);
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

test.each([
  // Block records of format 2, no checkpoint: brought up by applying its blocks, and opened from a checkpoint after that.
  { file: 'devnet-1.json', openings: ['genesis', 'state'] },
  { file: 'devnet-2.json', openings: ['state', 'state'] },
])('a devnet as $file has it', async ({ file, openings }) => {
  const recorded = recordedAs(file);
  await oldDatabase(file, recorded);
  for (const expected of openings) {
    const { node, ask, stages } = await reopened(file);
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash: recorded.head });
    expect(await ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: recorded.finalized });
    expect(await ask('linea_getProof', TEST_TOKEN, [], 'latest')).toEqual(recorded.proof);
    // An edit that waited for a block when it was recorded.
    expect(await ask('eth_getBalance', stranger('79'), 'latest')).toBe('0x5');
    expect(stages).toContain(expected);
    await node.close();
  }
  // It has no system contracts, which stand in the genesis of new devnets, and goes on without them as a file too.
  const { node: old, ask } = await reopened(file);
  expect(await ask('eth_getCode', '0x0000f90827f1c53a10cb7a02335b175320002935', 'latest')).toBe('0x');
  const chainFile = await old.exportChain();
  await old.close();
  const other = await devNode({ store: new KeptStore(), chain: { kind: 'devnet', scheme: 'poseidon2' } });
  await other.node.importChain(chainFile);
  expect(await other.ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash: recorded.head });
  await other.ask('evm_mine');
  expect(await other.ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ parentHash: recorded.head });
  // What it held stands as it was.
  const store = await openIdbStore(file);
  for (const { table, key, value } of recorded.entries) expect(bytesToHex((await store.get(table, key))!)).toBe(value);
  await store.close();
});

test('a devnet whose genesis has format 2 goes on without a message service, and its layer 1 with it', async () => {
  const file = new URL('../vectors/store/devnet-genesis-2.json', import.meta.url);
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Omit<Recorded, 'version' | 'params' | 'proof'> & {
    readonly genesis: Hex;
  };
  const store = new KeptStore();
  await store.commit({ puts: recorded.entries.map((entry) => ({ ...entry, value: hexToBytes(entry.value) })) });
  for (const blocks of [0, 3]) {
    const { node, ask } = await devNode({ store, chain: { kind: 'devnet', scheme: 'poseidon2' } });
    expect(await ask('eth_getBlockByNumber', '0x0', false)).toMatchObject({ hash: recorded.genesis });
    expect(await ask('eth_getBlockByNumber', '0x4', false)).toMatchObject({ hash: recorded.head });
    expect(await ask('eth_getBalance', stranger('79'), 'latest')).toBe('0x5');
    expect(await ask('eth_getCode', devnet().messageService, 'latest')).toBe('0x');
    await ask('anvil_mine', `0x${blocks.toString(16)}`);
    const { number: finalized } = await ask<{ number: Hex }>('eth_getBlockByNumber', 'finalized', false);
    if (blocks === 0) expect(finalized).toBe(recorded.finalized);
    const l1 = (method: string, ...params: unknown[]) => node.l1.request<UntypedMethod>({ method, params });
    const to = devnet().rollup.address;
    expect(Number(await l1('eth_call', { to, data: '0x695378f5' }, 'latest'))).toBe(Number(finalized));
    // A deposit finds nobody who anchors it, and layer 1 goes on.
    const [from] = (await l1('eth_accounts')) as [Hex];
    await l1('eth_sendTransaction', { from, to, value: '0x1', data: sendMessage(stranger('01')) });
    expect(await node.messages({ address: from, fromBlock: 0, toBlock: 4 })).toMatchObject({ messages: [] });
    await node.close();
  }
});

test('a light node of schema 2 serves its stored proofs without endpoints', async () => {
  const recorded = recordedAs('light-2.json');
  await oldDatabase('old-light', recorded);
  const nobody = ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'];
  const node = await createInlineNode({
    storeName: 'old-light',
    chain: { kind: 'light', network: devnet(), endpoints: nobody, level: 'plain', layerOne: nobody.slice(1) },
  });
  expect(await node.request<UntypedMethod>({ method: 'linea_getProof', params: recorded.params })).toEqual(
    recorded.proof,
  );
  await node.close();
  const store = await openIdbStore('old-light');
  expect((await store.keys('meta')).filter((key) => /^(zk-proof|finality)-/.test(String(key)))).toEqual([]);
  for (const [table, prefix] of [
    ['proofs', 'zk-proof-'],
    ['finalizations', 'finality-'],
  ] as const) {
    const were = recorded.entries.flatMap(({ key }) =>
      String(key).startsWith(prefix) ? [String(key).slice(prefix.length)] : [],
    );
    expect(were.length).toBeGreaterThan(0);
    expect(await store.keys(table)).toEqual(were);
  }
  await store.close();
});
