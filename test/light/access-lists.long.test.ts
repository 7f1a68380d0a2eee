import { expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import type { UpstreamObserver } from '../../src/upstream/endpoint.js';
import {
  BARE,
  CREATOR,
  created,
  DRAIN,
  EDITED,
  expectSame,
  GONE,
  GONE_BUT_ETHER,
  listScene,
  METHOD,
  network,
  ONE_STORE,
  OTHER_STORE,
  SMALL_SET,
  STAYING,
  STORING,
  slotsOf,
  upTo,
  WORKING_SET,
  ZERO_ADDRESS,
} from '../support/access-list-scene.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { seededRandom } from '../support/random.js';
import { authorization } from '../support/sign.js';

test('64 blocks cost one list each and no proof, whatever they do', async () => {
  const on = await listScene();
  const { dev, send, store, mine, asked } = on;
  const random = seededRandom(7928);
  const steps: Record<number, () => Promise<unknown>> = {
    // A contract whose address was read before it was there.
    2: () => send(CREATOR, { data: STAYING }),
    5: () => send(CREATOR, { data: GONE, value: '0x5' }),
    8: () => send(CREATOR, { data: GONE_BUT_ETHER, value: '0x5' }),
    11: () => send(0, { to: accountAt(6), authorizationList: [authorization(6, ONE_STORE)] }),
    // Writes to the slots of the account itself.
    13: () => store(1, accountAt(6), [0, 5]),
    14: () => send(1, { to: DRAIN, value: '0x7' }),
    17: () => send(2, { to: DRAIN }),
    20: () => send(0, { to: accountAt(6), authorizationList: [authorization(6, ZERO_ADDRESS, 1)] }),
    23: () => dev.ask('anvil_setBalance', stranger('51'), '0x9'),
    26: () => dev.ask('anvil_setBalance', stranger('51'), '0x0'),
    29: () => send(0, { to: stranger('51'), value: '0x3' }),
    // Touched without ether, it stays one that is not there.
    31: () => send(0, { to: stranger('52') }),
    async 32() {
      await dev.ask('anvil_setCode', EDITED, STORING);
      await dev.ask('anvil_setStorageAt', EDITED, word(0n), word(9n));
      await dev.ask('anvil_setBalance', EDITED, '0x77');
      await store(0, EDITED, [1, 8]);
    },
    35: () => dev.ask('anvil_setNonce', EDITED, '0x4'),
    36: () => dev.ask('anvil_setCode', EDITED, '0x'),
    38: () => send(CREATOR, { data: GONE }),
    // Changed and restored, by two transactions.
    async 41() {
      await store(0, ONE_STORE, [33, 1]);
      await store(1, ONE_STORE, [33, 0]);
    },
    async 44() {
      await dev.ask('anvil_setStorageAt', EDITED, word(0n), word(0n));
    },
  };
  await expectSame(on, WORKING_SET);
  const first = asked();
  expect(first.proofs).toBeGreaterThan(20);
  let [written, empty] = [0, 0];
  for (let i = 0; i < 64; i++) {
    // In every fifth block there is nothing but a step.
    for (let sent = i % 5 === 0 ? 0 : 1 + random(3); sent > 0; sent--) {
      const contract = random(2) === 0 ? ONE_STORE : OTHER_STORE;
      await store(random(3), contract, [random(8), random(3)], [random(33), random(1000)]);
      written++;
    }
    if (i % 5 === 0 && steps[i] === undefined) empty++;
    await steps[i]?.();
    await mine();
    await expectSame(on, WORKING_SET);
    expect(asked(), `block ${i}`).toEqual({ proofs: 0, lists: 1 });
  }
  // The test is of blocks with and without transactions, none of which was left out.
  expect(written).toBeGreaterThan(50);
  expect(empty).toBeGreaterThan(5);
  const nonces = await Promise.all(
    [0, 1, 2, CREATOR].map((account) => dev.ask<Hex>('eth_getTransactionCount', accountAt(account))),
  );
  const sent = nonces.reduce((sum, nonce) => sum + Number(nonce), 0);
  expect(sent).toBeGreaterThan(written);
  const at = async (method: string, ...params: unknown[]) => dev.ask(method, ...params);
  expect(await at('eth_getCode', created(0))).toBe('0x01');
  expect(await at('eth_getBalance', created(2))).toBe('0x5');
  expect(await at('eth_getBalance', DRAIN)).toBe('0x0');
  expect(await at('eth_getCode', accountAt(6))).toBe('0x');
  expect(await at('eth_getStorageAt', accountAt(6), word(0n))).toBe(word(5n));
});

test('an account without nonce and code is removed when it is touched, with slots that no list names', async () => {
  const on = await listScene();
  const { dev, send, mine, asked } = on;
  await dev.ask('anvil_setStorageAt', BARE, word(0n), word(9n));
  await mine();
  await expectSame(on, SMALL_SET);
  expect(await on.ask('eth_getStorageAt', BARE, word(0n), 'latest')).toBe(word(9n));
  asked();
  await send(0, { to: BARE });
  await mine();
  expect(await dev.ask('eth_getStorageAt', BARE, word(0n))).toBe(word(0n));
  await expectSame(on, SMALL_SET);
  // What may have gone is read by a proof, and nothing else.
  expect(asked()).toEqual({ proofs: 1, lists: 1 });
});

test('a slot that was not held, and a proof, are fetched though their account went over', async () => {
  const on = await listScene();
  const { dev, ask, store, mine, asked } = on;
  await expectSame(on, SMALL_SET);
  await store(0, ONE_STORE, [1, 5]);
  await mine();
  await expectSame(on, SMALL_SET);
  asked();
  const unread = ['eth_getStorageAt', ONE_STORE, word(77n), 'latest'] as const;
  expect(await ask(...unread)).toBe(word(0n));
  expect(asked().proofs).toBe(1);
  const proof = ['eth_getProof', ONE_STORE, [word(1n)], 'latest'] as const;
  expect(await ask(...proof)).toEqual(await dev.ask(...proof));
  expect(asked().proofs).toBe(1);
});

test('several blocks at once cost a list each; a missing list is made up for by proofs, and no endpoint is accused', async () => {
  const faults: string[] = [];
  const on = await listScene(network, ({ type, reason }) => void (type === 'degraded' && faults.push(reason ?? '')));
  const { dev, endpoint, store, mine, asked } = on;
  await expectSame(on, WORKING_SET);
  asked();
  for (let value = 1; value <= 3; value++) {
    await store(0, ONE_STORE, [value, 10 + value]);
    await mine();
  }
  await expectSame(on, WORKING_SET);
  expect(asked()).toEqual({ proofs: 0, lists: 3 });
  const withoutList = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
  endpoint.options.tamper = ({ method, params }, result) =>
    method === METHOD && params[0] !== withoutList.hash ? null : result;
  await store(0, ONE_STORE, [4, 14]);
  await mine();
  await expectSame(on, WORKING_SET);
  const { proofs, lists } = asked();
  expect([proofs >= WORKING_SET.accounts.length, lists]).toEqual([true, 1]);
  endpoint.options.tamper = (_, result) => result;
  await store(0, ONE_STORE, [5, 15]);
  await mine();
  await expectSame(on, WORKING_SET);
  expect(asked()).toEqual({ proofs: 0, lists: 1 });
  expect(faults).toEqual([]);
});

test('an endpoint without the method, and a profile that does not say that lists are complete: all by proofs', async () => {
  const on = await listScene();
  on.endpoint.options.missing = [METHOD];
  await expectSame(on, SMALL_SET);
  for (const value of [1, 2]) {
    on.asked();
    await on.store(0, ONE_STORE, [value, 7]);
    await on.mine();
    await expectSame(on, SMALL_SET);
    expect(on.asked().proofs).toBeGreaterThanOrEqual(SMALL_SET.accounts.length);
  }
  const { accessLists: _, ...unsaid } = network;
  const other = await listScene(unsaid);
  await expectSame(other, SMALL_SET);
  await other.mine();
  await expectSame(other, SMALL_SET);
  expect(other.asked().lists).toBe(0);
});

test('after a reorg values come from the common ancestor, by the lists of the new branch', async () => {
  const on = await listScene();
  const { dev, store, mine, asked, passTime } = on;
  await store(0, ONE_STORE, [0, 1], [1, 1]);
  await mine();
  await expectSame(on, WORKING_SET);
  await store(0, ONE_STORE, [0, 2]);
  await mine();
  await expectSame(on, WORKING_SET);
  await store(1, ONE_STORE, [1, 2]);
  await mine();
  await expectSame(on, WORKING_SET);
  asked();
  const branch = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
  await dev.ask('anvil_rollback', 2);
  await store(2, ONE_STORE, [2, 3]);
  await dev.ask('evm_mine');
  await store(2, OTHER_STORE, [2, 4]);
  await dev.ask('evm_mine');
  await dev.ask('evm_mine');
  passTime();
  await expectSame(on, WORKING_SET);
  const { parentHash } = await dev.ask<{ parentHash: Hex }>('eth_getBlockByNumber', 'latest', false);
  expect(parentHash).not.toBe(branch.hash);
  expect(await on.ask('eth_getStorageAt', ONE_STORE, word(0n), 'latest')).toBe(word(1n));
  expect(asked()).toEqual({ proofs: 0, lists: 3 });
});

test('a block of 60 million gas', async () => {
  const on = await listScene();
  const { dev, store, mine, asked } = on;
  // So many that their proofs are longer than such a list.
  const set = { accounts: WORKING_SET.accounts, slots: [...WORKING_SET.slots, ...slotsOf(ONE_STORE, upTo(300, 100))] };
  for (const key of upTo(250, 100)) await dev.ask('anvil_setStorageAt', ONE_STORE, word(BigInt(key)), word(1n));
  await mine();
  await expectSame(on, set);
  asked();
  const fill = async (value: number) => {
    for (let i = 0; i < 5; i++)
      await store(i, ONE_STORE, ...upTo(125, 340 + i * 125).map((key) => [key, value] as const));
    await store(5, ONE_STORE, ...upTo(60, 70).map((key) => [key, value] as const));
    await mine();
  };
  await fill(2);
  const { gasUsed } = await dev.ask<{ gasUsed: Hex }>('eth_getBlockByNumber', 'latest', false);
  expect(Number(gasUsed)).toBeGreaterThan(6e7);
  await expectSame(on, set);
  expect(asked()).toEqual({ proofs: 0, lists: 1 });
  // Of a few values, the proofs are shorter.
  const few = { accounts: [ONE_STORE], slots: slotsOf(ONE_STORE, [100, 101]) };
  for (let block = 0; block < 6; block++) {
    await mine();
    await expectSame(on, few);
  }
  asked();
  await fill(3);
  await expectSame(on, few);
  const { proofs, lists } = asked();
  expect([proofs > 0, lists]).toEqual([true, 0]);
});

test('a block is traced again with one request for its list, and one for what the list names', async () => {
  const on = await listScene();
  const { dev, ask, endpoint, store, send, mine } = on;
  await store(0, ONE_STORE, [0, 1], [1, 2], [2, 3]);
  await store(1, OTHER_STORE, [0, 1], [7, 2]);
  await send(2, { to: DRAIN, value: '0x5' });
  await mine();
  const trace = ['debug_traceBlockByNumber', 'latest', { tracer: 'prestateTracer' }] as const;
  endpoint.seen.length = 0;
  expect(await ask(...trace)).toEqual(await dev.ask(...trace));
  const requests = endpoint.seen.map((calls) => calls.map(({ method }) => method));
  expect(requests.filter((methods) => methods.includes('eth_getProof'))).toHaveLength(1);
  expect(requests.flat().filter((method) => method === METHOD)).toHaveLength(1);
  // Without the list, what the block reads is found read by read.
  endpoint.options.missing = [METHOD];
  const other = await on.open();
  endpoint.seen.length = 0;
  expect(await other.request({ method: trace[0], params: ['latest', trace[2]] })).toEqual(await dev.ask(...trace));
  expect(endpoint.seen.filter((calls) => calls.some(({ method }) => method === 'eth_getProof')).length).toBeGreaterThan(
    3,
  );
});

test('of two endpoints one lies: the list of the other is taken, and the values are at the level of both', async () => {
  const faults: string[] = [];
  const event: UpstreamObserver['event'] = ({ type, reason }) =>
    void (type === 'degraded' && faults.push(reason ?? ''));
  const on = await listScene(network, event, 'linked');
  const { light, ask, endpoint, endpoints, store, mine } = on;
  const heard: AnswerReport[] = [];
  light.on('answer', (report) => heard.push(report));
  await expectSame(on, WORKING_SET);
  endpoint.options.tamper = ({ method }, result) => (method === METHOD ? (result as unknown[]).slice(1) : result);
  await store(0, ONE_STORE, [1, 5], [2, 6]);
  await mine();
  for (const { seen } of endpoints) seen.length = 0;
  heard.length = 0;
  await expectSame(on, WORKING_SET);
  const methods = endpoints.flatMap(({ seen }) => seen.flat().map(({ method }) => method));
  expect(methods).not.toContain('eth_getProof');
  expect(methods.filter((method) => method === METHOD)).toHaveLength(2);
  expect(faults).toEqual(['its answer was refused: ANSWER_REFUSED']);
  expect(new Set(heard.map((report) => report.level))).toEqual(new Set(['linked']));
  expect(await ask('eth_getStorageAt', ONE_STORE, word(1n), 'latest')).toBe(word(5n));
});

test('a call and an estimate on the next block need no proof', async () => {
  const on = await listScene();
  const { dev, ask, store, mine, asked } = on;
  await expectSame(on, WORKING_SET);
  const call = { from: accountAt(0), to: ONE_STORE, data: `0x${word(1n).slice(2)}${word(9n).slice(2)}` };
  const questions = [
    ['eth_estimateGas', call],
    ['linea_estimateGas', call],
    ['eth_call', call, 'latest'],
  ] as const;
  for (const [method, ...params] of questions)
    expect(await ask(method, ...params)).toEqual(await dev.ask(method, ...params));
  await store(1, ONE_STORE, [1, 5]);
  await mine();
  asked();
  for (const [method, ...params] of questions)
    expect(await ask(method, ...params)).toEqual(await dev.ask(method, ...params));
  expect(asked()).toEqual({ proofs: 0, lists: 1 });
});
