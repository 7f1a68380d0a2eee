import { describe, expect, test } from 'vitest';
import type { Devnet } from '../../src/chain/devnet/devnet.js';
import { decodeBlockRecord } from '../../src/chain/devnet/records/block-record.js';
import { CHECKPOINT_KEY } from '../../src/chain/devnet/records/checkpoint-codec.js';
import { HISTORY_KEY } from '../../src/chain/devnet/records/ledger.js';
import type { DevnetSettings } from '../../src/chain/devnet/settings.js';
import { devAlloc, messagesAlloc } from '../../src/chain/devnet/state/genesis.js';
import { PlumblineError } from '../../src/errors.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { MeteredStore } from '../../src/store/metered-store.js';
import type { Commit, Table } from '../../src/store/page-store.js';
import { claimOf, messageFrom, ROLLUP, SERVICE, sendMessage } from '../support/bridge.js';
import { accountAt, KeptStore, stranger } from '../support/dev-node.js';
import { seededRandom } from '../support/random.js';
import { copyOf, openDevnet, portrait, sealScripted, TOKEN } from '../support/stored-devnet.js';

const TABLES: readonly Table[] = ['blocks', 'state', 'trie'];
const FINALITY = { heldFinalizations: 4 };

/** Bytes of the tables, read record by record. */
async function bytesOf(store: KeptStore): Promise<number> {
  let bytes = 0;
  for (const table of TABLES) {
    for (const key of await store.keys(table)) bytes += String(key).length + (await store.get(table, key))!.length;
  }
  return bytes;
}

async function openWithin(store: KeptStore, bytes: number, more: Partial<DevnetSettings> = {}): Promise<Devnet> {
  const metered = new MeteredStore(store);
  const used = async () => {
    const usage = await metered.noted();
    return TABLES.reduce((sum, table) => sum + usage[table].bytes, 0);
  };
  const budget = { bytes, used };
  return openDevnet(metered, { finality: FINALITY, budget, ...more });
}

async function seal(chain: Devnet, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number++) await sealScripted(chain, number);
}

/** Everything that can be asked of the newest blocks, and how every older one answers. */
async function answers(chain: Devnet, from: number) {
  const head = (await chain.head()).header.number;
  const blocks = [];
  for (let number = from; number <= head; number++) {
    const block = (await chain.block({ number }))!;
    const state = await chain.stateAt(block);
    const slots = await Promise.all([3, 0].map((n) => state.slot(TOKEN, new Uint8Array(32).fill(n))));
    const accounts = await Promise.all(
      ['a1', 'a2', 'a3', '1e', '25', '10'].map((byte) => state.account(hexToBytes(stranger(byte)))),
    );
    const receipts = (await chain.receipts(block)).map(({ gasUsed, logs }) => ({ gasUsed, logs }));
    blocks.push({ hash: bytesToHex(block.hash), slots, accounts, receipts });
  }
  const proof = await chain.zkProof(TOKEN, [new Uint8Array(32)], { tag: 'finalized' });
  return { head, blocks, proof, layerOne: (await chain.settleLayerOne()).head.hash };
}

/** A store that carries out some commits of checkpoints and of pruning, and says that it failed. */
class UnsureStore extends KeptStore {
  isUnsure = () => false;
  unsure = 0;

  override async commit(commit: Commit): Promise<void> {
    await super.commit(commit);
    if (!commit.puts?.some(({ key }) => key === CHECKPOINT_KEY || key === HISTORY_KEY) || !this.isUnsure()) return;
    this.unsure++;
    throw new PlumblineError('STORE_UNAVAILABLE', 'the connection broke', { reason: 'broken' });
  }
}

