import { describe, expect, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, type DevNode, devNode, KeptStore, sendFrom, stranger, word } from '../support/dev-node.js';

const CONTRACT = stranger('cc');
/** Returns slot 0 and adds one to it. */
const COUNTING = '0x5f54806001015f555f5260205ff3';
const SENDER = stranger('aa');

interface Edited {
  readonly hash: Hex;
  readonly block: Hex;
  /** Whose balance the edit set, and to what. */
  readonly balance: readonly [Hex, Hex];
}

/** A block whose transaction needs the edits before it, by each kind of edit and of sender. */
const EDITS: Record<string, (dev: DevNode) => Promise<Omit<Edited, 'block'>>> = {
  async 'a balance'(dev) {
    await dev.ask('anvil_setBalance', SENDER, '0xde0b6b3a7640000');
    await dev.ask('anvil_impersonateAccount', SENDER);
    const call = { from: SENDER, to: CONTRACT, value: '0x5' };
    return { hash: await dev.ask<Hex>('eth_sendTransaction', call), balance: [SENDER, '0xde0b6b3a7640000'] };
  },
  async 'code and a slot'(dev) {
    await dev.ask('anvil_setCode', CONTRACT, COUNTING);
    await dev.ask('anvil_setStorageAt', CONTRACT, word(0n), word(41n));
    await dev.ask('anvil_setBalance', CONTRACT, '0x77');
    return { hash: await sendFrom(dev, 0, CONTRACT), balance: [CONTRACT, '0x77'] };
  },
  async 'a nonce'(dev) {
    await dev.ask('anvil_setNonce', accountAt(1), '0x9');
    await dev.ask('anvil_setBalance', accountAt(1), '0x8ac7230489e80000');
    return { hash: await sendFrom(dev, 1, stranger('77')), balance: [accountAt(1), '0x8ac7230489e80000'] };
  },
  async 'a sender with code'(dev) {
    await dev.ask('anvil_setCode', SENDER, COUNTING);
    await dev.ask('anvil_setBalance', SENDER, '0xde0b6b3a7640000');
    await dev.ask('anvil_impersonateAccount', SENDER);
    const hash = await dev.ask<Hex>('eth_sendTransaction', { from: SENDER, to: SENDER });
    return { hash, balance: [SENDER, '0xde0b6b3a7640000'] };
  },
};

async function editedBlocks(dev: DevNode): Promise<Edited[]> {
  const edited: Edited[] = [];
  for (const edit of Object.values(EDITS)) {
    const done = await edit(dev);
    const { blockNumber } = await dev.ask<{ blockNumber: Hex }>('eth_getTransactionReceipt', done.hash);
    edited.push({ ...done, block: blockNumber });
  }
  return edited;
}

type Prestate = Record<Hex, { balance?: Hex }>;

/** The block runs again from the state with the edits: each trace has the gas of its receipt and the balance of the edit. */
async function requireTraces({ ask }: DevNode, edited: readonly Edited[]): Promise<unknown[]> {
  const traces: unknown[] = [];
  for (const { hash, block, balance } of edited) {
    const { gasUsed } = await ask<{ gasUsed: Hex }>('eth_getTransactionReceipt', hash);
    const one = await ask<{ gasUsed: Hex }>('debug_traceTransaction', hash, { tracer: 'callTracer' });
    expect(one.gasUsed).toBe(gasUsed);
    const all = await ask<{ result: unknown }[]>('debug_traceBlockByNumber', block, { tracer: 'callTracer' });
    expect(all.at(-1)!.result).toEqual(one);
    const before = await ask<Prestate>('debug_traceTransaction', hash, { tracer: 'prestateTracer' });
    expect(before[balance[0]]?.balance).toBe(balance[1]);
    traces.push(one);
  }
  return traces;
}

describe('a block that begins with edits is traced', () => {
  test.each(Object.entries(EDITS))('%s', async (_, edit) => {
    const dev = await devNode();
    const done = await edit(dev);
    const { blockNumber } = await dev.ask<{ blockNumber: Hex }>('eth_getTransactionReceipt', done.hash);
    await requireTraces(dev, [{ ...done, block: blockNumber }]);
  });

  test('also when it is old, when the devnet is opened again, and when it is imported', async () => {
    const store = new KeptStore();
    const dev = await devNode({ store });
    const edited = await editedBlocks(dev);
    const traces = await requireTraces(dev, edited);
    // Old blocks are packed.
    for (let i = 0; i < 3; i++) await dev.ask('anvil_mine', '0x100');
    expect(await requireTraces(dev, edited)).toEqual(traces);
    const file = await dev.node.exportChain();
    await dev.node.close();

    const again = await devNode({ store });
    expect(await requireTraces(again, edited)).toEqual(traces);
    await again.node.close();

    const other = await devNode({ store: new KeptStore() });
    await other.node.importChain(file);
    expect(await requireTraces(other, edited)).toEqual(traces);
  });
});

