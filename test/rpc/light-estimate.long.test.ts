import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { contracts } from '../support/contracts.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { type LightSceneOptions, lightScene } from '../support/light-node.js';
import { ROUND_TRIPS } from '../support/round-trips.js';
import { type SwapScene, swapScene } from '../support/swap-scene.js';

const trader = accountAt(0);

async function scene(options: LightSceneOptions = {}) {
  const swap = swapScene(await contracts(), trader);
  return { swap, ...(await lightScene({ dev: { chain: { kind: 'devnet', alloc: swap.alloc } }, ...options })) };
}

const requests = (endpoints: readonly { seen: unknown[][] }[]) =>
  endpoints.reduce((sum, { seen }) => sum + seen.length, 0);

// The expected answer is the devnet's own, which executes on its whole state.
describe('a light node estimates as the node that holds the state', ROUND_TRIPS, () => {
  test('an ERC-20 transfer takes two round trips and three requests, none when repeated, one after a new head', async () => {
    const { swap, dev, endpoints, ask, statistics, clock } = await scene();
    const expected = await dev.ask('linea_estimateGas', swap.transfer);
    expect(await ask('linea_estimateGas', swap.transfer)).toEqual(expected);
    expect(statistics.roundTrips).toBe(2);
    expect(requests(endpoints)).toBe(3);

    statistics.reset();
    expect(await ask('linea_estimateGas', swap.transfer)).toEqual(expected);
    expect(statistics.totals.requests).toBe(0);

    await dev.transfer(1, { nonce: 0, to: stranger('42') });
    clock.advance(5_000);
    expect(await ask('linea_estimateGas', swap.transfer)).toEqual(await dev.ask('linea_estimateGas', swap.transfer));
    expect(statistics.roundTrips).toBe(1);
  });

  test('a two-hop swap: at most three round trips', async () => {
    const { swap, dev, ask, statistics } = await scene();
    expect(await ask('linea_estimateGas', swap.swap)).toEqual(await dev.ask('linea_estimateGas', swap.swap));
    expect(statistics.roundTrips).toBeLessThanOrEqual(3);
  });

  test('one endpoint: two requests', async () => {
    const { swap, dev, ask, statistics } = await scene({ endpoints: [{}] });
    expect(await ask('linea_estimateGas', swap.transfer)).toEqual(await dev.ask('linea_estimateGas', swap.transfer));
    expect(statistics.totals.requests).toBe(2);
  });

  test.each([
    ['transfer', 4],
    ['swap', 4],
  ] as const)('without access lists, %s: at most %i round trips', async (kind, most) => {
    const missing = ['eth_createAccessList'];
    const { swap, dev, ask, statistics, endpoints } = await scene({ endpoints: [{ missing }, { missing }] });
    expect(await ask('linea_estimateGas', swap[kind])).toEqual(await dev.ask('linea_estimateGas', swap[kind]));
    expect(
      statistics.roundTrips,
      JSON.stringify(endpoints[0]!.seen.map((calls) => calls.map(({ method }) => method))),
    ).toBeLessThanOrEqual(most);
  });
});

describe('a transfer of another token on the same block', ROUND_TRIPS, () => {
  /** Of a token and to an account that the node has not seen. */
  const other = ({ transfer, tokens }: SwapScene) => {
    const [to, amount] = [word(BigInt(stranger('43'))), word(5n)].map((value) => value.slice(2));
    return { ...transfer, to: tokens[2], data: `${transfer.data.slice(0, 10)}${to}${amount}` as Hex };
  };

  test.each([
    ['with access lists', []],
    ['without access lists', ['eth_createAccessList']],
  ])('%s: one round trip', async (_, missing) => {
    const { swap, dev, ask, statistics } = await scene({ endpoints: [{ missing }, { missing }] });
    await ask('linea_estimateGas', swap.transfer);
    statistics.reset();
    expect(await ask('linea_estimateGas', other(swap))).toEqual(await dev.ask('linea_estimateGas', other(swap)));
    expect(statistics.roundTrips).toBe(1);
  });

  test('what is guessed of it is proved: a forged slot is refused', async () => {
    const { swap, ask, endpoints } = await scene({ endpoints: [{ missing: ['eth_createAccessList'] }] });
    await ask('linea_estimateGas', swap.transfer);
    endpoints[0]!.options.tamper = ({ method }, result) => {
      if (method !== 'eth_getProof') return result;
      const proof = result as { storageProof: { value: Hex }[] };
      for (const slot of proof.storageProof) slot.value = '0x1';
      return proof;
    };
    await expect(ask('linea_estimateGas', other(swap))).rejects.toMatchObject({ reason: 'ANSWER_REFUSED' });
  });
});

test('accounts of creations that a contract goes on with are fetched together', async () => {
  // Creates 40 empty contracts, one after the other.
  const factory = stranger('fa');
  const alloc = { [factory]: { code: '0x60285b5f5f5ff050600190038060025700' as Hex, nonce: 1n } };
  const [dev, endpoints] = [{ chain: { kind: 'devnet', alloc } }, [{ missing: ['eth_createAccessList'] }]] as const;
  const { dev: full, ask, statistics } = await lightScene({ dev, endpoints });
  const call = { from: trader, to: factory };
  expect(await ask('linea_estimateGas', call)).toEqual(await full.ask('linea_estimateGas', call));
  expect(statistics.roundTrips).toBeLessThanOrEqual(8);
});

describe('prefetch runs of a light node', () => {
  /**
   * Reads twelve slots, each of which names the next one, counts to 65 535 (29 gas each, 1.9 million together), and reverts unless
   * the last slot holds 0xbeef. A guess never does, so the call is run to prefetch as often as it may be.
   */
  const code: Hex = `0x5f${'54'.repeat(12)}5f5b6001018061ffff11600e575061beef146025575f5ffd5b00`;
  const names = [0n, ...Array.from({ length: 11 }, (_, i) => BigInt(1000 + i)), 0xbeefn];
  const storage = Object.fromEntries(names.slice(1).map((next, i) => [word(names[i]!), word(next)]));
  const guarded = stranger('77');
  const endpoints = [{ missing: ['eth_createAccessList'] }];
  const dev = { chain: { kind: 'devnet', alloc: { [guarded]: { code, storage } } } } as const;
  const lightWith = (gasBudget: number) => lightScene({ dev, endpoints, more: { gasBudget } });

  test('count as gas of their request', async () => {
    // More than the call itself needs.
    const { ask } = await lightWith(10_000_000);
    await expect(ask('eth_call', { to: guarded }, 'latest')).rejects.toMatchObject({
      code: -32000,
      message: 'execution stopped: its runs have used more than 10000000 gas',
    });
  });

  test('have one budget for all of a call, however many reads they precede', async () => {
    const { ask } = await lightWith(60_000_000);
    expect(await ask('eth_call', { to: guarded }, 'latest')).toBe('0x');
  });
});
