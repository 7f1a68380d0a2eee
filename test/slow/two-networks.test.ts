import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serialize } from 'node:v8';
import { expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { NodeOptions } from '../../src/hosts/options/options.js';
import { twoLayers } from '../support/two-layers.js';

const CHILD = fileURLToPath(new URL('two-networks-child.mjs', import.meta.url));
const ROUNDS = 5;

interface Memory {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!;

test('a node of a rollup and its layer 1 takes at most 1.2 times the memory of a node of the rollup', async () => {
  const { chains, l1 } = await twoLayers();
  const [rollup, below] = chains;
  const execution = below.endpoints;
  const alone = { ...rollup, layerOne: { ...below.layerOne, execution } };
  const accounts = DEV_ACCOUNTS.map(({ address }) => address);
  const run = async (options: NodeOptions) => {
    const of = (options.chains ?? [options.chain!]).map(({ network }) => network!);
    const asked = of.map(({ chainId, rollup }) => ({ chainId, isRollup: rollup !== undefined }));
    const given = serialize({ options, now: l1.clock.now(), accounts, chains: asked }).toString('base64');
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', CHILD, given]);
    return JSON.parse(stdout) as Memory;
  };
  const [one, both]: [Memory[], Memory[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    one.push(await run({ chain: alone }));
    both.push(await run({ chains }));
  }
  const figures = (['heapUsed', 'external', 'rss'] as const).map((name) => {
    const [a, b] = [one, both].map((runs) => median(runs.map((run) => run[name])));
    return { name, one: a!, both: b!, ratio: b! / a! };
  });
  for (const { name, one: a, both: b, ratio } of figures)
    console.log(
      `${name}: ${(a / 1e6).toFixed(1)} MB, with layer 1 ${(b / 1e6).toFixed(1)} MB, ${ratio.toFixed(2)} times`,
    );
  const held = (runs: readonly Memory[]) => median(runs.map(({ heapUsed, external }) => heapUsed + external));
  console.log(`held: ${(held(both) / held(one)).toFixed(3)} times`);
  expect(held(both) / held(one)).toBeLessThanOrEqual(1.2);
});
