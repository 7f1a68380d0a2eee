import { expect } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Commit, PageStore } from '../../src/store/page-store.js';
import { TABLES } from '../../src/store/schema.js';
import { accountAt, devNode, KeptStore, stranger } from './dev-node.js';

let count = 0;
/** Name of a database that no other test of this file has. */
export const freshName = () => `storage-${count++}`;
/** The devnet of these tests. */
export const CHAIN = { kind: 'devnet', scheme: 'poseidon2' } as const;

/** A node of that devnet, closed after the test. */
export async function opened(options: InlineOptions) {
  return devNode({ chain: CHAIN, ...options });
}

/** Blocks of transfers, with edits among them, the last of which waits. */
export async function grow({ ask, transfer }: Awaited<ReturnType<typeof opened>>, blocks = 6): Promise<void> {
  const first = Number(await ask('eth_getTransactionCount', accountAt(0), 'latest'));
  for (let nonce = first; nonce < first + blocks; nonce++) {
    if (nonce % 3 === 1) await ask('anvil_setBalance', stranger('79'), `0x${nonce.toString(16)}`);
    await transfer(0, { nonce, to: stranger((0x20 + nonce).toString(16)) });
  }
  await ask('anvil_setBalance', stranger('7a'), '0x5');
}

/** What somebody may compare of two devnets. */
export async function portrait(node: PlumblineNode): Promise<unknown> {
  const ask = (method: string, ...params: unknown[]) => node.request<UntypedMethod>({ method, params });
  const head = Number(await ask('eth_blockNumber'));
  const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`);
  return {
    blocks: await Promise.all(numbers.map((number) => ask('eth_getBlockByNumber', number, true))),
    receipts: await Promise.all(numbers.map((number) => ask('eth_getBlockReceipts', number))),
    balances: await Promise.all(numbers.map((number) => ask('eth_getBalance', stranger('79'), number))),
    waiting: await ask('eth_getBalance', stranger('7a'), 'latest'),
    proof: await ask('linea_getProof', accountAt(0), [], 'latest'),
    layerOne: await node.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
  };
}

/** Full when told to be: nothing can be put, what is there can be read. */
export class FullStore extends KeptStore {
  isFull = false;
  clears = true;

  override async commit(commit: Commit): Promise<void> {
    const puts = commit.puts ?? [];
    if (this.isFull && puts.length > 0) throw new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {});
    await super.commit(commit);
  }

  override async clear(): Promise<void> {
    if (!this.clears) throw new PlumblineError('STORE_UNAVAILABLE', 'no', { reason: 'no' });
    await super.clear();
  }
}

/** A devnet with blocks that are in memory only: its store is full. */
export async function behindFullStore() {
  const store = new FullStore();
  const dev = await opened({ store });
  await grow(dev, 3);
  store.isFull = true;
  await grow(dev, 5);
  expect((await dev.node.storage()).status).toMatchObject({ mode: 'memory', reason: 'STORE_QUOTA_EXCEEDED', since: 4 });
  return { store, dev, before: await portrait(dev.node) };
}

/** All entries of a store, by table. */
export async function contents(store: PageStore): Promise<unknown> {
  const all: Record<string, unknown> = {};
  for (const table of TABLES) all[table] = await store.getMany(table, await store.keys(table));
  return all;
}
