/**
 * The process that the test of the memory of two networks measures: opens a node of the built package, asks it what a wallet asks, and
 * prints its memory after garbage collection. Run with `--expose-gc`; the argument is `{ options, now, accounts, chains }`, by `v8.serialize`
 * and in base64.
 */
import { deserialize } from 'node:v8';
import { createInlineNode } from 'plumbline-l2/inline';

const { options, now, accounts, chains } = deserialize(Buffer.from(process.argv[2], 'base64'));
const clock = {
  now: () => now,
  setTimer: (action, delayMs) => setTimeout(action, delayMs),
  clearTimer: (timer) => clearTimeout(timer),
};
const node = await createInlineNode({ ...options, clock });
const [from, to] = accounts;
for (const { chainId, isRollup } of chains) {
  const chain = node.chain(chainId);
  const ask = (method, ...params) => chain.request({ method, params });
  for (const account of accounts) await ask('eth_getBalance', account, 'latest');
  await ask(isRollup ? 'linea_estimateGas' : 'eth_estimateGas', { from, to, value: '0x1' });
  await ask('eth_getBlockByNumber', 'finalized', false);
  await ask('eth_getBalance', from, 'finalized');
  await chain.previewTransaction({ from, to, value: '0x1' });
}
for (let i = 0; i < 4; i++) {
  await new Promise((resolve) => setTimeout(resolve, 50));
  globalThis.gc();
}
const { heapUsed, external, rss } = process.memoryUsage();
console.log(JSON.stringify({ heapUsed, external, rss }));
process.exit();
