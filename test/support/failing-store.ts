import { expect, onTestFinished } from 'vitest';
import type { Devnet } from '../../src/chain/devnet/devnet.js';
import type { DevnetSettings } from '../../src/chain/devnet/settings.js';
import { DevnetStore } from '../../src/chain/devnet/storage/devnet-store.js';
import { PlumblineError } from '../../src/errors.js';
import type { Commit, PageStore } from '../../src/store/page-store.js';
import { StoreHealth, type StoreStatus } from '../../src/store/store-status.js';
import { KeptStore } from './dev-node.js';
import { eventually } from './eventually.js';
import { copyOf, openDevnet, sealScripted } from './stored-devnet.js';

/** What a store that is full throws. */
export const full = () => new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {});

/** A store that can be made to fail. `after`: it fails after it has carried out the commit. */
export class FailingStore extends KeptStore {
  failure: (() => PlumblineError) | undefined;
  after = false;
  commits = 0;

  override async commit(commit: Commit): Promise<void> {
    this.commits++;
    if (this.failure !== undefined && !this.after) throw this.failure();
    await super.commit(commit);
    if (this.failure !== undefined) throw this.failure();
  }
}

/** A devnet on a store that can be made to fail, and the reports on the store. */
export async function scene(more: Partial<DevnetSettings> = {}, store = new FailingStore()) {
  const health = new StoreHealth('durable');
  const told: StoreStatus[] = [];
  health.listeners.add((status) => told.push(status));
  const chain = await openDevnet(store, { health, storing: { retryMs: 5 }, ...more });
  onTestFinished(() => chain.close());
  const seal = async (from: number, to: number) => {
    for (let number = from; number <= to; number++) await sealScripted(chain, number);
  };
  const isDurable = () => eventually(() => expect(health.status.mode).toBe('durable'));
  return { store, chain, health, told, seal, isDurable };
}

/** A devnet on a copy of what a store holds, checked in full. */
export async function reopened(store: PageStore, more: Partial<DevnetSettings> = {}): Promise<Devnet> {
  const chain = await openDevnet(await copyOf(store), { check: 'full', ...more });
  onTestFinished(() => chain.close());
  return chain;
}

/** The same blocks on a devnet without a store. */
export async function lasting(blocks: number): Promise<Devnet> {
  const chain = await openDevnet();
  onTestFinished(() => chain.close());
  for (let number = 1; number <= blocks; number++) await sealScripted(chain, number);
  return chain;
}

/** Blocks of a store: each follows from the one before it, and the pointer names the last. */
export async function storedBlocks(store: PageStore): Promise<number> {
  const blocks = new DevnetStore(store, 59139);
  const repairs: unknown[] = [];
  const head = (await blocks.head((repair) => repairs.push(repair)))!;
  expect(repairs).toEqual([]);
  let parent: Uint8Array | undefined;
  await blocks.each(0, head, ({ block }) => {
    if (parent !== undefined) expect(block.header.parentHash).toEqual(parent);
    parent = block.hash;
  });
  return head;
}
