import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const [alice, bob, carol] = DEV_ACCOUNTS.map(({ address }) => address) as [Hex, Hex, Hex];
/** keccak256 of `Transfer(address,address,uint256)`, as every token's logs show it. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const OTHER = `0x${'ee'.repeat(32)}`;
const FEES = { maxFeePerGas: 5n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
const topicOf = (address: Hex): Hex => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;

interface LogJson {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly logIndex: Hex;
}

describe('logs and filters on a devnet', () => {
  let node: PlumblineNode;
  const nonces = [0, 0, 0];
  const ask = <T = unknown>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;
  const logs = (filter: object) => ask<LogJson[]>('eth_getLogs', filter);
  /** Which transfers a filter finds, by their amounts. */
  const amounts = async (filter: object) => (await logs(filter)).map(({ data }) => Number(data));

  const transfer = (sender: number, to: Hex, amount: number) =>
    ask<Hex>(
      'eth_sendRawTransaction',
      signTransaction(sender, {
        to: TEST_TOKEN,
        data: transferCalldata(to, BigInt(amount)),
        gasLimit: 100_000n,
        nonce: nonces[sender]!++,
        ...FEES,
      }),
    );

  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', mining: 'manual' } });
    await transfer(0, bob, 1);
    await transfer(0, carol, 2);
    await ask('evm_mine');
    await transfer(1, carol, 3);
    await ask('evm_mine');
    await ask('evm_mine');
    await transfer(0, bob, 4);
    await ask('evm_mine');
  });
  afterAll(() => node.close());

  const all = { fromBlock: 'earliest' };

  test('a log stands where it happened', async () => {
    const { hash, timestamp } = await ask<{ hash: Hex; timestamp: Hex }>('eth_getBlockByNumber', '0x1', false);
    const [first, second, ...rest] = await logs({ fromBlock: '0x1', toBlock: '0x1' });
    expect(rest).toEqual([]);
    expect(first).toEqual({
      address: TEST_TOKEN.toLowerCase(),
      topics: [TRANSFER, topicOf(alice), topicOf(bob)],
      data: `0x${'1'.padStart(64, '0')}`,
      blockNumber: '0x1',
      blockHash: hash,
      blockTimestamp: timestamp,
      transactionHash: (await ask<{ transactions: Hex[] }>('eth_getBlockByNumber', '0x1', false)).transactions[0],
      transactionIndex: '0x0',
      logIndex: '0x0',
      removed: false,
    });
    expect(second).toMatchObject({ transactionIndex: '0x1', logIndex: '0x1' });
    expect(await logs({ blockHash: hash })).toEqual([first, second]);
    // As Besu and geth take it; logs of the head would be others.
    expect(await logs({ blockhash: hash })).toEqual([first, second]);
  });

  test.each<[string, object, number[]]>([
    ['everything', all, [1, 2, 3, 4]],
    ['a range', { fromBlock: '0x2', toBlock: '0x4' }, [3, 4]],
    ['the newest block, without bounds', {}, [4]],
    ['finalized blocks', { fromBlock: 'earliest', toBlock: 'finalized' }, [1, 2, 3]],
    ['from a number on', { fromBlock: '0x2', toBlock: null }, [3, 4]],
    // As geth takes them; without the bounds, these would be logs of the head, and without the address all of them.
    ['bounds in lower case', { fromBlock: null, fromblock: '0x2', toblock: '0x4' }, [3, 4]],
    ['an address in upper case', { ...all, ADDRESS: '0x1111111111111111111111111111111111111111' }, []],
    ['an address', { ...all, address: TEST_TOKEN }, [1, 2, 3, 4]],
    ['one of several addresses', { ...all, address: [alice, TEST_TOKEN] }, [1, 2, 3, 4]],
    ['another address', { ...all, address: alice }, []],
    ['no address at all, which is any', { ...all, address: [] }, [1, 2, 3, 4]],
    ['a first topic', { ...all, topics: [TRANSFER] }, [1, 2, 3, 4]],
    ['another first topic', { ...all, topics: [OTHER] }, []],
    ['a third topic', { ...all, topics: [null, null, topicOf(carol)] }, [2, 3]],
    ['one of several topics', { ...all, topics: [[OTHER, TRANSFER], topicOf(alice), [topicOf(bob), OTHER]] }, [1, 4]],
    ['any topic at a position', { ...all, topics: [[], null, topicOf(bob)] }, [1, 4]],
    [
      'null among the topics of a position, which is any',
      { ...all, topics: [[null], [null, OTHER], topicOf(bob)] },
      [1, 4],
    ],
    ['a fourth topic that no log has', { ...all, topics: [null, null, null, null] }, []],
  ])('%s', async (_what, filter, expected) => {
    expect(await amounts(filter)).toEqual(expected);
  });

  const hash = `0x${'12'.repeat(32)}`;
  test.each<[string, object | undefined, number]>([
    ['no filter', undefined, -32602],
    ['an end above the head', { fromBlock: '0x0', toBlock: '0x63' }, -32602],
    ['a beginning above the head', { fromBlock: '0x63' }, -32602],
    ['an end below the beginning', { fromBlock: '0x2', toBlock: '0x1' }, -32602],
    ['a hash in lower case and a range', { blockhash: hash, fromBlock: '0x1' }, -32602],
    ['a hash and a range', { blockHash: hash, fromBlock: '0x1' }, -32602],
    ['five topics', { topics: [null, null, null, null, null] }, -32602],
    ['a short topic', { topics: ['0x12'] }, -32602],
    ['topics three deep', { topics: [[[TRANSFER]]] }, -32602],
    ['1001 addresses', { address: Array(1001).fill(alice) }, -32602],
    ['an unknown block', { blockHash: hash }, -39001],
  ])('%s is refused', async (_what, filter, code) => {
    await expect(ask('eth_getLogs', filter)).rejects.toMatchObject({ code });
  });

  test('filters tell what is new', async () => {
    const head = Number(await ask<Hex>('eth_blockNumber'));
    const toCarol = await ask('eth_newFilter', { ...all, address: TEST_TOKEN, topics: [null, null, topicOf(carol)] });
    const [blocks, pending] = [await ask('eth_newBlockFilter'), await ask('eth_newPendingTransactionFilter')];
    const changes = (id: unknown) => ask<unknown[]>('eth_getFilterChanges', id);
    expect(await changes(toCarol)).toEqual([]);
    const sent = [await transfer(0, carol, 10), await transfer(0, bob, 11)];
    expect(await changes(pending)).toEqual(sent);
    await ask('evm_mine');
    await ask('evm_mine');
    const hashes = [];
    for (const number of [head + 1, head + 2]) {
      const block = await ask<{ hash: Hex }>('eth_getBlockByNumber', `0x${number.toString(16)}`, false);
      hashes.push(block.hash);
    }
    expect(await changes(blocks)).toEqual(hashes);
    expect(await changes(blocks)).toEqual([]);
    expect(await changes(toCarol)).toEqual(await logs({ blockHash: hashes[0], topics: [null, null, topicOf(carol)] }));
    expect(await changes(toCarol)).toEqual([]);
    expect(await changes(pending)).toEqual([]);

    await expect(ask('eth_getFilterLogs', blocks)).rejects.toMatchObject({ code: -32000, message: 'Filter not found' });
    expect(await ask('eth_uninstallFilter', blocks)).toBe(true);
    expect(await ask('eth_uninstallFilter', blocks)).toBe(false);
    await expect(changes(blocks)).rejects.toMatchObject({ code: -32000, message: 'Filter not found' });
    await expect(changes('0x')).rejects.toMatchObject({ code: -32602 });
  });

  test('all logs of a filter can be asked at any time', async () => {
    const id = await ask('eth_newFilter', { fromBlock: '0x1', toBlock: '0x4', topics: [null, topicOf(alice)] });
    const found = await ask<LogJson[]>('eth_getFilterLogs', id);
    expect(found.map(({ data }) => Number(data))).toEqual([1, 2, 4]);
    expect(await ask('eth_getFilterLogs', id)).toEqual(found);
  });

  test('blocks and logs stay the same when so many blocks follow that they are packed', async () => {
    const from = { fromBlock: '0x0', toBlock: '0x6' };
    const block = (number: number) => ask<object>('eth_getBlockByNumber', `0x${number.toString(16)}`, true);
    const blocks = () => Promise.all([0, 1, 2, 3, 4].map(block));
    const before = [await blocks(), await logs(from), await logs({ ...from, topics: [null, topicOf(bob)] })];
    await ask('anvil_mine', '0x110');
    expect([await blocks(), await logs(from), await logs({ ...from, topics: [null, topicOf(bob)] })]).toEqual(before);
    expect(await logs({ ...from, toBlock: 'latest' })).toEqual(before[1]);
  });
});