describe('a devnet within a budget', () => {
  test('serves its blocks like a devnet without budget, before and after reopening', async () => {
    const [store, whole] = [new KeptStore(), new KeptStore()];
    let pruned = await openWithin(store, 310_000);
    let full = await openDevnet(whole, { finality: FINALITY });
    for (const [from, to] of [
      [1, 40],
      [41, 70],
      [71, 100],
    ] as const) {
      await seal(pruned, from, to);
      await seal(full, from, to);
      const held = to - 5;
      expect(await answers(pruned, held)).toEqual(await answers(full, held));
      for (const chain of [pruned, full]) await chain.close();
      pruned = await openWithin(store, 310_000);
      full = await openDevnet(whole, { finality: FINALITY });
      expect(await answers(pruned, held)).toEqual(await answers(full, held));
    }
    expect(await bytesOf(store)).toBeLessThan(1.1 * 310_000);
    expect(await bytesOf(whole)).toBeGreaterThan(1.2 * 310_000);
    await pruned.close();
    await full.close();
  });

  test('old blocks lose their changes, then their bodies, but keep headers and hashes', async () => {
    const store = new KeptStore();
    const chain = await openWithin(store, 45_000);
    await seal(chain, 1, 90);
    const kinds = [];
    for (let number = 0; number <= 90; number++) {
      const record = decodeBlockRecord((await store.get('blocks', number))!, chain.network.chainId);
      kinds.push(record.pruned ?? 'whole');
      expect(record.block.header.number).toBe(number);
    }
    const bodies = kinds.lastIndexOf('body');
    const changes = Math.max(bodies, kinds.lastIndexOf('changes'));
    expect(bodies).toBeGreaterThan(10);
    expect(changes).toBeLessThan(86);
    expect(kinds).toEqual(kinds.map((_, n) => (n === 0 || n > changes ? 'whole' : n <= bodies ? 'body' : 'changes')));
    const again = await openWithin(await copyOf(store), 45_000);
    for (const open of [chain, again]) {
      for (const number of [1, bodies]) {
        const refused = { code: 'BLOCK_PRUNED', details: { block: number, from: bodies + 1 } };
        await expect(open.block({ number })).rejects.toMatchObject(refused);
      }
      const hash = await open.contextOf(await open.head()).blockHash(1);
      await expect(open.block({ hash })).rejects.toMatchObject({ code: 'BLOCK_PRUNED' });
      expect((await open.block({ number: bodies + 1 }))!.header.number).toBe(bodies + 1);
      if (changes > 1) {
        const old = { ...(await open.head()), header: { ...(await open.head()).header, number: changes - 1 } };
        await expect(open.stateAt(old)).rejects.toMatchObject({ code: 'STATE_NOT_HELD' });
      }
      expect((await open.block({ tag: 'earliest' }))!.header.number).toBe(0);
    }
    await chain.close();
    await again.close();
  });

  test('nothing is pruned without a budget', async () => {
    const store = new KeptStore();
    const chain = await openDevnet(store, { finality: FINALITY });
    await seal(chain, 1, 40);
    const before = await portrait(chain, 38);
    expect(await store.get('blocks', 'pruned')).toBeUndefined();
    await chain.close();
    const again = await openDevnet(store, { finality: FINALITY });
    expect(await portrait(again, 40)).toMatchObject({ head: (before as { head: number }).head });
    await again.close();
  });

  test('snapshots can be reverted to, however many blocks come after them', async () => {
    const store = new KeptStore();
    const chain = await openWithin(store, 45_000);
    await seal(chain, 1, 60);
    const id = await chain.control.snapshot();
    const before = await answers(chain, 56);
    await seal(chain, 61, 110);
    expect(await chain.control.revert(id)).toBe(true);
    expect(await answers(chain, 56)).toEqual(before);
    const again = await openWithin(await copyOf(store), 45_000);
    expect(await answers(again, 56)).toEqual(before);
    await seal(chain, 61, 64);
    await again.close();
    await chain.close();
  });

  /** What the store holds if the process ends at this moment. */
  const opensAfter = async (store: KeptStore, head: number) => {
    const again = await openWithin(await copyOf(store), 45_000);
    await again.stateLoaded();
    expect((await again.head()).header.number).toBe(head);
    await seal(again, head + 1, head + 4);
    await again.zkProof(TOKEN, [], { tag: 'finalized' });
    await again.close();
  };

  test('a rollback leaves a store that can be opened, or is refused: the process may end after each', async () => {
    const store = new KeptStore();
    let chain = await openWithin(store, 45_000);
    await seal(chain, 1, 60);
    const done = { refused: 0, rolledBack: 0 };
    for (let round = 0; round < 24; round++) {
      const { number } = (await chain.head()).header;
      const depth = 1 + (round % 4);
      try {
        await chain.control.rollback(depth);
        done.rolledBack++;
        await opensAfter(store, number - depth);
        await seal(chain, number - depth + 1, number + 1);
      } catch (error) {
        expect(error).toMatchObject({ code: 'STATE_NOT_HELD', details: { block: number - depth } });
        done.refused++;
        expect((await chain.head()).header.number).toBe(number);
        await opensAfter(store, number);
        await seal(chain, number + 1, number + 1);
      }
      if (round !== 12) continue;
      // The next ones without a budget: what was pruned is gone.
      await chain.close();
      chain = await openDevnet(store, { finality: FINALITY });
    }
    expect(done.refused).toBeGreaterThan(0);
    expect(done.rolledBack).toBeGreaterThan(10);
    await chain.close();
  });

  test.each([1, 2, 3, 4, 5])(
    'commits of state that succeed and are reported as failed leave it so (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const store = new UnsureStore();
      const chain = await openWithin(store, 45_000);
      store.isUnsure = () => random(3) === 0;
      await seal(chain, 1, 50);
      let refused = 0;
      for (let round = 0; round < 24; round++) {
        const { number } = (await chain.head()).header;
        const to = number - 1 - random(6);
        const isBack = await chain.control.rollback(number - to).then(
          () => true,
          (error) => {
            expect(error).toMatchObject({ code: 'STATE_NOT_HELD' });
            return false;
          },
        );
        if (!isBack) refused++;
        await opensAfter(store, isBack ? to : number);
        await seal(chain, (isBack ? to : number) + 1, number + 1);
        await opensAfter(store, number + 1);
      }
      expect(refused).toBeLessThan(20);
      expect(store.unsure).toBeGreaterThan(5);
      await chain.close();
      await (await openWithin(store, 45_000)).close();
    },
  );

  test('a snapshot of a devnet that was pruned, and has no budget now, leaves a store that can be opened', async () => {
    const store = new KeptStore();
    const first = await openWithin(store, 45_000);
    await seal(first, 1, 60);
    await first.close();
    const chain = await openDevnet(store, { finality: FINALITY });
    const id = await chain.control.snapshot();
    await seal(chain, 61, 80);
    expect(await chain.control.revert(id)).toBe(true);
    await opensAfter(store, 60);
    await chain.close();
  });

  test.each([40, 80])('opens, goes on and closes with a delay of %i blocks for finality', async (delayBlocks) => {
    const store = new KeptStore();
    const first = await openWithin(store, 45_000);
    await seal(first, 1, 60);
    await first.close();
    // The newest final block is before the checkpoint now, and may have no body.
    const finality = { ...FINALITY, delayBlocks };
    const chain = await openWithin(store, 45_000, { finality });
    await seal(chain, 61, 63);
    await chain.close();
    const again = await openWithin(store, 45_000, { finality });
    await again.stateLoaded();
    expect((await again.head()).header.number).toBe(63);
    await again.close();
  });

  test('a damaged state cannot be rebuilt from pruned blocks', async () => {
    const store = new KeptStore();
    const chain = await openWithin(store, 45_000);
    await seal(chain, 1, 60);
    await chain.close();
    const damage = async (table: Table, key: string | number) => {
      const copy = await copyOf(store);
      const value = (await copy.get(table, key))!;
      value[value.length >> 1]! ^= 1;
      await copy.commit({ puts: [{ table, key, value }] });
      return copy;
    };
    const corrupt = { code: 'STORE_CORRUPT' };
    await expect(openWithin(await damage('blocks', 'pruned'), 45_000)).rejects.toMatchObject(corrupt);
    await expect(openWithin(await damage('meta', 'devnet-checkpoint'), 45_000)).rejects.toMatchObject(corrupt);
    const [segment] = await store.keys('trie');
    const opened = await openWithin(await damage('trie', segment!), 45_000, { check: 'full' });
    await expect(opened.stateLoaded()).rejects.toMatchObject(corrupt);
    await opened.end();
  });
});

