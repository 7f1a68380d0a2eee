import { describe, expect, test } from 'vitest';
import { Endpoint, type EndpointLimits } from '../../src/upstream/endpoint.js';
import type { ExchangeRecord } from '../../src/upstream/observer.js';
import { type Call, faultOutcome, forAll } from '../../src/upstream/transport/fault.js';
import type { Exchange, Transport } from '../../src/upstream/transport/transport.js';
import { createManualClock } from '../support/mock-upstream-clock.js';
import { failureOf, turns } from '../support/mock-upstream-scene.js';

const NO_LIMITS = { timeoutMs: 10_000, ratePerSecond: Number.POSITIVE_INFINITY, burst: 1, concurrency: 6 };

interface Sent {
  readonly methods: readonly string[];
  readonly signal: AbortSignal;
  reply(exchange: Partial<Exchange>): void;
  fail(reason: unknown): void;
}

/** An endpoint whose answers the test gives, and what it has sent. */
function open(limits: Partial<EndpointLimits> = {}, batchLimit = 100) {
  const clock = createManualClock();
  const sent: Sent[] = [];
  const records: ExchangeRecord[] = [];
  const transport: Transport = {
    origin: 'https://host.example',
    batchLimit,
    exchange: (calls, signal) =>
      new Promise((resolve, reject) => {
        const methods = calls.map(({ method }) => method);
        const results = calls.map(({ method }) => ({ kind: 'result', result: `${method}!` }) as const);
        const whole = { reply: results, status: 200, bytesSent: 1, bytesReceived: 2 };
        sent.push({ methods, signal, reply: (exchange) => resolve({ ...whole, ...exchange }), fail: reject });
      }),
  };
  const host = { clock, random: () => 0.5, onExchange: (record: ExchangeRecord) => void records.push(record) };
  const endpoint = new Endpoint('id', transport, { ...NO_LIMITS, ...limits }, host);
  const { signal } = new AbortController();
  const ask = (...methods: string[]) =>
    endpoint.ask(
      methods.map((method) => ({ method, params: [] })),
      { signal, deduplicate: false },
    );
  return { clock, sent, records, endpoint, signal, ask };
}
const results = (...methods: string[]) => methods.map((method) => ({ kind: 'result', result: `${method}!` }));
const limited = (calls: readonly Call[], retryAfterMs?: number) =>
  forAll(calls, faultOutcome('rate-limited', 'slowly', retryAfterMs === undefined ? {} : { retryAfterMs }));
const one = [{ method: 'a', params: [] }];
/** Lets this many microtasks pass. */
async function microtasks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await undefined;
}

