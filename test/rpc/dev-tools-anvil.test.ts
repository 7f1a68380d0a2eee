import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { devAlloc } from '../../src/chain/devnet/state/genesis.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { Anvil, anvilPath } from '../support/anvil.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';

/*
 * The same requests to anvil itself and to a devnet that answers as anvil. What anvil says is what is expected.
 */

if (anvilPath() === undefined)
  console.warn(`not compared with anvil: there is none for ${process.platform} ${process.arch}`);

type Ask = (method: string, ...params: unknown[]) => Promise<unknown>;
/** The error of a request. Messages of parameters differ, so that they are compared only where a test says so. */
const failed = (asking: Promise<unknown>) =>
  asking.then(
    () => 'no error',
    (error: { message: string }) => error.message.replace(/^\w+: /, ''),
  );

const CHAIN_ID = 1;
const PRICES = { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x3b9aca00', gas: '0x30000' };
/** Logs its block's number: NUMBER, PUSH0, MSTORE, PUSH1 32, PUSH0, LOG0. */
const LOGGING = '0x435f5260205fa000';
/** Return data of a revert: Error("boom"). */
const ERROR_BOOM = `08c379a0${word(32n).slice(2)}${word(4n).slice(2)}${'626f6f6d'.padEnd(64, '0')}`;
/** Reverts with the 100 bytes after it; without data when it is called with data. */
const REVERTING = '0x36600e57606460125f3960645ffd5b5f5ffd';
const CONTRACT = stranger('cc');

describe.skipIf(anvilPath() === undefined)('a devnet answers as anvil', () => {
  let anvil: Anvil;
  let node: PlumblineNode;
  let both: [name: string, ask: Ask][];
  /** The answers of both to one request. */
  const ask = (method: string, ...params: unknown[]) => Promise.all(both.map(([, one]) => one(method, ...params)));
  /** Requires both to answer the same. @returns the answer */
  async function same(method: string, ...params: unknown[]): Promise<unknown> {
    const [theirs, ours] = await ask(method, ...params);
    expect(ours, method).toEqual(theirs);
    return ours;
  }

  beforeAll(async () => {
    anvil = await Anvil.start('osaka');
  }, 90_000);
  afterAll(() => anvil.close());

  beforeEach(async () => {
    node = await createInlineNode({
      chain: { kind: 'devnet', network: devnet({ chainId: CHAIN_ID }), tool: 'anvil' },
      dictionary: { kind: 'general' },
    });
    both = [
      ['anvil', (method, ...params) => anvil.ask(method, ...params)],
      ['devnet', (method, ...params) => node.request<UntypedMethod>({ method, params })],
    ];
    await same('anvil_reset');
    await anvil.ask('anvil_autoImpersonateAccount', true);
    await anvil.ask('evm_setAutomine', true);
    for (const account of [accountAt(0), accountAt(1)]) await ask('anvil_setBalance', account, '0x21e19e0c9bab2400000');
    return () => node.close();
  });

  const send = (from: Hex, fields: object) => ask('eth_sendTransaction', { from, to: CONTRACT, ...PRICES, ...fields });
  /** Sends to both, into a block of its own: anvil makes one some time after its answer, of all that came until then. */
  async function mined(from: Hex): Promise<unknown[]> {
    const hashes = await send(from, {});
    await eventually(async () => expect(await anvil.ask('eth_getTransactionReceipt', hashes[0])).not.toBeNull());
    return hashes;
  }

  test('about hashes, accounts and raw transactions', async () => {
    await same('web3_sha3', '0x68656c6c6f20776f726c64');
    await same('eth_hashrate');
    const [theirs, ours] = await ask('eth_protocolVersion');
    expect(Number(ours)).toBe(Number(theirs));
    await ask('anvil_setCode', CONTRACT, LOGGING);
    await ask('anvil_setStorageAt', CONTRACT, word(5n), word(6n));
    await ask('anvil_setNonce', CONTRACT, '0x7');
    await ask('anvil_mine', '0x1');
    for (const address of [CONTRACT, stranger('ee')]) {
      await same('eth_getAccountInfo', address, 'latest');
      await same('eth_getAccount', address, 'latest');
    }
    expect(await same('eth_getRawTransactionByHash', word(1n))).toBeNull();
    expect(await same('eth_getRawTransactionByBlockNumberAndIndex', 'latest', '0x0')).toBeNull();
  });

  test.each([
    ['of type 2', PRICES],
    [
      'of type 1',
      { gas: '0x5208', gasPrice: '0x77359400', accessList: [{ address: CONTRACT, storageKeys: [word(1n)] }] },
    ],
    ['of type 0', { gas: '0x5208', gasPrice: '0x77359400' }],
  ])('eth_fillTransaction, %s: the same bytes', async (_, prices) => {
    const filled = { from: accountAt(0), to: accountAt(1), value: '0x1', ...prices };
    const [theirs, ours] = (await ask('eth_fillTransaction', filled)) as { raw: Hex; tx: Record<string, unknown> }[];
    expect(ours!.raw).toBe(theirs!.raw);
    expect(ours!.tx).toMatchObject(theirs!.tx);
  });

  test('about itself: members of the same names and kinds', async () => {
    await ask('evm_snapshot');
    const kinds = (value: unknown): unknown =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, kinds(member)]))
        : typeof value;
    const [theirs, ours] = (await ask('anvil_nodeInfo')) as object[];
    expect(kinds(ours)).toEqual(kinds(theirs));
    const [metadata, own] = (await ask('anvil_metadata')) as Record<string, object>[];
    const { clientSemver, clientCommitSha, snapshots, ...rest } = metadata!;
    expect(kinds({ ...own, snapshots: {} })).toEqual(kinds({ ...rest, snapshots: {} }));
    expect(Object.values(own!.snapshots!).map(kinds)).toEqual(Object.values(snapshots!).slice(0, 1).map(kinds));
    const [genesisTime, ownTime] = await ask('anvil_getGenesisTime');
    expect(typeof ownTime).toBe(typeof genesisTime);
    expect(own!.instanceId).toMatch(/^0x[0-9a-f]{64}$/);
  });

  test('settings', async () => {
    await same('anvil_setLoggingEnabled', false);
    const [theirs, ours] = await Promise.all(both.map(([, one]) => failed(one('anvil_setMinGasPrice', '0x1'))));
    expect(ours).toBe(theirs);
    await same('anvil_addBalance', accountAt(1), '0x5');
    await same('anvil_addBalance', stranger('aa'), `0x${'f'.repeat(64)}`);
    for (const account of [accountAt(1), stranger('aa')]) await same('eth_getBalance', account, 'latest');
    await same('anvil_removePoolTransactions', accountAt(0));
    await same('anvil_setChainId', 5);
    expect(await same('eth_chainId')).toBe('0x5');
    expect(await same('net_version')).toBe('5');
    await same('anvil_reset');
    expect(await same('eth_chainId')).toBe('0x5');
    await same('anvil_setChainId', CHAIN_ID);
  });

  test('a chain id that was set is that of transactions and of contracts', async () => {
    await ask('anvil_setCode', CONTRACT, '0x465f5260205ff3'); // CHAINID
    await ask('anvil_setChainId', 77);
    expect(await same('eth_call', { to: CONTRACT }, 'latest')).toBe(word(77n));
    const hashes = await mined(accountAt(0));
    const [theirs, ours] = (await Promise.all(
      both.map(([, one], i) => one('eth_getTransactionByHash', hashes[i])),
    )) as { chainId: Hex }[];
    expect(ours!.chainId).toBe(theirs!.chainId);
    await ask('anvil_setChainId', CHAIN_ID);
  });

  test('the clock can be set forwards and back', async () => {
    const now = Math.floor(Date.now() / 1000);
    const time = async () => {
      await ask('evm_mine');
      const blocks = (await ask('eth_getBlockByNumber', 'latest', false)) as { timestamp: Hex }[];
      return blocks.map(({ timestamp }) => Number(timestamp));
    };
    for (const method of ['anvil_setTime', 'evm_setTime']) {
      const [theirs, ours] = (await ask(method, now + 100_000)) as number[];
      expect(Math.abs(ours! - theirs!)).toBeLessThan(60);
      const [at, own] = await time();
      expect(Math.abs(at! - own!)).toBeLessThan(60);
      expect(await same(method, now - 1000)).toBe(0);
    }
  });

  test('interval mining of zero seconds: no block is made by itself any more', async () => {
    for (const method of ['anvil_setIntervalMining', 'evm_setIntervalMining']) {
      await ask('evm_setAutomine', true);
      await ask(method, 5000);
      expect(await same('anvil_getIntervalMining')).toBe(5000);
      expect(await same('anvil_getAutomine')).toBe(false);
      await ask(method, 0);
      expect(await same('anvil_getAutomine')).toBe(false);
      expect(await same('anvil_getIntervalMining')).toBeNull();
    }
  });

  test('mined blocks in detail: what a transaction returned, and why it reverted', async () => {
    await ask('anvil_setCode', CONTRACT, REVERTING + ERROR_BOOM);
    await ask('evm_setAutomine', false);
    await send(accountAt(0), {});
    await send(accountAt(0), { data: '0x01' });
    const detail = (await ask('evm_mine_detailed')) as { transactions: Record<string, unknown>[] }[][];
    const [theirs, ours] = detail.map(([block]) =>
      block!.transactions.map(({ output, revertReason, input, nonce }) => ({ output, revertReason, input, nonce })),
    );
    expect(ours).toEqual(theirs);
    expect(ours!.map(({ revertReason }) => revertReason)).toContain('boom');
    const two = (await ask('anvil_mine_detailed', { timestamp: null, blocks: 2 })) as { number: Hex }[][];
    expect(two[1]!.map(({ number }) => number)).toEqual(two[0]!.map(({ number }) => number));
  });

  test('blocks with an interval begin at the time of the clock, also several such requests at once', async () => {
    /** Seconds of the newest block after the wall clock. */
    const ahead = async () => {
      const [theirs, ours] = (await ask('eth_getBlockByNumber', 'latest', false)) as { timestamp: Hex }[];
      const now = Date.now() / 1000;
      const difference = Number(ours!.timestamp) - Number(theirs!.timestamp);
      // Seconds of a busy machine may begin between the two, far fewer than an interval has.
      expect(Math.abs(difference)).toBeLessThan(20);
      return Number(theirs!.timestamp) - now;
    };
    await ask('evm_mine');
    await ask('evm_increaseTime', 1000);
    await ask('anvil_mine', 1, 100);
    expect(await ahead()).toBeGreaterThan(1090);
    await ask('anvil_mine', 3, 100);
    expect(await ahead()).toBeGreaterThan(1390);
    await Promise.all([ask('anvil_mine', 2, 50), ask('anvil_mine', 2, 50)]);
    expect(await ahead()).toBeGreaterThan(1590);
    expect(await same('eth_blockNumber')).toBe('0x9');
  });

  /** Numbers, data and whether they are there of all logs. */
  async function sameLogs() {
    const [theirs, ours] = (await ask('eth_getLogs', { fromBlock: '0x0' })) as { blockNumber: Hex; data: Hex }[][];
    const shown = (logs: typeof ours) => logs!.map(({ blockNumber, data }) => [blockNumber, data]);
    expect(shown(ours)).toEqual(shown(theirs));
    return shown(ours);
  }

  test('rollback and reorg', async () => {
    await ask('anvil_setCode', CONTRACT, LOGGING);
    await ask('anvil_mine', '0x1');
    const hashes: unknown[][] = [];
    for (let i = 0; i < 4; i++) hashes.push(await mined(accountAt(0)));
    expect(await same('eth_blockNumber')).toBe('0x5');
    await same('anvil_rollback', 1);
    expect(await same('eth_blockNumber')).toBe('0x4');
    expect(await sameLogs()).toHaveLength(3);
    await same('anvil_rollback', null);

    const added = { from: accountAt(1), to: CONTRACT, ...PRICES };
    await same('anvil_reorg', 2, [
      [added, 0],
      [added, 1],
      [{ ...added, value: '0x0' }, 1],
    ]);
    expect(await same('eth_blockNumber')).toBe('0x3');
    expect(await sameLogs()).toEqual([
      ['0x2', word(2n)],
      ['0x3', word(3n)],
      ['0x3', word(3n)],
    ]);
    for (const account of [accountAt(0), accountAt(1)]) await same('eth_getTransactionCount', account, 'latest');
    for (const [i, [, one]] of both.entries()) {
      for (const hash of hashes) {
        expect(await one('eth_getTransactionByHash', hash[i])).toBeNull();
        expect(await one('eth_getTransactionReceipt', hash[i])).toBeNull();
      }
    }
    for (const [, one] of both) {
      expect(await failed(one('anvil_rollback', 1000))).toMatch(/exceed/);
      expect(await failed(one('anvil_reorg', 1000, []))).toMatch(/exceed/);
      expect(await failed(one('anvil_reorg', 1, [[added, 3]]))).toMatch(/exceed/);
    }
    expect(await same('eth_blockNumber')).toBe('0x3');
  });

  test('edits before, between and after blocks that are taken back', async () => {
    const balances = () =>
      Promise.all(['a1', 'a2', 'a3', 'a4'].map((n) => same('eth_getBalance', stranger(n), 'latest')));
    await ask('anvil_mine', '0x2');
    await ask('anvil_setBalance', stranger('a1'), '0x1');
    await ask('anvil_mine', '0x1');
    await ask('anvil_setBalance', stranger('a2'), '0x2');
    await ask('anvil_mine', '0x1');
    await ask('anvil_setBalance', stranger('a3'), '0x3');
    await same('anvil_rollback', 1);
    expect(await balances()).toEqual(['0x1', '0x2', '0x0', '0x0']);
    await ask('anvil_mine', '0x1');
    await ask('anvil_setBalance', stranger('a4'), '0x4');
    await same('anvil_reorg', 2, []);
    expect(await balances()).toEqual(['0x1', '0x0', '0x0', '0x0']);
    const refused = { from: accountAt(1), to: CONTRACT, ...PRICES, nonce: '0x7' };
    await same('anvil_reorg', 1, [[refused, 0]]);
    expect(await same('eth_getTransactionCount', accountAt(1), 'latest')).toBe('0x0');
    expect(await same('eth_blockNumber')).toBe('0x4');
  });

  test('balances and allowances of tokens', async () => {
    const { code } = devAlloc()[TEST_TOKEN]!;
    await anvil.ask('anvil_setCode', TEST_TOKEN, code);
    const [holder, spender] = [stranger('aa'), stranger('bb')];
    for (const [i, method] of ['anvil_dealERC20', 'hardhat_dealERC20', 'anvil_setERC20Balance'].entries()) {
      await same(method, holder, TEST_TOKEN, `0x5${i}`);
      const data = `0x70a08231${holder.slice(2).padStart(64, '0')}`;
      expect(await same('eth_call', { to: TEST_TOKEN, data }, 'latest')).toBe(word(0x50n + BigInt(i)));
    }
    await same('anvil_setERC20Allowance', holder, spender, TEST_TOKEN, '0x77');
    const data = `0xdd62ed3e${[holder, spender].map((one) => one.slice(2).padStart(64, '0')).join('')}`;
    expect(await same('eth_call', { to: TEST_TOKEN, data }, 'latest')).toBe(word(0x77n));
    for (const [method, ...params] of [
      ['anvil_dealERC20', holder, stranger('dd'), '0x1'],
      ['anvil_setERC20Allowance', holder, spender, stranger('dd'), '0x1'],
    ] as const) {
      const [theirs, ours] = await Promise.all(both.map(([, one]) => failed(one(method, ...params))));
      expect(ours).toBe(theirs);
    }
  });

  test('a state goes from anvil to the devnet, and back', async () => {
    await ask('anvil_setCode', CONTRACT, LOGGING);
    const read = (one: Ask, address: Hex, slot: Hex) =>
      Promise.all([one('eth_getAccountInfo', address, 'latest'), one('eth_getStorageAt', address, slot, 'latest')]);
    const [[, theirs], [, ours]] = both as [[string, Ask], [string, Ask]];
    await theirs('anvil_setBalance', stranger('a1'), '0x1234');
    await theirs('anvil_setStorageAt', CONTRACT, word(1n), word(11n));
    expect(await ours('anvil_loadState', await theirs('anvil_dumpState'))).toBe(true);
    expect(await read(ours, CONTRACT, word(1n))).toEqual(await read(theirs, CONTRACT, word(1n)));
    expect(await ours('eth_getBalance', stranger('a1'), 'latest')).toBe('0x1234');
    await ours('evm_mine');
    expect(await ours('eth_getBalance', stranger('a1'), 'latest')).toBe('0x1234');

    await ours('anvil_setNonce', stranger('a2'), '0x9');
    await ours('anvil_setStorageAt', CONTRACT, word(2n), word(22n));
    const dumped = await ours('hardhat_dumpState');
    await theirs('anvil_reset');
    expect(await theirs('anvil_loadState', dumped)).toBe(true);
    expect(await read(theirs, CONTRACT, word(2n))).toEqual(await read(ours, CONTRACT, word(2n)));
    expect(await read(theirs, TEST_TOKEN, word(2n))).toEqual(await read(ours, TEST_TOKEN, word(2n)));
    expect(await theirs('eth_getTransactionCount', stranger('a2'), 'latest')).toBe('0x9');
  });
});
