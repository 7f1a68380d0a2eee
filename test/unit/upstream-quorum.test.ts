import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { PlumblineError, type UpstreamReason } from '../../src/errors.js';
import type { Call } from '../../src/upstream/failure.js';
import { rejection, requestFailureOf, tooFew, upstreamError } from '../../src/upstream/failure.js';
import { askQuorum } from '../../src/upstream/group.js';
import { failureOf, turns } from '../support/mock-upstream-scene.js';

const REMEDY = '; name another in its place, or need fewer (chain.level, chain.agreeing, chain.layerOneAgreeing)';

const from = (id: string) => ({ id, origin: id.split('#')[0]! });
const key = (value: unknown) => String(value);
const unavailable = (origin: string, reason: string) =>
  new PlumblineError('UPSTREAM_UNAVAILABLE', 'none', { endpoints: [{ origin, kind: 'unavailable', reason }] });

/** Endpoints that give these answers, or throw those that are errors, in this order. */
function asking(answers: Record<string, unknown>, needed: number, more: object = {}, caller?: AbortSignal) {
  const signals: AbortSignal[] = [];
  const ask = async ({ id }: { id: string }, signal: AbortSignal) => {
    signals.push(signal);
    const answer = answers[id];
    if (answer instanceof Error || answer === 'no error') throw answer;
    return answer === undefined ? new Promise<never>(() => {}) : answer;
  };
  const options = { needed, key, accept: (value: unknown) => value, ...more };
  return { signals, answer: askQuorum('eth_x', Object.keys(answers).map(from), options, ask, caller) };
}

