import { keccak_256 } from '@noble/hashes/sha3.js';
import { expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import type { ExchangeRecord } from '../../src/upstream/endpoint.js';
import { accountAt, PRICE, stranger, word } from '../support/dev-node.js';
import { type LightScene, lightScene } from '../support/light-node.js';
import { signTransaction } from '../support/sign.js';

const TRANSFER = `0xa9059cbb${word(BigInt(stranger('77'))).slice(2)}${word(5n).slice(2)}` as Hex;

/** Blocks with transfers, a token transfer with its event, and a contract that is made. */
async function populated(): Promise<LightScene> {
  const scene = await lightScene();
  const { dev } = scene;
  await dev.transfer(0, { nonce: 0 });
  await dev.ask(
    'eth_sendRawTransaction',
    signTransaction(0, { nonce: 1, to: token, data: TRANSFER, gasLimit: 100_000n, ...PRICE }),
  );
  await dev.transfer(1, { nonce: 0, to: accountAt(2), value: 10n ** 18n });
  return scene;
}

// What a light node answers is what the node answers that holds the chain, here the devnet behind its endpoints.
test('every read answers as the node that holds the chain does', async () => {
  const { dev, ask } = await populated();
  const block = await dev.ask<{ hash: Hex; transactions: Hex[] }>('eth_getBlockByNumber', '0x2', false);
  const cases: [string, ...unknown[]][] = [
    ['eth_blockNumber'],
    ['eth_chainId'],
    ['eth_gasPrice'],
    ['eth_maxPriorityFeePerGas'],
    ['eth_getBalance', accountAt(0), 'latest'],
    ['eth_getBalance', stranger('99'), 'latest'],
    ['eth_getTransactionCount', accountAt(0), 'latest'],
    ['eth_getTransactionCount', accountAt(1), '0x1'],
    ['eth_getCode', token, 'latest'],
    ['eth_getCode', accountAt(0), 'latest'],
    ['eth_getStorageAt', token, '0x2', 'latest'],
    ['eth_getStorageAt', token, '0x77', 'latest'],
    ['eth_call', { to: token, data: `0x70a08231${word(BigInt(stranger('77'))).slice(2)}` }, 'latest'],
    ['eth_call', { to: token, data: '0x18160ddd' }, '0x1'],
    ['eth_estimateGas', { from: accountAt(0), to: token, data: TRANSFER }],
    ['eth_createAccessList', { from: accountAt(0), to: token, data: TRANSFER }, 'latest'],
    ['linea_estimateGas', { from: accountAt(0), to: token, data: TRANSFER }, 'latest'],
    ['eth_getProof', token, ['0x2', word(3n)], 'latest'],
    ['eth_getProof', stranger('99'), [], '0x1'],
    ['eth_getBlockByNumber', 'latest', false],
    ['eth_getBlockByNumber', '0x2', true],
    ['eth_getBlockByNumber', 'earliest', false],
    ['eth_getBlockByNumber', '0x99', false],
    ['eth_getHeaderByNumber', 'latest'],
    ['eth_getHeaderByNumber', '1'],
    ['eth_getHeaderByNumber', '0x99'],
    ['eth_getHeaderByHash', block.hash],
    ['eth_getHeaderByHash', word(1n)],
    ['eth_getBalance', accountAt(0), { blockNumber: 'latest' }],
    ['eth_getBlockByHash', block.hash, true],
    ['eth_getBlockByHash', word(1n), true],
    ['eth_getBlockTransactionCountByNumber', '0x2'],
    ['eth_getBlockReceipts', '0x2'],
    ['eth_getTransactionByHash', block.transactions[0]],
    ['eth_getTransactionByHash', word(1n)],
    ['eth_getTransactionByBlockNumberAndIndex', '0x2', '0x0'],
    ['eth_getTransactionReceipt', block.transactions[0]],
    ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', address: token }],
    ['eth_feeHistory', '0x3', 'latest', [50]],
    ['eth_getBlockByNumber', 'finalized', false],
    ['linea_getProof', token, [word(2n)], 'latest'],
    ['linea_getProof', stranger('99'), [], '0x1'],
    ['linea_getProof', DEV_ACCOUNTS[3]!.address, [word(2n)], '0x0'],
  ];
  for (const [method, ...params] of cases) {
    const expected = await dev.ask(method, ...params);
    expect(await ask(method, ...params), `${method} ${JSON.stringify(params)}`).toEqual(expected);
  }
});

test.each<[string, ...unknown[]]>([
  ['eth_getBalance', accountAt(0), 'latest'],
  ['eth_getTransactionCount', accountAt(0), 'latest'],
  ['eth_getCode', token, 'latest'],
  ['eth_getStorageAt', token, '0x2', 'latest'],
  ['eth_getStorageValues', { [token]: ['0x2'] }, 'latest'],
  ['eth_getProof', token, ['0x2'], 'latest'],
])('%s that is given up is asked of no endpoint any more', async (method, ...params) => {
  const { open, endpoints, dev } = await lightScene({ endpoints: [{}] });
  const ended: [string, string | undefined][] = [];
  const exchange = ({ methods, fault }: ExchangeRecord) => void ended.push([methods.join(), fault]);
  const node = await open({ headMaxAgeMs: 3_600_000 }, { upstreamObserver: { exchange } });
  await node.request({ method: 'eth_blockNumber', params: [] });
  endpoints[0]!.options.latencyMs = 5_000;
  const given = new AbortController();
  const reading = node.request<UntypedMethod>({ method, params }, { signal: given.signal });
  reading.catch(() => {});
  await expect.poll(() => endpoints[0]!.seen.at(-1)?.[0]?.method).toBe('eth_getProof');
  given.abort();
  await expect(reading).rejects.toThrow();
  await expect.poll(() => ended.at(-1)).toEqual(['eth_getProof', 'aborted']);
  endpoints[0]!.options.latencyMs = 0;
  expect(await node.request<UntypedMethod>({ method, params })).toEqual(await dev.ask(method, ...params));
});

test('why a transaction is in no block is passed on, for that transaction alone', async () => {
  const { dev, ask, endpoints } = await lightScene();
  const raw = signTransaction(0, {
    to: stranger('11'),
    nonce: 0,
    gasLimit: 21_000n,
    maxFeePerGas: 8n,
    maxPriorityFeePerGas: 1n,
  });
  await expect(dev.ask('eth_sendRawTransaction', raw)).rejects.toThrow();
  const hash = bytesToHex(keccak_256(hexToBytes(raw)));
  const told = await dev.ask('linea_getTransactionExclusionStatusV1', hash);
  expect(told).toMatchObject({ txHash: hash });
  expect(await ask('linea_getTransactionExclusionStatusV1', hash)).toEqual(told);
  expect(await ask('linea_getTransactionExclusionStatusV1', word(1n))).toBeNull();
  for (const { options } of endpoints) options.tamper = (_, result) => ({ ...(result as object), txHash: word(2n) });
  await expect(ask('linea_getTransactionExclusionStatusV1', hash)).rejects.toMatchObject({
    message: /OTHER_TRANSACTION/,
  });
});

test('the code of a contract is asked for once, also without a store', async () => {
  const { dev, endpoints, clock, ask } = await lightScene({ chain: { accessLists: false } });
  const asked = () => endpoints.flatMap(({ seen }) => seen.flat()).filter(({ method }) => method === 'eth_getCode');
  for (let block = 0; block < 3; block++) {
    // The newest block is known before the call.
    await ask('eth_getBalance', accountAt(0), 'latest');
    await ask('eth_call', { to: token, data: '0x18160ddd' }, 'latest');
    expect(asked()).toHaveLength(1);
    await dev.ask('evm_mine');
    clock.advance(60_000);
  }
});
