import { expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt } from '../support/dev-node.js';
import { forkScene, HOLDER, LATER, RECEIVER, tokensOf, transferAsHolder } from '../support/fork-scene.js';
import { ROUND_TRIPS } from '../support/round-trips.js';
import { transferCalldata } from '../support/sign.js';

/*
 * How many round trips work on a fork needs: contracts have to be known before the slots that they read are, so that two is the
 * least for a contract that was not read before. One endpoint sends all that is asked for at once in one HTTP request.
 */
test('a transfer of tokens needs two round trips: accounts with their code, then slots', ROUND_TRIPS, async () => {
  const { open, endpoints } = await forkScene();
  const { ask } = await open();
  await ask('anvil_setBalance', HOLDER, '0x1');
  const { seen } = endpoints[0]!;
  seen.length = 0;
  await transferAsHolder(ask, 30n);
  expect(seen).toHaveLength(2);
  const asked = seen.map((calls) => new Set(calls.map(({ method }) => method)));
  expect(asked).toEqual([new Set(['eth_getProof', 'eth_getCode']), new Set(['eth_getProof'])]);
  expect(await tokensOf(ask, RECEIVER)).toBe(30n);
});

test('calls, estimates and simulations need two at most, and none for what is known', ROUND_TRIPS, async () => {
  const { open, endpoints } = await forkScene();
  const { seen } = endpoints[0]!;
  const call = { from: accountAt(1), to: TEST_TOKEN, data: transferCalldata(RECEIVER, 5n) };
  const blocks = { blockStateCalls: [{ blockOverrides: { time: `0x${LATER.toString(16)}` }, calls: [call] }] };
  for (const [method, ...params] of [
    ['eth_call', call, 'latest'],
    ['eth_estimateGas', call],
    ['linea_estimateGas', call],
    ['eth_createAccessList', call, 'latest'],
    ['eth_simulateV1', blocks, 'latest'],
  ] as [string, ...unknown[]][]) {
    const { ask } = await open();
    seen.length = 0;
    await ask(method, ...params);
    expect(seen, method).toHaveLength(2);
    await ask(method, ...params);
    expect(seen, method).toHaveLength(2);
  }
});

test('so does a call by way of a contract that was made on the fork', ROUND_TRIPS, async () => {
  const { open, endpoints } = await forkScene();
  const { ask } = await open();
  // Calls the token with its own calldata, and returns the answer.
  const code: Hex = `0x3660006000376020600036600073${TEST_TOKEN.slice(2)}5afa5060206000f3`;
  const proxy: Hex = '0x00000000000000000000000000000000000f0f0f';
  for (const mined of [false, true]) {
    await ask('anvil_setCode', proxy, code);
    if (mined) await ask('anvil_mine', 1);
    const { seen } = endpoints[0]!;
    seen.length = 0;
    const owner = mined ? RECEIVER : HOLDER;
    const data = `0x70a08231${'0'.repeat(24)}${owner.slice(2)}`;
    expect(BigInt(await ask<Hex>('eth_call', { to: proxy, data }, 'latest'))).toBe(mined ? 0n : 4_000n);
    expect(seen.length).toBeLessThanOrEqual(mined ? 1 : 2);
  }
});
