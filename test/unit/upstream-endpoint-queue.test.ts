import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { PendingCalls } from '../../src/upstream/endpoint.js';
import { callsOf, openEndpoint } from '../support/endpoint-scene.js';
import { failureOf, turns } from '../support/mock-upstream-scene.js';

/** Lets this many microtasks pass. */
async function microtasks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await undefined;
}

describe('what an endpoint refuses before it sends', () => {
  test('a request that was aborted, with its reason; no calls are no request', async () => {
    const { endpoint, sent } = openEndpoint();
    const aborted = AbortSignal.abort('too late');
    expect(await failureOf(endpoint.ask(callsOf('a'), { signal: aborted, deduplicate: true }))).toBe('too late');
    expect(await endpoint.ask([], { signal: new AbortController().signal, deduplicate: true })).toEqual([]);
    await turns(2);
    expect(sent).toEqual([]);
  });

  test('any request after it was closed; those that wait or are sent are ended', async () => {
    const { endpoint, sent, ask, clock } = openEndpoint({ concurrency: 1 });
    const [flying, waiting] = [failureOf(ask('a')), turns(1).then(() => failureOf(ask('b')))];
    await turns(3);
    expect(sent).toHaveLength(1);
    endpoint.close();
    const closed = { code: 'ABORTED', message: 'the endpoint was closed; open a new node to go on' };
    for (const failure of [flying, waiting, failureOf(ask('c'))]) expect(await failure).toMatchObject(closed);
    expect(sent[0]!.signal.aborted).toBe(true);
    await turns(2);
    expect([sent.length, clock.open]).toEqual([1, 0]);
  });
});

describe('calls that are more than a batch', () => {
  test('go in as few parts as can be, and end together when the endpoint is closed', async () => {
    const parts = new PendingCalls(callsOf('a', 'b', 'c', 'd'), () => {}).split(2);
    expect(parts.map(({ calls }) => calls.map(({ method }) => method))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    const { endpoint, sent, ask } = openEndpoint({ concurrency: 1 }, 2);
    const failure = failureOf(ask('a', 'b', 'c', 'd'));
    await turns(1);
    endpoint.close();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
    expect(sent).toHaveLength(1);
  });

  test('listen to their signal until they are answered', async () => {
    const { endpoint, sent } = openEndpoint();
    const { signal } = new AbortController();
    const asked = endpoint.ask(callsOf('a'), { signal, deduplicate: false });
    await turns(1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    sent[0]!.reply({});
    await asked;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('calls that are gathered', () => {
  test('share a request if they are 15 microtasks apart, also the second time', async () => {
    const { sent, ask } = openEndpoint();
    for (const round of [1, 2]) {
      void ask('a');
      await microtasks(14);
      void ask('b');
      await turns(1);
      expect(sent.map(({ methods }) => methods)).toEqual(Array(round).fill(['a', 'b']));
    }
  });

  test('of a later turn are gathered by themselves', async () => {
    const { sent, ask } = openEndpoint();
    void ask('a');
    await microtasks(10);
    void ask('b');
    await microtasks(10);
    expect(sent.map(({ methods }) => methods)).toEqual([['a', 'b']]);
    void ask('c');
    await microtasks(12);
    void ask('d');
    await turns(1);
    expect(sent.map(({ methods }) => methods)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  test('fill a batch to its limit, and one call more goes in the next', async () => {
    const { sent, ask } = openEndpoint({}, 3);
    for (const methods of [['a'], ['b', 'c'], ['d'], ['e', 'f', 'g', 'h']]) void ask(...methods);
    await turns(1);
    expect(sent.map(({ methods }) => methods)).toEqual([['a', 'b', 'c'], ['d'], ['e', 'f', 'g'], ['h']]);
  });
});