describe('blocks that are taken back', () => {
  /** A chain of three blocks, with an edit before each of the last two and one after them. */
  async function edited(): Promise<DevNode> {
    const dev = await devNode();
    await dev.ask('evm_mine');
    for (const account of ['11', '22', '33']) {
      await dev.ask('anvil_setBalance', stranger(account), '0x1');
      if (account !== '33') await dev.ask('evm_mine');
    }
    return dev;
  }
  const balances = ({ ask }: DevNode) =>
    Promise.all(['11', '22', '33'].map((account) => ask('eth_getBalance', stranger(account), 'latest')));

  test.each([
    [1, ['0x1', '0x1', '0x0']],
    [2, ['0x1', '0x0', '0x0']],
    [3, ['0x0', '0x0', '0x0']],
  ])('a rollback of %i keeps the edits made on the block gone back to', async (depth, expected) => {
    const dev = await edited();
    await dev.ask('anvil_rollback', depth);
    expect(await balances(dev)).toEqual(expected);
    await dev.ask('evm_mine');
    expect(await balances(dev)).toEqual(expected);
    await dev.ask('anvil_rollback', 1);
    expect(await balances(dev)).toEqual(expected);
  });

  test('a reorg too, and the new blocks are traced from them', async () => {
    const dev = await edited();
    const sender = stranger('22');
    await dev.ask('anvil_setBalance', sender, '0x1');
    await dev.ask('anvil_impersonateAccount', stranger('11'));
    await dev.ask('anvil_reorg', 1, [[{ from: accountAt(2), to: sender, value: '0x5' }, 0]]);
    expect(await balances(dev)).toEqual(['0x1', '0x6', '0x0']);
    const [{ result }] = await dev.ask<[{ result: { value: Hex } }]>('debug_traceBlockByNumber', 'latest', {
      tracer: 'callTracer',
    });
    expect(result.value).toBe('0x5');
  });

  test.each<[string, unknown[], object]>([
    ['a transaction that is none', [2, [['0x01', 0]]], { code: -32602 }],
    ['a sender without a key', [2, [[{ from: stranger('99'), to: CONTRACT }, 0]]], { code: -32007 }],
    ['a block that is not there', [2, [[{ from: accountAt(2), to: CONTRACT }, 7]]], { code: -32602 }],
    ['a depth above the chain', [9, []], { code: -32602 }],
  ])('a reorg with %s changes nothing', async (_, params, error) => {
    const dev = await edited();
    const before = await dev.ask('eth_getBlockByNumber', 'latest', true);
    const pending = await balances(dev);
    const answer = await dev.ask('anvil_reorg', ...params).catch((thrown: unknown) => thrown);
    expect(answer).toMatchObject(error);
    expect(await dev.ask('eth_getBlockByNumber', 'latest', true)).toEqual(before);
    expect(await balances(dev)).toEqual(pending);
  });

  test('a reorg that spends more gas than its request may changes nothing', async () => {
    const dev = await devNode({ gasBudget: 100_000 });
    await dev.ask('anvil_setCode', CONTRACT, '0x5b5f56');
    await dev.ask('evm_mine', { blocks: 2 });
    const before = await dev.ask('eth_getBlockByNumber', 'latest', true);
    const pairs = [[{ from: accountAt(2), to: CONTRACT, gas: '0x100000' }, 0]];
    await expect(dev.ask('anvil_reorg', 1, pairs)).rejects.toMatchObject({ message: expect.stringMatching(/gas/) });
    expect(await dev.ask('eth_getBlockByNumber', 'latest', true)).toEqual(before);
  });

  test('a reorg for whose first block there is no time changes nothing', async () => {
    const dev = await devNode();
    await dev.ask('evm_mine', { blocks: 2 });
    await dev.ask('anvil_setBlockTimestampInterval', Number.MAX_SAFE_INTEGER);
    const before = await dev.ask('eth_getBlockByNumber', 'latest', true);
    await expect(dev.ask('anvil_reorg', 1, [])).rejects.toMatchObject({ message: expect.stringMatching(/timestamp/) });
    expect(await dev.ask('eth_getBlockByNumber', 'latest', true)).toEqual(before);
  });

  test('a transaction that its new block refuses is left out, and says why', async () => {
    const dev = await edited();
    await dev.ask('anvil_impersonateAccount', stranger('ab'));
    const pairs = [
      [{ from: stranger('ab'), to: CONTRACT, value: '0x5' }, 0],
      [{ from: accountAt(2), to: CONTRACT }, 0],
    ];
    await dev.ask('anvil_reorg', 1, pairs);
    const block = await dev.ask<{ transactions: { from: Hex }[] }>('eth_getBlockByNumber', 'latest', true);
    expect(block.transactions.map(({ from }) => from)).toEqual([accountAt(2)]);
  });
});

