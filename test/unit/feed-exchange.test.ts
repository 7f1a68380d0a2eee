import { expect, test } from 'vitest';
import { systemClock } from '../../src/scheduling/clock.js';
import { parseEndpointAddress } from '../../src/upstream/address.js';
import { feedExchange } from '../../src/upstream/feed.js';
import { ShiftedClock } from '../support/shifted-clock.js';

/* The client of a feed over answers that are given here. */

const FEED = 'http://cache.test/feed';
const ADDRESS = `0x${'22'.repeat(20)}`;
const hash = (digit: string) => `0x${digit.repeat(64)}`;
const key = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;

type Answer = (path: string, signal: AbortSignal) => Response | Promise<Response>;

function exchangeOver(answer: Answer, { maxResponseBytes = 1_000_000, clock = systemClock } = {}) {
  const asked: string[] = [];
  const fetch = async (url: string, { signal }: { signal: AbortSignal }) => {
    const path = url.slice(FEED.length + 1);
    asked.push(path);
    return answer(path, signal);
  };
  const http = { fetch: fetch as unknown as typeof globalThis.fetch, maxResponseBytes };
  const exchange = feedExchange({ address: parseEndpointAddress(FEED), http, clock, maxAgeMs: 300_000 });
  const ask = async (method: string, ...params: unknown[]) => {
    const { reply } = await exchange([{ method, params }], new AbortController().signal);
    return (reply as readonly unknown[])[0];
  };
  return { ask, asked };
}

test('the objects of one call have no more bytes than an answer may have', async () => {
  const { ask, asked } = exchangeOver(() => Response.json({ padding: 'x'.repeat(1_000) }), { maxResponseBytes: 5_000 });
  const keys = Array.from({ length: 100 }, (_, i) => key(i));
  expect(await ask('eth_getProof', ADDRESS, keys, hash('a'))).toMatchObject({
    kind: 'fault',
    fault: { kind: 'malformed', reason: 'the objects of one call have more than 5000 bytes' },
  });
  expect(asked.length).toBeLessThan(20);
  // The next call has as many again.
  expect(await ask('eth_getProof', ADDRESS, keys.slice(0, 2), hash('a'))).toMatchObject({ kind: 'result' });
});

test('a call that has failed leaves no GET behind', async () => {
  const left: AbortSignal[] = [];
  const { ask } = exchangeOver((path, signal) => {
    if (path.includes('/account/')) return Response.json({ code: -32001, message: 'not held' }, { status: 404 });
    left.push(signal);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  expect(await ask('eth_getProof', ADDRESS, [key(1), key(2)], hash('a'))).toMatchObject({ kind: 'error' });
  expect(left.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test('the hash of a block is known by its number only for a while after the newest block was asked for', async () => {
  const clock = new ShiftedClock();
  let digit = 'a';
  const { ask, asked } = exchangeOver(
    (path) => {
      if (!path.startsWith('head/')) return Response.json({});
      const timestamp = `0x${Math.floor(clock.now() / 1000).toString(16)}`;
      return Response.json({
        chainId: '0x1',
        header: { number: '0x5', hash: hash(digit), parentHash: hash('b'), timestamp },
      });
    },
    { clock },
  );
  await ask('eth_getBlockByNumber', 'latest', false);
  // Another block took its place, and nobody has asked for the newest one since.
  digit = 'c';
  await ask('eth_getProof', ADDRESS, [], '0x5');
  clock.advance(60_000);
  await ask('eth_getProof', ADDRESS, [], '0x5');
  expect(asked).toEqual([
    'head/latest',
    `block/${hash('a')}/account/${ADDRESS}`,
    'head/0x5',
    `block/${hash('c')}/account/${ADDRESS}`,
  ]);
});