describe('a quorum', () => {
  test('is settled as soon as enough agree, or when all have answered', async () => {
    const { answer, signals } = asking({ a: 'x', b: 'x', c: 'x', d: 'y' }, 2);
    expect(await answer).toEqual({
      value: 'x',
      key: 'x',
      agreed: [from('a'), from('b')],
      votes: ['a', 'b'].map((id) => ({ from: from(id), value: 'x', key: 'x' })),
    });
    for (const { reason } of signals)
      expect(reason).toMatchObject({ code: 'ABORTED', message: 'enough endpoints have answered' });
    const all = await asking({ a: 'x', b: 'y', c: 'y', d: 'y' }, 2, { wait: 'all' }).answer;
    expect([all.value, all.agreed.length, all.votes.length]).toEqual(['y', 3, 4]);
  });

  test('is of as many origins as there are, at least one', async () => {
    for (const needed of [0, 3, 1.5, Number.NaN])
      expect(await failureOf(asking({ a: 1, 'a#2': 1, b: 1 }, needed).answer)).toMatchObject({
        code: 'INVALID_PARAMETER',
        message: 'needed: must be from 1 to 2, the number of origins',
      });
    expect((await asking({ a: 1, 'a#2': 1, b: 1 }, 2).answer).value).toBe(1);
    expect((await asking({ a: 1 }, 1).answer).value).toBe(1);
  });

  test('of equally many is the one that arrived first', async () => {
    expect((await asking({ a: 'x', b: 'y' }, 1, { wait: 'all' }).answer).value).toBe('x');
    expect((await asking({ a: 'x', b: 'y', c: 'y', d: 'x' }, 2, { wait: 'all' }).answer).value).toBe('x');
  });

  test('counts endpoints of one origin once', async () => {
    const answer = await asking({ a: 'x', 'a#2': 'x', b: 'y', c: 'y' }, 2, { wait: 'all' }).answer;
    expect([answer.value, answer.agreed]).toEqual(['y', [from('b'), from('c')]]);
    expect(await failureOf(asking({ a: 'x', 'a#2': 'x', b: 'y' }, 2).answer)).toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
      details: { agreed: 1, answers: 3 },
    });
  });

  test('that is not reached says what each endpoint did', async () => {
    const error = await failureOf(
      asking({ a: 'x', b: 'y', c: unavailable('c', 'down'), d: new Error('own') }, 2).answer,
    );
    expect(error).toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
      message: 'about eth_x, no two endpoints agree, but 2 must (a says x; b says y)',
      details: {
        needed: 2,
        agreed: 1,
        answers: 2,
        said: [
          { origin: 'a', answer: 'x' },
          { origin: 'b', answer: 'y' },
        ],
        endpoints: [
          { origin: 'c', kind: 'unavailable', reason: 'UPSTREAM_UNAVAILABLE' },
          { origin: 'd', kind: 'unavailable', reason: 'failed' },
        ],
      },
    });
  });

  test('that too few answer has the first error, with the reasons of all', async () => {
    const first = unavailable('b', 'down');
    const text = new PlumblineError('UPSTREAM_ERROR', 'c answered 3: no', { origin: 'c', code: 3, message: 'no' });
    expect(await failureOf(asking({ a: first, b: text }, 1).answer)).toBe(first);
    const error = await failureOf(asking({ a: 'x', b: first, c: text, d: new Error('own') }, 2).answer);
    expect(error).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: `2 endpoints must agree, but only a answered (b: down; c answered 3: no; failed)${REMEDY}`,
      details: first.details,
      cause: first,
    });
    expect(await failureOf(asking({ a: 'x', b: 'no error', c: first }, 2).answer)).toBe('no error');
    expect(await failureOf(asking({ a: 'x', 'a#2': 'x', b: first }, 2).answer)).toMatchObject({
      message: `2 endpoints must agree, but only a answered (b: down)${REMEDY}`,
    });
  });

  test('does not count an answer whose key throws', async () => {
    const given = (value: unknown) => {
      if (value === 'bad') throw new Error('no key');
      return String(value);
    };
    const { votes } = await asking({ a: 'bad', b: 'x' }, 1, { key: given, wait: 'all' }).answer;
    expect(votes.map((vote) => 'error' in vote)).toEqual([true, false]);
  });

  test('ends with its caller, whom it no longer listens to then', async () => {
    const controller = new AbortController();
    const { signals, answer } = asking({ a: 1, b: 2 }, 1, {}, controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    await answer;
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(signals[0]!.reason).toMatchObject({ code: 'ABORTED' });
    const other = asking({ a: undefined, b: 1 }, 2, {}, controller.signal);
    void other.answer.catch(() => {});
    await turns(1);
    controller.abort('enough');
    expect(other.signals.map(({ reason }) => reason)).toEqual(['enough', 'enough']);
    expect(asking({ a: undefined }, 1, {}, controller.signal).signals[0]!.reason).toBe('enough');
  });

  test('whose caller has aborted has the error of an endpoint that it ended, and not of one that failed before', async () => {
    const stopped = new PlumblineError('ABORTED', 'stopped', {});
    const answers = { a: new Error('own'), b: 1, c: stopped };
    expect(await failureOf(asking(answers, 2, {}, AbortSignal.abort()).answer)).toBe(stopped);
    expect(await failureOf(asking(answers, 2).answer)).not.toBe(stopped);
  });
});