describe('what an endpoint refuses before it sends', () => {
  test('a request that was aborted, with its reason; no calls are no request', async () => {
    const { endpoint, sent } = open();
    const aborted = AbortSignal.abort('too late');
    expect(await failureOf(endpoint.ask(one, { signal: aborted, deduplicate: true }))).toBe('too late');
    expect(await endpoint.ask([], { signal: new AbortController().signal, deduplicate: true })).toEqual([]);
    await turns(2);
    expect(sent).toEqual([]);
  });

  test('any request after it was closed; those that wait or are sent are ended', async () => {
    const { endpoint, sent, ask, clock } = open({ concurrency: 1 });
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

describe('calls that are gathered', () => {
  test('share a request if they are 15 microtasks apart, also the second time', async () => {
    const { sent, ask } = open();
    for (const round of [1, 2]) {
      void ask('a');
      await microtasks(14);
      void ask('b');
      await turns(1);
      expect(sent.map(({ methods }) => methods)).toEqual(Array(round).fill(['a', 'b']));
    }
  });

  test('of a later turn are gathered by themselves', async () => {
    const { sent, ask } = open();
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
    const { sent, ask } = open({}, 3);
    for (const methods of [['a'], ['b', 'c'], ['d'], ['e', 'f', 'g', 'h']]) void ask(...methods);
    await turns(1);
    expect(sent.map(({ methods }) => methods)).toEqual([['a', 'b', 'c'], ['d'], ['e', 'f', 'g'], ['h']]);
  });
});

describe('a rate limit', () => {
  test('is the answer of calls that wait when it arrives, with the time that is left', async () => {
    const { clock, sent, ask, endpoint } = open({ concurrency: 1 });
    void ask('a');
    await turns(1);
    const waiting = ask('b', 'c');
    sent[0]!.reply({ reply: limited(one, 7_000) });
    const fault = { kind: 'rate-limited', reason: 'waiting as the endpoint asked', retryAfterMs: 7_000 };
    expect(await waiting).toEqual(Array(2).fill({ kind: 'fault', fault }));
    expect([sent.length, endpoint.pausedForMs()]).toEqual([1, 7_000]);
    await clock.advance(7_000);
    expect(endpoint.pausedForMs()).toBe(0);
  });

  test('that names no time doubles the pause each time, until an answer without one', async () => {
    const { clock, sent, ask, endpoint } = open();
    const pauses: number[] = [];
    for (const isLimited of [true, true, true, false, true]) {
      void ask('a');
      await turns(1);
      sent.at(-1)!.reply(isLimited ? { reply: limited(one) } : {});
      await turns(1);
      pauses.push(endpoint.pausedForMs());
      await clock.advance(endpoint.pausedForMs());
    }
    // Half of 500 ms, doubled each time.
    expect(pauses).toEqual([250, 500, 1_000, 0, 250]);
  });

  test('of a batch that was answered in part does not begin the waits anew', async () => {
    const { clock, sent, ask, endpoint } = open();
    for (const pause of [250, 500]) {
      void ask('a', 'b');
      await turns(1);
      sent.at(-1)!.reply({ reply: [...results('a'), ...limited(one)] as Exchange['reply'] });
      await turns(1);
      expect(endpoint.pausedForMs()).toBe(pause);
      await clock.advance(pause);
    }
  });

  test('that meets several requests at once counts once, and the longest time holds', async () => {
    const { sent, ask, endpoint } = open({}, 1);
    void ask('a');
    void ask('b');
    await turns(1);
    for (const { reply } of sent) reply({ reply: limited(one) });
    await turns(1);
    expect(endpoint.pausedForMs()).toBe(250);
    const other = open({}, 1);
    for (const method of ['a', 'b', 'c']) void other.ask(method);
    await turns(1);
    for (const [i, ms] of [3_000, 9_000, 6_000].entries()) other.sent[i]!.reply({ reply: limited(one, ms) });
    await turns(1);
    expect(other.endpoint.pausedForMs()).toBe(9_000);
  });
});

describe('what an endpoint makes of its transport', () => {
  test('one that throws is a fault of the endpoint', async () => {
    const { sent, ask, records } = open();
    const asked = ask('a', 'b');
    await turns(1);
    sent[0]!.fail(new Error('broken'));
    const fault = { kind: 'malformed', reason: 'the request could not be made' };
    expect(await asked).toEqual(Array(2).fill({ kind: 'fault', fault }));
    expect(records).toMatchObject([{ methods: ['a', 'b'], bytesSent: 0, bytesReceived: 0, fault: 'malformed' }]);
  });

  test('one that is silent is aborted at the time limit', async () => {
    const { clock, sent, ask } = open({ timeoutMs: 700 });
    const asked = ask('a');
    await turns(1);
    await clock.advance(699);
    expect(sent[0]!.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(sent[0]!.signal.reason).toBe('time limit exceeded');
    const reason = 'no answer in 700 ms; it hangs: raise timeoutMs, or give another endpoint';
    expect(await asked).toEqual([{ kind: 'fault', fault: { kind: 'timed-out', reason } }]);
  });

  test('a refused batch is sent again with the new limit, never above the old one and never below one', async () => {
    for (const [refused, sizes] of [
      [2, [4, 2, 2]],
      [9, [4, 4]],
      [0, [4, 1, 1, 1, 1]],
    ] as const) {
      const { sent, ask } = open({}, 4);
      const asked = ask('a', 'b', 'c', 'd');
      await turns(1);
      sent[0]!.reply({ reply: { batchLimit: refused } });
      await turns(2);
      for (const { reply } of sent.slice(1)) reply({});
      expect(await asked).toEqual(results('a', 'b', 'c', 'd'));
      expect(sent.map(({ methods }) => methods.length)).toEqual(sizes);
    }
  });

  test('each exchange is recorded, with its first fault', async () => {
    const { clock, sent, ask, records, endpoint } = open();
    const asked = ask('a', 'b');
    await turns(1);
    await clock.advance(30);
    sent[0]!.reply({ reply: [...results('a'), ...limited(one, 5)] as Exchange['reply'] });
    await asked;
    const endedAt = clock.now();
    expect(records).toEqual([
      {
        endpoint: 'id',
        origin: 'https://host.example',
        methods: ['a', 'b'],
        startedAt: endedAt - 30,
        endedAt,
        status: 200,
        bytesSent: 1,
        bytesReceived: 2,
        fault: 'rate-limited',
      },
    ]);
    expect(endpoint.origin).toBe('https://host.example');
    await clock.advance(5);
    const fine = ask('a');
    await turns(1);
    sent[1]!.reply({});
    await fine;
    expect(records[1]).not.toHaveProperty('fault');
  });
});
