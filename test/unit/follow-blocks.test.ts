import { expect, test } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import type { HeadListener } from '../../src/chain/chain.js';
import { followBlocks, MAX_TRIES, MAX_WAITING } from '../../src/rpc/sources.js';

interface Scene {
  readonly told: string[];
  readonly errors: unknown[];
  /** Marks of blocks that cannot be read now. */
  readonly failing: Set<string>;
  /** Marks of blocks whose reading takes until it is let go. */
  readonly held: Map<string, Promise<void>>;
  /** A new head, and all that comes of it. */
  head(number: number, mark?: string): Promise<void>;
  stop(): void;
}

const settled = () => new Promise<void>((resolve) => setTimeout(resolve));

function follow(): Scene {
  const told: string[] = [];
  const errors: unknown[] = [];
  const failing = new Set<string>();
  const held = new Map<string, Promise<void>>();
  let listener: HeadListener | undefined;
  const markOf = (block: Block) => new TextDecoder().decode(block.hash);
  const stop = followBlocks(
    {
      subscribe: ({ head }) => {
        listener = head;
        return () => {
          listener = undefined;
        };
      },
    },
    async (block) => {
      await held.get(markOf(block));
      if (failing.has(markOf(block))) throw new Error(`no ${markOf(block)}`);
      return markOf(block);
    },
    (mark) => told.push(mark),
    (error) => errors.push(error),
  );
  const head = (number: number, mark = String(number)) => {
    listener?.({ header: { number }, hash: new TextEncoder().encode(mark) } as Block);
    return settled();
  };
  return { told, errors, failing, held, head, stop };
}

test('a block that cannot be read is reported with the next head, in order', async () => {
  const { told, errors, failing, head } = follow();
  await head(1);
  failing.add('2');
  await head(2);
  await head(3);
  expect(told).toEqual(['1']);
  failing.clear();
  await head(4);
  expect(told).toEqual(['1', '2', '3', '4']);
  expect(errors).toEqual([]);
});

test('a block that can never be read is passed over and reported, once', async () => {
  const { told, errors, failing, head } = follow();
  failing.add('1');
  for (let number = 1; number < MAX_TRIES; number++) await head(number);
  expect([told, errors]).toEqual([[], []]);
  await head(MAX_TRIES);
  expect(errors).toEqual([new Error('no 1')]);
  expect(told).toEqual(Array.from({ length: MAX_TRIES - 1 }, (_, i) => String(i + 2)));
});

test('more blocks than may wait are passed over, oldest first', async () => {
  const { told, errors, held, head } = follow();
  let letGo = () => {};
  held.set('1', new Promise((resolve) => (letGo = resolve)));
  for (let number = 1; number <= MAX_WAITING + 1; number++) void head(number);
  expect(errors).toMatchObject([{ code: 'INTERNAL' }]);
  letGo();
  await settled();
  expect(told).toHaveLength(MAX_WAITING);
  expect(told.slice(0, 2)).toEqual(['2', '3']);
});

test('a block that left the chain while it waited or was read is not told', async () => {
  const { told, errors, failing, held, head } = follow();
  failing.add('2');
  await head(1);
  await head(2);
  failing.clear();
  await head(2, '2b');
  expect(told).toEqual(['1', '2b']);
  let letGo = () => {};
  held.set('3', new Promise((resolve) => (letGo = resolve)));
  await head(3);
  await head(3, '3b');
  letGo();
  await settled();
  expect(told).toEqual(['1', '2b', '3b']);
  expect(errors).toEqual([]);
});

test('nothing is reported after the end', async () => {
  const { told, held, head, stop } = follow();
  let letGo = () => {};
  held.set('1', new Promise((resolve) => (letGo = resolve)));
  await head(1);
  stop();
  letGo();
  await settled();
  await head(2);
  expect(told).toEqual([]);
});
