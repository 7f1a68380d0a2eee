import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serialize } from 'node:v8';
import { expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import { twoLayers } from '../support/two-layers.js';

const CHILD = fileURLToPath(new URL('layer-one-start-child.mjs', import.meta.url));
const ROUNDS = 3;

interface Step {
  readonly name: string;
  readonly answer: string;
  readonly trips: number;
  readonly requests: number;
  readonly bytes: number;
  readonly ms: number;
  readonly processorMs: number;
}

test('the first answers of layer 1 in a fresh process take no more round trips than those of a rollup', async () => {
  const { chains, l1, l2 } = await twoLayers();
  const [rollup, below] = chains;
  const alone = { ...rollup, layerOne: { ...below.layerOne, execution: below.endpoints } };
  const accounts = DEV_ACCOUNTS.map(({ address }) => address);
  const run = async (chain: LightChainOptions, tag: string) => {
    const given = serialize({ options: { chain }, now: l1.clock.now(), token, accounts, tag }).toString('base64');
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, given]);
    return JSON.parse(stdout) as [Step, Step, Step, Step];
  };
  const cases = [
    ['layer 1, latest', below, 'latest'],
    ['layer 1, finalized', below, 'finalized'],
    ['rollup, latest', alone, 'latest'],
    ['rollup, finalized', alone, 'finalized'],
  ] as const;
  const trips: Record<string, number[]> = {};
  for (const [name, chain, tag] of cases) {
    const runs = [];
    for (let round = 0; round < ROUNDS; round++) runs.push(await run(chain, tag));
    const [dev, block] = name.startsWith('layer 1')
      ? [l1.dev, tag === 'latest' ? '0x5' : '0x3']
      : [l2, tag === 'latest' ? 'latest' : '0x2'];
    for (const [at, { name: step, answer, ...took }] of runs[0]!.entries()) {
      const same = runs.map((one) => one[at]!);
      if (at === 0) expect(answer).toBe(await dev.ask('eth_getBalance', accounts[0], block));
      for (const one of same) expect([one.answer, one.trips]).toEqual([answer, took.trips]);
      const [ms, cpu] = (['ms', 'processorMs'] as const).map((key) => Math.min(...same.map((one) => one[key])));
      console.log(
        `${name}: ${at < 2 ? 'first' : 'same block,'} ${step}: ${took.trips} trips, ${took.requests} requests, ${took.bytes} bytes, ${ms!.toFixed(0)} ms, processor ${cpu!.toFixed(0)} ms`,
      );
    }
    trips[name] = runs[0]!.map((step) => step.trips);
    expect(trips[name]!.slice(2)).toEqual([0, 0]);
  }
  expect(trips['layer 1, finalized']![0]).toBeLessThanOrEqual(trips['rollup, finalized']![0]!);
});
