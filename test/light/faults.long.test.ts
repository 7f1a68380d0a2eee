import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { accountAt, PRICE, stranger } from '../support/dev-node.js';
import { openHurried, serveFaulty } from '../support/faulty-node.js';
import type { MockUpstream } from '../support/mock-upstream.js';
import type { MockFault } from '../support/mock-upstream-fault.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const holder = accountAt(0);
const QUESTIONS: [method: string, ...params: unknown[]][] = [
  ['eth_blockNumber'],
  ['eth_getBalance', holder, 'latest'],
  ['linea_estimateGas', { from: holder, to: token, data: transferCalldata(stranger('77'), 5n) }],
];

interface Case {
  readonly name: string;
  readonly fault: MockFault;
  /** What comes of it when there is nothing else, for good: a code, or the right answer. */
  readonly alone: RegExp | 'right';
  /** Whether the one request that met it is answered with an error: nothing says that it may be made again. */
  readonly passedOn?: boolean;
  /** HTTP requests that may go to it, alone, for all three questions. */
  readonly requests?: number;
}

/** Asked again as often as the time for a head allows: it may be over first. */
const LIMITED = /^(UPSTREAM_RATE_LIMITED|REQUEST_TIMED_OUT)$/;

/** Read, and asked for again: on a slow machine the time for a head is over first. */
const SLOW = /^(UPSTREAM_MALFORMED|REQUEST_TIMED_OUT)$/;

const CASES: Case[] = [
  { name: 'no answer', fault: { kind: 'silence' }, alone: /^(REQUEST_TIMED_OUT|UPSTREAM_UNAVAILABLE)$/ },
  { name: 'half an answer', fault: { kind: 'stall' }, alone: /^(REQUEST_TIMED_OUT|UPSTREAM_UNAVAILABLE)$/ },
  { name: 'a connection reset', fault: { kind: 'reset' }, alone: /^UPSTREAM_UNAVAILABLE$/ },
  { name: 'a reset midway', fault: { kind: 'reset', midway: true }, alone: /^UPSTREAM_UNAVAILABLE$/ },
  { name: '429 without a time', fault: { kind: 'rate-limit' }, alone: LIMITED },
  { name: '429, Retry-After 2', fault: { kind: 'rate-limit', retryAfter: '2' }, alone: LIMITED },
  {
    name: '429, Retry-After an hour',
    fault: { kind: 'rate-limit', retryAfter: '3600' },
    alone: /^UPSTREAM_RATE_LIMITED$/,
    requests: 1,
  },
  {
    name: '-32005 with its rate',
    fault: { kind: 'rate-limit', backoffSeconds: 30 },
    alone: /^UPSTREAM_RATE_LIMITED$/,
    requests: 1,
  },
  {
    name: '-32005 in an answer',
    fault: { kind: 'error', code: -32005, message: 'daily request count exceeded, request rate limited' },
    alone: LIMITED,
  },
  {
    name: '401',
    fault: { kind: 'status', status: 401, body: 'invalid project id\n' },
    alone: /^UPSTREAM_CONFIGURATION$/,
    requests: 1,
  },
  { name: '500', fault: { kind: 'status', status: 500, body: 'oh' }, alone: /^UPSTREAM_UNAVAILABLE$/ },
  { name: 'HTML', fault: { kind: 'html' }, alone: /^UPSTREAM_CONFIGURATION$/, requests: 3 },
  { name: 'truncated JSON', fault: { kind: 'truncated' }, alone: SLOW },
  { name: 'a batch out of order', fault: { kind: 'out-of-order' }, alone: 'right' },
  { name: 'a batch answered in part', fault: { kind: 'partial', count: 2 }, alone: 'right' },
  { name: 'a batch limited in part', fault: { kind: 'partly-limited', count: 2 }, alone: 'right' },
  { name: 'a batch answered by one error', fault: { kind: 'batch-limit', limit: 1 }, alone: 'right' },
  {
    name: 'one error for everything',
    fault: { kind: 'single-error', code: -32603, message: 'internal error' },
    alone: /^UPSTREAM_ERROR$/,
    passedOn: true,
  },
  { name: 'ids as strings', fault: { kind: 'string-ids' }, alone: 'right' },
  { name: 'a body of 50 MB', fault: { kind: 'huge', bytes: 50_000_000 }, alone: SLOW },
  {
    name: 'a body of 50 MB that is announced',
    fault: { kind: 'huge', bytes: 50_000_000, announced: true },
    alone: SLOW,
  },
];

describe('endpoints that fail', () => {
  let dev: PlumblineNode;
  const expected: unknown[] = [];
  const opened: MockUpstream[] = [];
  const serve = async () => {
    const mock = await serveFaulty(dev);
    opened.push(mock);
    return mock;
  };

  beforeAll(async () => {
    dev = await createInlineNode();
    for (let nonce = 0; nonce < 3; nonce++) {
      const raw = signTransaction(0, { nonce, to: stranger('11'), value: 3n, gasLimit: 21_000n, ...PRICE });
      await dev.request({ method: 'eth_sendRawTransaction', params: [raw] });
    }
    for (const [method, ...params] of QUESTIONS) expected.push(await dev.request<UntypedMethod>({ method, params }));
  });
  afterAll(async () => {
    await Promise.all(opened.map((mock) => mock.close()));
    await dev.close();
  });

  describe.concurrent.each(CASES)('$name', ({ fault, alone, requests, passedOn }) => {
    test('failing for good, alone: each request ends with its error code, or the right answer', async () => {
      const faulty = await serve();
      faulty.fail(fault);
      const node = await openHurried([faulty.url]);
      for (const [i, question] of QUESTIONS.entries()) {
        const { answer, error } = await node.ask(...question);
        if (alone === 'right') expect(answer ?? error).toEqual(expected[i]);
        else expect((error as { code?: string }).code, String(error)).toMatch(alone);
      }
      if (requests !== undefined) expect(faulty.requests).toHaveLength(requests);
      if (fault.kind === 'huge')
        for (const { bytesSent } of faulty.requests) expect(bytesSent).toBeLessThan(fault.bytes);
      expect(await node.close()).toBe(0);
    });

    test('failing for good, beside two that answer: every answer is right', async () => {
      const mocks = [await serve(), await serve(), await serve()];
      mocks[0]!.fail(fault);
      const node = await openHurried(mocks.map(({ url }) => url));
      for (const [i, question] of QUESTIONS.entries()) {
        const { answer, error } = await node.ask(...question);
        expect(answer ?? error).toEqual(expected[i]);
      }
      expect(await node.close()).toBe(0);
    });

    // Who is not asked again cannot do better the second time.
    if (requests !== undefined) return;
    test('failing once, alone: every answer is right', async () => {
      const faulty = await serve();
      faulty.fail((index) => (index === 0 ? fault : undefined));
      // Reading so much takes many turns.
      const msPerTurn = fault.kind === 'huge' ? 1 : undefined;
      const node = await openHurried([{ url: faulty.url, timeoutMs: 3_000 }], {}, msPerTurn);
      for (const [i, question] of QUESTIONS.entries()) {
        const { answer, error } = await node.ask(...question);
        if (i === 0 && passedOn === true) expect(error).toMatchObject({ code: 'UPSTREAM_ERROR' });
        else expect(answer ?? error).toEqual(expected[i]);
      }
      expect(await node.close()).toBe(0);
    });
  });
});
