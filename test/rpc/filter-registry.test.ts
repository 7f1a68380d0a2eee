import { beforeEach, describe, expect, test } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import {
  type Chain,
  type ChainListener,
  endAll,
  type HeadListener,
  type PendingTransactionListener,
} from '../../src/chain/chain.js';
import type { SignedTransaction } from '../../src/ethereum/transaction.js';
import { NODE_OPTIONS } from '../../src/hosts/options/options.js';
import { FILTER_IDLE_MS, FilterRegistry, findLogs } from '../../src/rpc/filter-registry.js';
import { parseLogRequest } from '../../src/rpc/parse-log-filter.js';

/** As much of a chain as filters ask of it; a block is its number and a mark, and every block has one log. */
class Blocks {
  readonly sealed: Block[] = [];
  readonly heads = new Set<HeadListener>();
  readonly pending = new Set<PendingTransactionListener>();
  readonly asked: [number, number][] = [];
  failing = false;

  readonly chain = {
    head: async () => this.sealed.at(-1)!,
    block: async (reference: { number?: number }) =>
      reference.number === undefined ? this.sealed.at(-1) : this.sealed[reference.number],
    logs: async ({ from, to }: { from: number; to: number }) => {
      this.asked.push([from, to]);
      if (this.failing) throw new Error('not to be had');
      return this.sealed.slice(from, to + 1).map((block) => ({ of: block.hash[0], transaction: { block } }));
    },
    subscribe: ({ head, pending }: ChainListener) =>
      endAll(head && listen(this.heads, head), pending && listen(this.pending, pending)),
  } as unknown as Chain;

  constructor() {
    this.seal(0);
  }

  seal(...marks: number[]): void {
    for (const mark of marks) this.tell(...this.sealUntold(mark));
  }

  /** Seals blocks of which the chain tells later. */
  sealUntold(...marks: number[]): Block[] {
    const first = this.sealed.length;
    const blocks = marks.map((mark, i) => ({ header: { number: first + i }, hash: Uint8Array.of(mark) }) as Block);
    this.sealed.push(...blocks);
    return blocks;
  }

  tell(...blocks: Block[]): void {
    for (const block of blocks) for (const listener of this.heads) listener(block);
  }

  revert(head: number): void {
    this.sealed.splice(head + 1);
  }

  submit(mark: number): void {
    for (const listener of this.pending) listener({ hash: Uint8Array.of(mark) } as SignedTransaction);
  }
}

function listen<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

