import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { BlockContentsReader } from '../../src/chain/light/block-contents.js';
import { LightBlock, readLightBlock } from '../../src/chain/light/heads/light-block.js';
import { logsOfRange } from '../../src/chain/light/log-range.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { accountAt, PRICE, stranger, word } from '../support/dev-node.js';
import { settled } from '../support/eventually.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { signTransaction, transferCalldata } from '../support/sign.js';
import { gate } from '../support/stub-node.js';

const BLOCKS = 130;
/** Blocks with a token transfer. */
const BUSY = [3, 40, 41, 90, 100, 128];
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const quantity = (number: number): Hex => `0x${number.toString(16)}`;
const padded = (address: Hex) => word(BigInt(address));

let dev: PlumblineNode;
let mocks: MockEndpoint[];
let light: PlumblineNode;

beforeAll(async () => {
  dev = await createInlineNode();
  for (let block = 1, nonce = 0; block <= BLOCKS; block++) {
    if (!BUSY.includes(block)) {
      await dev.request({ method: 'evm_mine', params: [] });
      continue;
    }
    const data = transferCalldata(stranger(`0${nonce}`), BigInt(block));
    const raw = signTransaction(0, { nonce: nonce++, to: token, data, gasLimit: 100_000n, ...PRICE });
    await dev.request({ method: 'eth_sendRawTransaction', params: [raw] });
  }
  mocks = [await serveMock(dev), await serveMock(dev)];
  const endpoints = mocks.map(({ url }) => url);
  light = await createInlineNode({ chain: { kind: 'light', network: devnet(), endpoints, headMaxAgeMs: 3_600_000 } });
});
afterAll(async () => {
  await light.close();
  await Promise.all(mocks.map((mock) => mock.close()));
  await dev.close();
});

const logs = (node: PlumblineNode, filter: object) => node.request({ method: 'eth_getLogs', params: [filter] });