test('messages outlive the bodies of their blocks: layer 1 is the same when the devnet is opened again', async () => {
  const store = new KeptStore();
  const alloc = { ...devAlloc(), ...messagesAlloc(devnet()) };
  let chain = await openWithin(store, 60_000, { alloc });
  const [from, to] = [accountAt(0), stranger('c9')];
  const sendOn = (on: Devnet, recipient: string, data: string, value = 0n) =>
    on.control.send({
      ...{ from: hexToBytes(from), to: hexToBytes(recipient as Hex), value, data: hexToBytes(data as Hex) },
      ...{ nonce: undefined, gasLimit: 1_000_000n, accessList: undefined },
      price: { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n },
    });
  await sendOn(chain, SERVICE, sendMessage(to), 7n);
  await chain.control.mine(60);
  const claim = claimOf(messageFrom(from, to, 7n, 1n));
  const layerOne = await chain.settleLayerOne();
  await sendOn(layerOne.chain, ROLLUP, claim);
  await chain.control.mine(3);
  const { hash } = (await chain.settleLayerOne()).head;
  await expect(chain.block({ number: 1 })).rejects.toMatchObject({ code: 'BLOCK_PRUNED' });
  await chain.close();
  chain = await openWithin(store, 60_000, { alloc });
  await chain.stateLoaded();
  await expect(chain.block({ number: 1 })).rejects.toMatchObject({ code: 'BLOCK_PRUNED' });
  const again = await chain.settleLayerOne();
  expect(bytesToHex(again.head.hash)).toBe(bytesToHex(hash));
  expect(await (await again.chain.stateAt(again.head)).account(hexToBytes(to))).toMatchObject({ balance: 7n });
  await chain.close();
});