describe('filters', () => {
  let blocks: Blocks;
  let now: number;
  let registry: FilterRegistry;

  beforeEach(() => {
    blocks = new Blocks();
    now = 1000;
    registry = new FilterRegistry(blocks.chain, { now: () => now });
  });

  /** What a filter tells: the marks of blocks or transactions. */
  async function marks(id: string): Promise<(number | undefined)[]> {
    const changes = await registry.changes(id);
    if ('hashes' in changes) return changes.hashes.map(([mark]) => mark);
    return (changes.logs as unknown as { of: number }[]).map(({ of }) => of);
  }

  test('tell each block once, from their making on', async () => {
    blocks.seal(1);
    const id = await registry.addBlocks();
    expect(await marks(id)).toEqual([]);
    blocks.seal(2, 3);
    expect(await marks(id)).toEqual([2, 3]);
    expect(await marks(id)).toEqual([]);
    const later = await registry.addBlocks();
    blocks.seal(4);
    expect(await Promise.all([marks(id), marks(later), marks(id)])).toEqual([[4], [4], []]);
  });

  test('tell logs within their bounds', async () => {
    const open = await registry.addLogs(parseLogRequest({}));
    const bounded = await registry.addLogs(parseLogRequest({ fromBlock: '0x2', toBlock: '0x3' }));
    blocks.seal(1, 2, 3, 4);
    expect(await marks(open)).toEqual([1, 2, 3, 4]);
    expect(await marks(bounded)).toEqual([2, 3]);
    expect(await marks(bounded)).toEqual([]);
    blocks.seal(5);
    expect(await marks(open)).toEqual([5]);
    expect(await marks(bounded)).toEqual([]);
  });

  test('tell logs again whose search failed', async () => {
    const id = await registry.addLogs(parseLogRequest({}));
    blocks.seal(1);
    blocks.failing = true;
    await expect(marks(id)).rejects.toThrow('not to be had');
    blocks.failing = false;
    blocks.seal(2);
    expect(await marks(id)).toEqual([1, 2]);
  });

  test('tell the blocks that took the place of others', async () => {
    const id = await registry.addBlocks();
    blocks.seal(1, 2, 3);
    expect(await marks(id)).toEqual([1, 2, 3]);
    blocks.revert(1);
    expect(await marks(id)).toEqual([]);
    blocks.seal(12, 13);
    expect(await marks(id)).toEqual([12, 13]);
  });

  test('tell nothing again of blocks that the chain tells of late', async () => {
    const before = blocks.sealUntold(1);
    const ids = [await registry.addBlocks(), await registry.addLogs(parseLogRequest({}))];
    blocks.tell(...before);
    const late = blocks.sealUntold(2, 3, 4);
    for (const id of ids) expect(await marks(id)).toEqual([2, 3, 4]);
    blocks.tell(...late);
    for (const id of ids) expect(await marks(id)).toEqual([]);
    blocks.seal(5);
    for (const id of ids) expect(await marks(id)).toEqual([5]);
    blocks.revert(2);
    const others = blocks.sealUntold(13, 14, 15);
    for (const id of ids) expect(await marks(id)).toEqual([]);
    blocks.tell(...others);
    for (const id of ids) expect(await marks(id)).toEqual([13, 14, 15]);
  });

  test('tell what could not be had before, also when the chain tells of it late', async () => {
    const id = await registry.addLogs(parseLogRequest({}));
    const late = blocks.sealUntold(1, 2);
    blocks.failing = true;
    await expect(marks(id)).rejects.toThrow('not to be had');
    blocks.tell(...late);
    blocks.failing = false;
    expect(await marks(id)).toEqual([1, 2]);
  });

  test('tell pending transactions, the newest 10 000 of them', async () => {
    const id = registry.addTransactions();
    blocks.submit(1);
    blocks.submit(2);
    expect(await marks(id)).toEqual([1, 2]);
    for (let i = 0; i < 10_001; i++) blocks.submit(i % 251);
    const waiting = await marks(id);
    expect(waiting).toHaveLength(10_000);
    expect(waiting[0]).toBe(1);
  });

  test('are forgotten when idle for five minutes, and not while they are asked', async () => {
    const [asked, idle] = [await registry.addBlocks(), registry.addTransactions()];
    now += FILTER_IDLE_MS;
    await marks(asked);
    now += 1;
    await marks(asked);
    await expect(marks(idle)).rejects.toMatchObject({ code: 'FILTER_NOT_FOUND', details: { id: idle } });
    expect(registry.remove(idle)).toBe(false);
    expect(registry.remove(asked)).toBe(true);
    expect(registry.remove(asked)).toBe(false);
  });

  test('listen to the chain only while there are some', async () => {
    const [one, other] = [await registry.addBlocks(), registry.addTransactions()];
    expect([blocks.heads.size, blocks.pending.size]).toEqual([1, 1]);
    registry.remove(one);
    expect([blocks.heads.size, blocks.pending.size]).toEqual([1, 1]);
    registry.remove(other);
    expect([blocks.heads.size, blocks.pending.size]).toEqual([0, 0]);
    registry.addTransactions();
    now += FILTER_IDLE_MS + 1;
    blocks.seal(1);
    expect([blocks.heads.size, blocks.pending.size]).toEqual([0, 0]);
  });

  test('are limited in number, and have ids that are quantities and cannot be guessed', async () => {
    const { or: maxFilters } = NODE_OPTIONS.maxFilters;
    registry = new FilterRegistry(blocks.chain, { now: () => now, maxFilters });
    const ids = new Set<string>();
    for (let i = 0; i < maxFilters; i++) ids.add(registry.addTransactions());
    expect(ids.size).toBe(maxFilters);
    for (const id of ids) expect(id).toMatch(/^0x[1-9a-f][0-9a-f]{20,31}$/);
    expect(() => registry.addTransactions()).toThrow(expect.objectContaining({ code: 'FILTER_LIMIT' }));
    registry.remove([...ids][0]!);
    expect(registry.addTransactions()).toMatch(/^0x/);
  });

  test('the limit is that of each client', async () => {
    registry = new FilterRegistry(blocks.chain, { now: () => now, maxFilters: 2 });
    for (let i = 0; i < 2; i++) registry.addTransactions('a');
    const message = 'there are 2 filters already: uninstall one first';
    const refusal = { code: 'FILTER_LIMIT', message, details: { limit: 2 } };
    await expect(registry.addBlocks('a')).rejects.toMatchObject(refusal);
    await expect(registry.addLogs(parseLogRequest({}), 'a')).rejects.toMatchObject(refusal);
    expect(await registry.addBlocks('b')).toMatch(/^0x/);
  });

  test('of all clients together, the one with the most loses its oldest', async () => {
    registry = new FilterRegistry(blocks.chain, { now: () => now, maxFilters: 1000 });
    const first = registry.addTransactions('small');
    const many: string[] = [];
    for (let i = 0; i < 1000; i++, now++) many.push(registry.addTransactions('large'));
    for (let i = 0; i < 23; i++) registry.addTransactions(`other ${i}`);
    await registry.changes(many[0]!);
    for (let i = 0; i < 2; i++) registry.addTransactions(`last ${i}`);
    for (const id of [many[1]!, many[2]!])
      await expect(registry.changes(id)).rejects.toMatchObject({ code: 'FILTER_NOT_FOUND' });
    for (const id of [first, many[0]!, many[3]!]) expect(await registry.changes(id)).toEqual({ hashes: [] });
  });
});

describe('ranges of logs', () => {
  const blocks = new Blocks();
  blocks.seal(...Array(6000).fill(1));
  const find = (filter: object) => findLogs(blocks.chain, parseLogRequest(filter));

  test('may have any number of blocks', async () => {
    expect(await find({ fromBlock: '0x0', toBlock: 'latest' })).toHaveLength(6001);
    expect(blocks.asked).toEqual([[0, 6000]]);
  });

  test.each([{}, { fromBlock: '0x1' }, { fromBlock: 'latest', toBlock: 'pending' }])(
    'end at the head, however it moves meanwhile: %o',
    async (filter) => {
      const moving = new Blocks();
      moving.seal(1, 2);
      const { chain } = moving;
      const head: Chain['head'] = () => {
        moving.seal(3);
        return chain.head();
      };
      const block: Chain['block'] = (reference) => {
        moving.seal(3);
        return chain.block(reference);
      };
      expect(await findLogs({ ...chain, head, block }, parseLogRequest(filter))).not.toEqual([]);
    },
  );
});