describe('logs of a light node', () => {
  test.each([
    ['the whole chain', { fromBlock: 'earliest', toBlock: 'latest' }, BUSY.length],
    ['a contract', { fromBlock: '0x0', address: token }, BUSY.length],
    ['another contract', { fromBlock: '0x0', address: stranger('77') }, 0],
    ['an event', { fromBlock: '0x1', topics: [TRANSFER] }, BUSY.length],
    ['a sender', { fromBlock: '0x1', topics: [TRANSFER, padded(accountAt(0))] }, BUSY.length],
    ['one receiver', { fromBlock: '0x1', topics: [null, null, padded(stranger('02'))] }, 1],
    ['two receivers', { fromBlock: '0x1', topics: [[], [], [padded(stranger('00')), padded(stranger('05'))]] }, 2],
    ['part of it, far below the head', { fromBlock: quantity(40), toBlock: quantity(90) }, 3],
    ['one block', { fromBlock: quantity(41), toBlock: quantity(41) }, 1],
    ['a block without any', { fromBlock: quantity(42), toBlock: quantity(42) }, 0],
  ])('%s', async (_, filter, count) => {
    const found = (await logs(light, filter)) as unknown[];
    expect(found).toHaveLength(count);
    expect(found).toEqual(await logs(dev, filter));
  });

  test('a filter by block hash gives the logs of that block', async () => {
    for (const number of [90, 91]) {
      const block = await dev.request({ method: 'eth_getBlockByNumber', params: [quantity(number), false] });
      const filter = { blockHash: (block as { hash: Hex }).hash };
      expect(await logs(light, filter)).toEqual(await logs(dev, filter));
    }
  });

  test('receipts are fetched where the bloom may hold a match, and nowhere else', async () => {
    const endpoints = mocks.map(({ url }) => url);
    const node = await createInlineNode({ chain: { kind: 'light', network: devnet(), endpoints } });
    for (const mock of mocks) mock.seen.length = 0;
    await logs(node, { fromBlock: '0x0', topics: [null, null, padded(stranger('02'))] });
    const methods = mocks.flatMap(({ seen }) => seen.flat()).map(({ method }) => method);
    expect(methods.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(1);
    expect(methods).not.toContain('eth_getLogs');
    expect(mocks.reduce((sum, { seen }) => sum + seen.length, 0)).toBeLessThan(12);
    await node.close();
  });

  test.each([
    ['headers', 'eth_getBlockByNumber', 'eth_getLogs'],
    ['receipts', 'eth_getBlockReceipts', 'eth_getLogs'],
    ['headers', 'eth_getBlockByNumber', 'eth_getFilterLogs'],
    ['receipts', 'eth_getBlockReceipts', 'eth_getFilterLogs'],
  ])('giving up while %s are fetched ends the search (%s for %s)', async (_, method, search) => {
    const slow = await serveMock(dev);
    const chain = { kind: 'light', network: devnet(), endpoints: [slow.url], headMaxAgeMs: 3_600_000 } as const;
    const node = await createInlineNode({ chain });
    await node.request({ method: 'eth_blockNumber', params: [] });
    const under = () => slow.seen.filter((calls) => calls.some((call) => call.method === method));
    const filter = { fromBlock: '0x0', toBlock: 'latest' };
    const given =
      search === 'eth_getLogs'
        ? filter
        : await node.request<UntypedMethod>({ method: 'eth_newFilter', params: [filter] });
    slow.seen.length = 0;
    const answers = gate();
    const controller = new AbortController();
    // Each request but those for what is looked at is answered at once.
    slow.options.tamper = async (call, result) => {
      if (call.method === method) await answers.closed;
      return result;
    };
    const searching = node.request<UntypedMethod>({ method: search, params: [given] }, { signal: controller.signal });
    searching.catch(() => {});
    await expect.poll(() => under().length).toBeGreaterThan(0);
    controller.abort();
    await expect(searching).rejects.toThrow();
    const asked = slow.seen.length;
    // What has been asked for is answered now, and nothing more is asked.
    answers.open();
    await settled();
    expect(slow.seen).toHaveLength(asked);
    await node.close();
    await slow.close();
  });

  test('a header that is held and is of another chain is not searched', async () => {
    const group = new EndpointGroup({ role: 'l2', endpoints: [mocks[0]!.url] });
    const network = devnet();
    const blockAt = async (number: number) => {
      const json = await dev.request({ method: 'eth_getBlockByNumber', params: [quantity(number), false] });
      return readLightBlock(network, json)!;
    };
    const headers = {
      // As it would be after a re-organization: a block of the right height without any logs.
      at: (number: number) => (number === 90 ? empty : undefined),
      levelOf: () => undefined,
      note: () => {},
    };
    const last = await blockAt(91);
    const { header } = await blockAt(90);
    const empty = new LightBlock({ ...header, logsBloom: new Uint8Array(256) }, new Uint8Array(32));
    const source = { group, network, headers, contents: new BlockContentsReader(group, network) };
    const found = await logsOfRange(source, last, { from: 89, filter: { addresses: undefined, topics: [] } });
    expect(found.map(({ transaction }) => transaction.block.header.number)).toEqual([90]);
    group.close();
  });

  test('a range above the limit, or above the head, is refused', async () => {
    await expect(logs(light, { fromBlock: '0x0', toBlock: quantity(BLOCKS + 1) })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(logs(light, { fromBlock: '0x9', toBlock: '0x8' })).rejects.toMatchObject({ code: -32602 });
  });

  test.each([
    ['receipts that are not to be had', ['eth_getBlockReceipts', 'eth_getTransactionReceipt'], 'UPSTREAM_ERROR'],
    ['headers that are not to be had', ['eth_getBlockByNumber'], 'UPSTREAM_ERROR'],
  ])('%s: an error and no list', async (_, missing, code) => {
    const errors: unknown[] = [];
    const endpoints = mocks.map(({ url }) => url);
    const node = await createInlineNode({
      onError: (error) => errors.push(error),
      chain: { kind: 'light', network: devnet(), endpoints, headMaxAgeMs: 3_600_000 },
    });
    await node.request({ method: 'eth_blockNumber', params: [] });
    for (const mock of mocks) mock.options.missing = missing;
    await expect(logs(node, { fromBlock: '0x0', address: token })).rejects.toThrow();
    expect(errors[0]).toMatchObject({ code });
    for (const mock of mocks) delete mock.options.missing;
    await node.close();
  });
});