describe('failures', () => {
  const calls = [{ method: 'eth_getBalance', params: ['0x01', 'latest'] }];
  const info = from('https://h.example');
  const fault = (kind: UpstreamReason['kind'], status?: number) => ({
    fault: { kind, reason: `is ${kind}`, ...(status !== undefined && { status }) },
    isFinal: false,
  });

  test.each([
    ['configuration', 'UPSTREAM_CONFIGURATION', 'no endpoint serves this node; check URLs and API keys'],
    ['rate-limited', 'UPSTREAM_RATE_LIMITED', 'the endpoints limit the rate; wait, or give more endpoints'],
    ['malformed', 'UPSTREAM_MALFORMED', 'no endpoint gave a well-formed answer'],
    ['unavailable', 'UPSTREAM_UNAVAILABLE', 'no endpoint could be reached'],
    ['timed-out', 'UPSTREAM_UNAVAILABLE', 'no endpoint could be reached'],
  ] as const)('of one kind, %s, have its code and words', (kind, code, words) => {
    const origin = 'https://h.example';
    const error = requestFailureOf(calls, [
      [info, fault(kind, 500)],
      [info, fault(kind)],
    ]);
    expect(error).toMatchObject({ code, message: `${words} (${origin}: is ${kind}; ${origin}: is ${kind})` });
    expect((error as PlumblineError).details).toStrictEqual({
      endpoints: [
        { origin, kind, reason: `is ${kind}`, status: 500 },
        { origin, kind, reason: `is ${kind}` },
      ],
    });
  });

  test('of several kinds have no reason in common', () => {
    const error = requestFailureOf(calls, [
      [info, fault('malformed')],
      [info, fault('configuration')],
    ]);
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  test('that were refused name the code of what refused them', () => {
    const refused = new PlumblineError('STATE_MISMATCH', 'false', { what: 'root', expected: '1', actual: '2' });
    const reason = 'its answer was refused';
    expect(rejection(refused, info, true)).toEqual({
      fault: { kind: 'rejected', reason: `${reason}: STATE_MISMATCH` },
      isFinal: true,
      error: refused,
    });
    expect(requestFailureOf(calls, [[info, rejection(refused, info, true)]])).toBe(refused);
  });

  test('while an answer was checked are not held against its endpoint, if they are of another, or of none', () => {
    const elsewhere = { what: 'body of block 5', check: 'ROOT_MISMATCH', at: '', origin: 'https://liar.example' };
    const others = [
      new PlumblineError('ANSWER_REFUSED', 'https://liar.example: body of block 5: false', elsewhere),
      unavailable('https://liar.example', 'down'),
      new PlumblineError('REQUEST_TIMED_OUT', 'no answer in 30000 ms', { timeoutMs: 30_000 }),
      new TypeError('Failed to fetch dynamically imported module'),
      'own',
    ];
    for (const error of others) {
      const failure = rejection(error, info, true);
      expect(failure).toEqual({ fault: { kind: 'unavailable', reason: expect.any(String) }, isFinal: true, error });
      expect(requestFailureOf(calls, [[info, failure]])).toBe(error);
    }
    const [lie] = others;
    const own = new PlumblineError('ANSWER_REFUSED', 'false', { ...elsewhere, origin: info.origin });
    expect(rejection(own, info, false)).toMatchObject({ fault: { kind: 'rejected' }, isFinal: false });
    const down = { fault: { kind: 'unavailable', reason: 'down' }, isFinal: true } as const;
    expect(
      requestFailureOf(calls, [
        [info, rejection(lie, info, true)],
        [from('https://b'), down],
      ]),
    ).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: `no endpoint could be reached (${info.origin}: not checked: https://liar.example: body of block 5: false; https://b: down)`,
    });
  });

  test('of what this version does not know keep the endpoint that they name', () => {
    const details = { block: '5', members: ['x'], origin: 'https://other.example', method: 'eth_getBlockByHash' };
    const error = new PlumblineError('HEADER_UNSUPPORTED', 'https://other.example: members', details);
    expect(requestFailureOf(calls, [[info, rejection(error, info, true)]])).toBe(error);
  });

  test('of JSON-RPC say who gave them, and whether they are passed on', () => {
    const body = { code: 3, message: 'no', data: '0x' };
    const call: Call = calls[0]!;
    const error = upstreamError(info, call, body);
    expect(error.message).toBe('https://h.example answered eth_getBalance of block latest with error 3, it says "no"');
    const asked = { origin: 'https://h.example', method: 'eth_getBalance', block: 'latest' };
    expect(error.details).toStrictEqual({ ...asked, ...body });
    expect(upstreamError(info, call, body, true).details).toStrictEqual({ ...error.details, forwarded: true });
  });

  test('of too few answers are the first one as it is, if it is of no kind', () => {
    expect(tooFew(['own', unavailable('a', 'down')], ['b'], 2)).toBe('own');
  });
});
