import { expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { FORK, hashOfListJson, type ListJson, FORKING as network } from '../support/amsterdam.js';
import { accountAt, devNode, PRICE, stranger, word } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';
import type { MockOptions } from '../support/mock-chain.js';

const METHOD = 'eth_getBlockAccessList';
/** Adds one to slot 0, and sets slot 1 to its old value. */
const COUNTING = '0x5f54806001015f55600155';
const CONTRACT = stranger('cc');

interface Header {
  readonly hash: Hex;
  readonly blockAccessListHash: Hex;
}

/** A block of Osaka, one of Amsterdam without transactions, and one with an edit and two transactions. */
async function scene(endpoints: readonly MockOptions[] = [{}, {}]) {
  const made = await lightScene({
    dev: { chain: { kind: 'devnet', network, mining: 'manual' } },
    endpoints,
    chain: { network },
  });
  const { dev } = made;
  await dev.ask('evm_mine');
  await dev.ask('evm_mine', FORK);
  await dev.ask('anvil_setCode', CONTRACT, COUNTING);
  await dev.ask('anvil_setStorageAt', CONTRACT, word(0n), word(41n));
  await dev.transfer(0, { nonce: 0, to: CONTRACT, value: 0n, gasLimit: 300_000n, ...PRICE });
  await dev.transfer(1, { nonce: 0, to: CONTRACT, value: 5n, gasLimit: 300_000n, ...PRICE });
  await dev.ask('evm_mine');
  return made;
}

test('a devnet tells what a block accessed and changed, by number, tag and hash', async () => {
  const { dev } = await scene();
  const { hash, blockAccessListHash } = await dev.ask<Header>('eth_getBlockByNumber', '0x3', false);
  const list = await dev.ask<ListJson>(METHOD, '0x3');
  expect(hashOfListJson(list)).toBe(blockAccessListHash);
  for (const name of ['latest', hash, { blockHash: hash }, { blockNumber: '0x3' }])
    expect(await dev.ask(METHOD, name)).toEqual(list);
  expect(list.find(({ address }) => address === CONTRACT)).toEqual({
    address: CONTRACT,
    storageChanges: [
      {
        key: word(0n),
        changes: [
          { index: '0x0', value: word(41n) },
          { index: '0x1', value: word(42n) },
          { index: '0x2', value: word(43n) },
        ],
      },
      {
        key: word(1n),
        changes: [
          { index: '0x1', value: word(41n) },
          { index: '0x2', value: word(42n) },
        ],
      },
    ],
    storageReads: [],
    balanceChanges: [{ index: '0x2', value: '0x5' }],
    nonceChanges: [],
    codeChanges: [{ index: '0x0', code: COUNTING }],
  });
  const sender = list.find(({ address }) => address === accountAt(0).toLowerCase());
  expect(sender?.nonceChanges).toEqual([{ index: '0x1', value: '0x1' }]);
});

test('an unknown block has none, and one before Amsterdam never had one', async () => {
  const { dev, ask } = await scene();
  for (const request of [dev.ask, ask]) {
    expect(await request(METHOD, '0x9')).toBeNull();
    expect(await request(METHOD, `0x${'12'.repeat(32)}`)).toBeNull();
    // Code and words as in tests/eth_getBlockAccessList of ethereum/execution-apis.
    await expect(request(METHOD, '0x1')).rejects.toMatchObject({
      code: 4445,
      message: 'Block access list not available for pre-Amsterdam blocks',
    });
  }
});

test('receipts of Amsterdam are verified: their gas is not that of the header', async () => {
  const { dev, ask } = await scene();
  const { gasUsed } = await dev.ask<{ gasUsed: Hex }>('eth_getBlockByNumber', '0x3', false);
  const receipts = await dev.ask<{ cumulativeGasUsed: Hex }[]>('eth_getBlockReceipts', '0x3');
  expect(receipts.at(-1)!.cumulativeGasUsed).not.toBe(gasUsed);
  expect(await ask('eth_getBlockReceipts', '0x3')).toEqual(receipts);
});

test('a light node has the list of a devnet, verified; a changed one is refused, and another endpoint asked', async () => {
  const tamper: MockOptions['tamper'] = ({ method }, result) => {
    if (method !== METHOD) return result;
    const list = structuredClone(result) as ListJson;
    list.find(({ address }) => address === CONTRACT)!.balanceChanges[0]!.value = '0x6';
    return list;
  };
  const { dev, ask, light, open, endpoints } = await scene([{ tamper }, {}]);
  const heard: unknown[] = [];
  light.on('answer', (report) => heard.push(report));
  expect(await ask(METHOD, 'latest')).toEqual(await dev.ask(METHOD, '0x3'));
  expect(heard).toMatchObject([{ method: METHOD, class: 'proved', level: 'linked', blocks: [{ number: 3 }] }]);
  expect(await ask(METHOD, '0x2')).toEqual(await dev.ask(METHOD, '0x2'));
  const alone = await open({ endpoints: [endpoints[0]!.url], level: 'plain' });
  await expect(alone.request({ method: METHOD, params: ['latest'] })).rejects.toMatchObject({
    reason: 'ANSWER_REFUSED',
    details: { what: 'access list of block 3', check: 'ACCESS_LIST_HASH_MISMATCH', method: METHOD },
  });
});

test('a fork has the lists of its own blocks, and those of the network verified', async () => {
  const { dev, endpoints } = await scene([{}]);
  const fork = await devNode({
    chain: {
      kind: 'devnet',
      mining: 'manual',
      fork: { network, endpoints: endpoints.map(({ url }) => url), level: 'plain' },
    },
  });
  expect(await fork.ask(METHOD, '0x3')).toEqual(await dev.ask(METHOD, '0x3'));
  expect(await fork.ask(METHOD, '0x2')).toEqual(await dev.ask(METHOD, '0x2'));
  await fork.ask('anvil_setBalance', stranger('77'), '0x5');
  await fork.transfer(1, { nonce: 1, to: CONTRACT, value: 0n, gasLimit: 300_000n, ...PRICE });
  await fork.ask('evm_mine');
  const { number, blockAccessListHash } = await fork.ask<Header & { number: Hex }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  expect(Number(number)).toBe(4);
  const list = await fork.ask<ListJson>(METHOD, 'latest');
  expect(hashOfListJson(list)).toBe(blockAccessListHash);
  expect(list.find(({ address }) => address === CONTRACT)!.storageChanges).toHaveLength(2);
  expect(list.find(({ address }) => address === stranger('77'))!.balanceChanges).toEqual([
    { index: '0x0', value: '0x5' },
  ]);
});