describe('a chain id that is set', () => {
  /** Stores CHAINID in slot 0, and returns it. */
  const CHAIN_ID = '0x465f55465f5260205ff3';
  const output = async ({ ask }: DevNode, hash: Hex) =>
    Number((await ask<{ output: Hex }>('debug_traceTransaction', hash, { tracer: 'callTracer' })).output);

  test('is that of later blocks: earlier ones are traced with their own', async () => {
    const dev = await devNode();
    await dev.ask('anvil_setCode', CONTRACT, CHAIN_ID);
    const [first] = [await sendFrom(dev, 0, CONTRACT), await dev.ask('anvil_setChainId', 77)];
    const [second] = [await sendFrom(dev, 0, CONTRACT), await dev.ask('anvil_setChainId', 78)];
    expect([await output(dev, first), await output(dev, second)]).toEqual([59_139, 77]);
    expect(await dev.ask('debug_traceBlockByNumber', '0x1')).toHaveLength(1);
  });

  test('drops transactions of another chain from the pool, as they can run in no block', async () => {
    const dev = await devNode();
    await dev.ask('evm_setAutomine', false);
    await sendFrom(dev, 0, CONTRACT);
    await dev.ask('anvil_setChainId', 77);
    const kept = await sendFrom(dev, 1, CONTRACT);
    await dev.ask('evm_mine');
    expect(await dev.ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ transactions: [kept] });
    expect(await dev.ask('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' });
  });
});

describe('accounts edited to zero', () => {
  test('go, with the state roots of a chain that never had them', async () => {
    const dev = await devNode();
    const root = async () => (await dev.ask<{ stateRoot: Hex }>('eth_getBlockByNumber', 'latest', false)).stateRoot;
    await dev.ask('evm_mine');
    await dev.ask('anvil_setBalance', SENDER, '0x5');
    await dev.ask('anvil_setNonce', SENDER, '0x2');
    await dev.ask('evm_mine');
    await dev.ask('anvil_setBalance', SENDER, '0x0');
    await dev.ask('anvil_setNonce', SENDER, '0x0');
    await dev.ask('evm_mine');
    const other = await devNode();
    await other.ask('evm_mine', { blocks: 3 });
    const proof = await dev.ask<{ accountProof: Hex[] }>('eth_getProof', SENDER, [], 'latest');
    expect(proof).toMatchObject({ balance: '0x0', nonce: '0x0' });
    const bare = await other.ask<{ stateRoot: Hex }>('eth_getBlockByNumber', 'latest', false);
    // The history contract holds the hashes of other blocks.
    await dev.ask('anvil_setCode', '0x0000F90827F1C53a10cb7A02335B175320002935', '0x');
    expect(await root()).not.toBe(bare.stateRoot);
    const { accountProof } = await other.ask<{ accountProof: Hex[] }>('eth_getProof', SENDER, [], 'latest');
    expect(proof.accountProof.length).toBe(accountProof.length);
  });
});

test('a reopened devnet says from which block on it can prove', async () => {
  const store = new KeptStore();
  const dev = await devNode({ store });
  await dev.ask('anvil_mine', '0x60');
  const proof = await dev.ask('linea_getProof', accountAt(0), [], '0x2');
  expect(proof).toBeTruthy();
  await dev.node.close();
  const node = await createInlineNode({ store });
  const asked = node.request({ method: 'linea_getProof', params: [accountAt(0), [], '0x2'] });
  const message = 'BLOCK_MISSING_IN_CHAIN - block is missing (states from block ';
  await expect(asked).rejects.toMatchObject({ code: -32600, message: expect.stringContaining(message) });
  const { message: text } = (await asked.catch((error: unknown) => error)) as Error;
  const from = /from block (\d+) on/.exec(text)![1]!;
  await node.request({ method: 'linea_getProof', params: [accountAt(0), [], `0x${Number(from).toString(16)}`] });
  await node.close();
});
