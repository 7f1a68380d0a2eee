import { describe, expect, test } from 'vitest';
import { faultOutcome } from '../../src/upstream/failure.js';
import { callsOf, type EndpointScene, limitedFor, openEndpoint, resultsOf } from '../support/endpoint-scene.js';
import { failureOf, turns } from '../support/mock-upstream-scene.js';

describe('a rate limit', () => {
  test('is the answer of calls that wait when it arrives, with the time that is left', async () => {
    const { clock, sent, ask, endpoint } = openEndpoint({ concurrency: 1 });
    void ask('a');
    await turns(1);
    const waiting = ask('b', 'c');
    sent[0]!.reply({ reply: limitedFor(7_000) });
    const fault = { kind: 'rate-limited', reason: 'waiting as the endpoint asked', retryAfterMs: 7_000 };
    expect(await waiting).toEqual(Array(2).fill({ kind: 'fault', fault }));
    expect([sent.length, endpoint.pausedForMs()]).toEqual([1, 7_000]);
    await clock.advance(7_000);
    expect(endpoint.pausedForMs()).toBe(0);
  });

  test('that names no time doubles the pause each time, until an answer without one', async () => {
    const { clock, sent, ask, endpoint } = openEndpoint();
    const pauses: number[] = [];
    for (const isLimited of [true, true, true, false, true]) {
      void ask('a');
      await turns(1);
      sent.at(-1)!.reply(isLimited ? { reply: limitedFor() } : {});
      await turns(1);
      pauses.push(endpoint.pausedForMs());
      await clock.advance(endpoint.pausedForMs());
    }
    // Half of 500 ms, doubled each time.
    expect(pauses).toEqual([250, 500, 1_000, 0, 250]);
  });

  test('goes on after a fault of another kind, and ends with an answer in part', async () => {
    const { clock, sent, ask, endpoint } = openEndpoint();
    const fault = faultOutcome('malformed', 'no JSON');
    const pauses: number[] = [];
    const twice = [...limitedFor(), ...limitedFor()];
    for (const reply of [twice, [fault, fault], twice, [...resultsOf('a'), fault], twice]) {
      void ask('a', 'b');
      await turns(1);
      sent.at(-1)!.reply({ reply });
      await turns(1);
      pauses.push(endpoint.pausedForMs());
      await clock.advance(endpoint.pausedForMs());
    }
    expect(pauses).toEqual([250, 0, 500, 0, 250]);
  });

  test('of a batch that was answered in part does not begin the waits anew', async () => {
    const { clock, sent, ask, endpoint } = openEndpoint();
    for (const pause of [250, 500]) {
      void ask('a', 'b');
      await turns(1);
      sent.at(-1)!.reply({ reply: [...resultsOf('a'), ...limitedFor()] });
      await turns(1);
      expect(endpoint.pausedForMs()).toBe(pause);
      await clock.advance(pause);
    }
  });

  test('that meets several requests at once counts once, and the longest time holds', async () => {
    const { sent, ask, endpoint } = openEndpoint({}, 1);
    void ask('a');
    void ask('b');
    await turns(1);
    for (const { reply } of sent) reply({ reply: limitedFor() });
    await turns(1);
    expect(endpoint.pausedForMs()).toBe(250);
    const other = openEndpoint({}, 1);
    for (const method of ['a', 'b', 'c']) void other.ask(method);
    await turns(1);
    for (const [i, ms] of [3_000, 9_000, 6_000].entries()) other.sent[i]!.reply({ reply: limitedFor(ms) });
    await turns(1);
    expect(other.endpoint.pausedForMs()).toBe(9_000);
  });
});

describe('a caller that gives up', () => {
  const giving = (opened: EndpointScene, method: string) => {
    const controller = new AbortController();
    const { signal } = controller;
    const failure = failureOf(opened.endpoint.ask(callsOf(method), { signal, deduplicate: false }));
    return { failure, stop: () => controller.abort('enough') };
  };

  test('ends its request if no other caller waits for the batch, and is not sent again', async () => {
    const opened = openEndpoint();
    const [first, second] = [giving(opened, 'a'), giving(opened, 'b')];
    await turns(1);
    first.stop();
    expect(await first.failure).toBe('enough');
    expect(opened.sent[0]!.signal.aborted).toBe(false);
    opened.sent[0]!.reply({ reply: { batchLimit: 1 } });
    await turns(2);
    expect(opened.sent.map(({ methods }) => methods)).toEqual([['a', 'b'], ['b']]);
    second.stop();
    expect(await second.failure).toBe('enough');
    expect(opened.sent[1]!.signal.reason).toBe('no caller waits');
    await turns(1);
    expect(opened.records.map(({ fault }) => fault)).toEqual([undefined, 'aborted']);
  });

  test('leaves the turn of those that wait behind it, and no timer if there are none', async () => {
    const opened = openEndpoint({ ratePerSecond: 1, burst: 1 });
    void opened.ask('a');
    await turns(1);
    const [first, second] = [giving(opened, 'b'), giving(opened, 'c')];
    await turns(1);
    expect(opened.clock.delays).toEqual([1_000, 10_000]);
    first.stop();
    await opened.clock.advance(1_000);
    expect(opened.sent.map(({ methods }) => methods)).toEqual([['a'], ['c']]);
    const third = giving(opened, 'd');
    await turns(1);
    expect(opened.clock.delays).toContain(1_000);
    third.stop();
    await third.failure;
    expect(opened.clock.delays).not.toContain(1_000);
    second.stop();
    for (const { failure } of [first, second]) expect(await failure).toBe('enough');
  });
});

describe('what an endpoint makes of its transport', () => {
  test('one that throws is a fault of the endpoint', async () => {
    const { sent, ask, records } = openEndpoint();
    const asked = ask('a', 'b');
    await turns(1);
    sent[0]!.fail(new Error('broken'));
    const fault = { kind: 'malformed', reason: 'the request could not be made' };
    expect(await asked).toEqual(Array(2).fill({ kind: 'fault', fault }));
    expect(records).toMatchObject([{ methods: ['a', 'b'], bytesSent: 0, bytesReceived: 0, fault: 'malformed' }]);
  });

  test('one that is silent is aborted at the time limit', async () => {
    const { clock, sent, ask } = openEndpoint({ timeoutMs: 700 });
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
      const { sent, ask } = openEndpoint({}, 4);
      const asked = ask('a', 'b', 'c', 'd');
      await turns(1);
      sent[0]!.reply({ reply: { batchLimit: refused } });
      await turns(2);
      for (const { reply } of sent.slice(1)) reply({});
      expect(await asked).toEqual(resultsOf('a', 'b', 'c', 'd'));
      expect(sent.map(({ methods }) => methods.length)).toEqual(sizes);
    }
  });

  test('each exchange is recorded, with its first fault', async () => {
    const { clock, sent, ask, records, endpoint } = openEndpoint();
    const asked = ask('a', 'b');
    await turns(1);
    await clock.advance(30);
    sent[0]!.reply({ reply: [...resultsOf('a'), ...limitedFor(5)] });
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
