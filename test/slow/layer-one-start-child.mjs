/**
 * A fresh process of the built package, whose endpoints are 50 ms away: opens a node, asks its first balance, its first estimate of a
 * token's transfer, and both again on the same block; prints what each took. The argument is `{ options, now, token, accounts, tag }`, by
 * `v8.serialize` and in base64.
 */
import { deserialize } from 'node:v8';
import { createInlineNode } from 'plumbline-l2/inline';

const LATENCY_MS = 50;
const { options, now, token, accounts, tag } = deserialize(Buffer.from(process.argv[2], 'base64'));
const [from, to] = accounts;
const clock = {
  now: () => now,
  setTimer: (action, delayMs) => setTimeout(action, delayMs),
  clearTimer: (timer) => clearTimeout(timer),
};

/** Round trips one after another, requests, and bytes that came, since the last look. */
let seen = { trips: 0, requests: 0, bytes: 0 };
let done = 0;
async function countingFetch(url, init) {
  // A request that begins when others have been answered is one trip after them.
  const trip = done + 1;
  seen.requests++;
  await new Promise((resolve) => setTimeout(resolve, LATENCY_MS));
  const response = await fetch(url, init);
  const body = await response.arrayBuffer();
  seen.bytes += body.byteLength;
  done = Math.max(done, trip);
  seen.trips = Math.max(seen.trips, trip);
  return new Response(body, { status: response.status, headers: response.headers });
}

const word = (hex) => hex.slice(2).padStart(64, '0');
const transfer = { from, to: token, data: `0xa9059cbb${word(to)}${word('0x1')}` };
const node = await createInlineNode({ ...options, clock, fetch: countingFetch });
const steps = {
  balance: () => node.request({ method: 'eth_getBalance', params: [from, tag] }),
  estimate: () => node.request({ method: 'eth_estimateGas', params: [transfer, tag] }),
};
const results = [];
for (const name of ['balance', 'estimate', 'balance', 'estimate']) {
  [seen, done] = [{ trips: 0, requests: 0, bytes: 0 }, 0];
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const answer = await steps[name]();
  const { user, system } = process.cpuUsage(cpu);
  results.push({ name, answer, ...seen, ms: performance.now() - began, processorMs: (user + system) / 1000 });
}
console.log(JSON.stringify(results));
process.exit();
