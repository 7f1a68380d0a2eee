import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/scheduling/clock.js';
import { devNode } from '../support/dev-node.js';
import { history, validRequests } from '../support/hostile/requests.js';

/*
 * The request and the answer on the page of each method on the site. After a change that is meant:
 * `npx vitest run test/rpc/method-examples.long.test.ts -u`.
 */

/** It stands still: blocks have its time, and hashes follow from that. */
const CLOCK: Clock = { ...systemClock, now: () => Date.UTC(2026, 0, 1) };

/** Answers with names that are made at random. */
const RANDOM = /^eth_new\w*Filter$|^eth_subscribe$|_metadata$|^admin_nodeInfo$/;

const MOST_LINES = 40;

/** Answers as people read them. A long one is cut. */
function shown(answer: unknown): string {
  const lines = JSON.stringify(answer, undefined, 2).split('\n');
  const short = lines.map((line) => (line.length > 160 ? `${line.slice(0, 150)}…` : line));
  return short.length > MOST_LINES ? [...short.slice(0, MOST_LINES), '…'].join('\n') : short.join('\n');
}

async function examples(): Promise<Record<string, { params: unknown; answer: string }>> {
  const { ask } = await devNode({ clock: CLOCK });
  await history(ask);
  const found: Record<string, { params: unknown; answer: string }> = {};
  for (const [name, [params = []]] of Object.entries(await validRequests(ask))) {
    const answer = await ask(name, ...params).then(
      (result) => ({ result }),
      ({ code, message }: { code: number; message: string }) => ({ error: { code, message } }),
    );
    const text = shown(answer);
    found[name] = { params, answer: RANDOM.test(name) ? text.replaceAll(/0x[0-9a-f]{16,}/g, '0x…') : text };
  }
  return found;
}

test('the examples of the pages are what a devnet answers', async () => {
  const found = Object.entries(await examples()).sort(([a], [b]) => (a < b ? -1 : 1));
  expect(found.length).toBeGreaterThan(180);
  const text = `${JSON.stringify(Object.fromEntries(found), undefined, 1)}\n`;
  await expect(text).toMatchFileSnapshot('../fixtures/json-rpc/method-examples.json');
});
