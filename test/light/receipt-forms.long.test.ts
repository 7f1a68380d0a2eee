import { describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { stranger } from '../support/dev-node.js';
import { forkScene } from '../support/fork-scene.js';
import { type LightScene, lightScene } from '../support/light-node.js';
import type { MockEndpoint, MockOptions, SeenCall } from '../support/mock-chain.js';
import { transferCalldata } from '../support/sign.js';

/** What programs answer to `eth_getBlockReceipts`. @source their versions, see the names */
function refuses(code: number, message: string): MockOptions['tamper'] {
  return ({ method }, result) => {
    if (method !== 'eth_getBlockReceipts') return result;
    throw Object.assign(new Error(message), { code });
  };
}
const SOFTWARE: Readonly<Record<string, MockOptions['tamper']>> = {
  'Hardhat 3.18.0': refuses(-32004, 'Method eth_getBlockReceipts is not supported'),
  'ganache 7.9.2': refuses(-32700, 'The method eth_getBlockReceipts does not exist/is not available'),
  'EthereumJS 0.10.5': ({ method, params }, result) =>
    method === 'eth_getBlockReceipts' && String(params[0]).length === 66 ? null : result,
  'a node without the method': refuses(-32601, 'Method not found'),
  'a node whose method is out of order': refuses(-32603, 'Internal error'),
  'a node with the method': (_, result) => result,
};

const asked = ({ seen }: MockEndpoint, method = /Receipt/): SeenCall[] =>
  seen.flat().filter((call) => method.test(call.method));
const forms = (mock: MockEndpoint) =>
  asked(mock).map(({ method, params }) =>
    method === 'eth_getTransactionReceipt' ? 'one' : String(params[0]).length === 66 ? 'hash' : 'number',
  );

/** Sends `count` token transfers in one block. */
async function mineTransfers({ dev }: Pick<LightScene, 'dev'>, from: number, count: number): Promise<void> {
  await dev.ask('evm_setAutomine', false);
  for (let nonce = from; nonce < from + count; nonce++)
    await dev.transfer(0, {
      nonce,
      to: token,
      value: 0n,
      data: transferCalldata(stranger('77'), 5n),
      gasLimit: 100_000n,
    });
  await dev.ask('evm_mine');
}

describe('receipts of endpoints that give them in one way only', () => {
  test.each([
    ['Hardhat 3.18.0', ['hash', 'one', 'one', 'one'], ['one', 'one']],
    ['ganache 7.9.2', ['hash', 'one', 'one', 'one'], ['one', 'one']],
    ['EthereumJS 0.10.5', ['hash', 'number'], ['number']],
    ['a node without the method', ['hash', 'one', 'one', 'one'], ['one', 'one']],
    ['a node whose method is out of order', ['hash', 'number', 'one', 'one', 'one'], ['hash', 'number', 'one', 'one']],
    ['a node with the method', ['hash'], ['hash']],
  ])('%s', async (software, first, second) => {
    const scene = await lightScene({ endpoints: [{ tamper: SOFTWARE[software]! }] });
    const { dev, ask, endpoints } = scene;
    await mineTransfers(scene, 0, 3);
    const filter = { fromBlock: '0x1', address: token };
    expect(await ask('eth_getLogs', filter)).toEqual(await dev.ask('eth_getLogs', filter));
    expect(forms(endpoints[0]!)).toEqual(first);

    // What it can is remembered.
    endpoints[0]!.seen.length = 0;
    scene.clock.advance(10_000);
    await mineTransfers(scene, 3, 2);
    expect(await ask('eth_getBlockReceipts', '0x2')).toEqual(await dev.ask('eth_getBlockReceipts', '0x2'));
    expect(forms(endpoints[0]!)).toEqual(second);
    const fees = ['eth_feeHistory', '0x2', 'latest', [50]] as const;
    expect(await ask(...fees)).toEqual(await dev.ask(...fees));
    const [{ transactionHash }] = (await dev.ask('eth_getLogs', { fromBlock: '0x2' })) as [{ transactionHash: string }];
    for (const method of ['eth_getTransactionReceipt', 'debug_traceTransaction'])
      expect(await ask(method, transactionHash), method).toEqual(await dev.ask(method, transactionHash));
  });

  test('a block without transactions needs no request', async () => {
    const { dev, ask, endpoints } = await lightScene({ endpoints: [{}] });
    await dev.ask('evm_mine');
    expect(await ask('eth_getBlockReceipts', 'latest')).toEqual([]);
    expect(asked(endpoints[0]!, /Receipt|ByHash/)).toEqual([]);
  });

  test('one endpoint that lacks the method, beside one that does not answer', async () => {
    const hardhat = { tamper: SOFTWARE['Hardhat 3.18.0']! };
    const scene = await lightScene({ endpoints: [hardhat, {}], chain: { level: 'plain' } });
    await mineTransfers(scene, 0, 2);
    await scene.endpoints[1]!.close();
    expect(await scene.ask('eth_getBlockReceipts', 'latest')).toEqual(
      await scene.dev.ask('eth_getBlockReceipts', '0x1'),
    );
  });

  test.each([
    ['by their number', 'EthereumJS 0.10.5', ['hash', 'number']],
    ['one by one', 'Hardhat 3.18.0', ['hash', 'one', 'one']],
  ])('receipts %s that are changed are refused, and not asked for in another form', async (_, software, given) => {
    const says = SOFTWARE[software]!;
    const tamper: MockOptions['tamper'] = (call, result) => {
      const said = says(call, result);
      const list = (Array.isArray(said) ? said : [said]) as ({ logs?: { data: string }[] } | null)[];
      if (/Receipts?$/.test(call.method) && list[0]?.logs) list[0].logs[0]!.data = `0x${'22'.repeat(32)}`;
      return said;
    };
    const errors: unknown[] = [];
    const scene = await lightScene({ endpoints: [{ tamper }], more: { onError: (error) => void errors.push(error) } });
    await mineTransfers(scene, 0, 2);
    await expect(scene.ask('eth_getBlockReceipts', 'latest')).rejects.toThrow(/receipts of block 1/);
    expect(errors[0]).toMatchObject({ code: 'ANSWER_REFUSED', details: { check: 'RECEIPTS_ROOT_MISMATCH' } });
    expect(forms(scene.endpoints[0]!)).toEqual(given);
  });

  test('a number that names another block by now accuses nobody', async () => {
    const errors: unknown[] = [];
    const scene = await lightScene({ endpoints: [{}], more: { onError: (error) => void errors.push(error) } });
    await mineTransfers(scene, 0, 2);
    const before = await scene.dev.ask('eth_getBlockReceipts', '0x1');
    const other = (before as object[]).map((receipt) => ({ ...receipt, blockHash: `0x${'11'.repeat(32)}` }));
    scene.endpoints[0]!.options.tamper = ({ method, params }, result) => {
      if (method === 'eth_getTransactionReceipt') return other[0];
      if (method !== 'eth_getBlockReceipts') return result;
      return String(params[0]).length === 66 ? null : other;
    };
    await expect(scene.ask('eth_getBlockReceipts', 'latest')).rejects.toThrow(/MISSING/);
    expect(errors[0]).toMatchObject({ code: 'ANSWER_REFUSED', details: { check: 'MISSING' } });
  });
});

test('a fork of a network whose endpoint gives receipts one by one', async () => {
  const { dev, open } = await forkScene([{ tamper: SOFTWARE['Hardhat 3.18.0']! }]);
  const { ask } = await open();
  const filter = { fromBlock: '0x1', address: token };
  expect(await ask('eth_getLogs', filter)).toEqual(await dev.ask('eth_getLogs', filter));
});
