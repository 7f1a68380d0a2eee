import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyEthereumProof } from '../../src/proof/ethereum-proof.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const [alice, bob] = DEV_ACCOUNTS.map(({ address }) => address) as [Hex, Hex];
const ABSENT: Hex = `0x${'99'.repeat(20)}`;
const GWEI = 10n ** 9n;
const UNKNOWN = `0x${'12'.repeat(32)}`;

interface BlockJson {
  readonly hash: Hex;
  readonly stateRoot: Hex;
  readonly timestamp: Hex;
  readonly transactions: readonly Hex[];
}

describe('the standard read methods', () => {
  let node: PlumblineNode;
  let hashes: Hex[];
  const ask = <T = unknown>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;
  const block = (number: Hex) => ask<BlockJson>('eth_getBlockByNumber', number, false);

  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', mining: 'manual' } });
    const fees = { maxFeePerGas: 5n * GWEI, maxPriorityFeePerGas: GWEI };
    const transfer = { to: TEST_TOKEN, data: transferCalldata(bob, 5n), gasLimit: 100_000n };
    const raws = [
      signTransaction(0, { ...transfer, ...fees, nonce: 0 }),
      signTransaction(0, { to: bob, value: 7n, gasLimit: 21_000n, nonce: 1, gasPrice: 2n * GWEI }),
      signTransaction(1, { data: '0x600160005260206000f3', gasLimit: 100_000n, ...fees, nonce: 0 }),
    ];
    hashes = await Promise.all(raws.map((raw) => ask<Hex>('eth_sendRawTransaction', raw)));
    await ask('evm_mine');
    await ask('eth_sendRawTransaction', signTransaction(0, { ...transfer, ...fees, nonce: 2 }));
    await ask('evm_mine');
    await ask('evm_mine');
  });
  afterAll(() => node.close());

  test('count and list what is in a block, by number and by hash', async () => {
    const { hash, transactions } = await block('0x1');
    expect(new Set(transactions)).toEqual(new Set(hashes));
    expect(await ask('eth_getBlockTransactionCountByNumber', '0x1')).toBe('0x3');
    expect(await ask('eth_getBlockTransactionCountByHash', hash)).toBe('0x3');
    expect(await ask('eth_getBlockTransactionCountByNumber', 'latest')).toBe('0x0');
    for (const [index, transaction] of transactions.entries()) {
      const shown = await ask<Record<string, unknown>>('eth_getTransactionByHash', transaction);
      expect(shown).toMatchObject({ blockNumber: '0x1', blockHash: hash, transactionIndex: `0x${index}` });
      expect(await ask('eth_getTransactionByBlockNumberAndIndex', '0x1', `0x${index}`)).toEqual(shown);
      expect(await ask('eth_getTransactionByBlockHashAndIndex', hash, `0x${index}`)).toEqual(shown);
    }
  });

  test.each([
    ['eth_getBlockByHash', [UNKNOWN, false]],
    ['eth_getBlockByNumber', ['0x63', false]],
    ['eth_getBlockReceipts', ['0x63']],
    ['eth_getBlockReceipts', [UNKNOWN]],
    ['eth_getBlockTransactionCountByNumber', ['0x63']],
    ['eth_getBlockTransactionCountByHash', [UNKNOWN]],
    ['eth_getTransactionByBlockNumberAndIndex', ['0x1', '0x3']],
    ['eth_getTransactionByBlockNumberAndIndex', ['0x63', '0x0']],
    ['eth_getTransactionByBlockHashAndIndex', [UNKNOWN, '0x0']],
    ['eth_getTransactionByHash', [UNKNOWN]],
    ['eth_getTransactionReceipt', [UNKNOWN]],
    ['eth_getUncleCountByBlockNumber', ['0x63']],
    ['eth_getUncleByBlockNumberAndIndex', ['0x1', '0x0']],
    ['eth_getUncleByBlockHashAndIndex', [UNKNOWN, '0x0']],
    ['linea_getTransactionExclusionStatusV1', [UNKNOWN]],
  ])('%s of %j is null', async (method, params) => {
    expect(await ask(method, ...params)).toBeNull();
  });

  test.each([
    ['eth_getBlockReceipts', 'no block', []],
    ['eth_getTransactionByBlockNumberAndIndex', 'no index', ['0x1']],
    ['eth_getTransactionByBlockNumberAndIndex', 'an index that is no hex', ['0x1', 0]],
    ['eth_getBlockTransactionCountByHash', 'a number', ['0x1']],
    ['eth_getStorageValues', 'an empty request', [{}]],
    ['eth_getStorageValues', 'a short address', [{ '0x12': ['0x0'] }]],
    ['eth_getStorageValues', '1025 slots', [{ [TEST_TOKEN]: Array(1024).fill('0x0'), [alice]: ['0x0'] }]],
    ['eth_getProof', 'a key that is no list', [TEST_TOKEN, '0x0', 'latest']],
    ['eth_getProof', '1025 slots', [TEST_TOKEN, Array(1025).fill('0x0'), 'latest']],
    ['eth_feeHistory', 'no blocks', ['0x0', 'latest', []]],
    ['eth_feeHistory', '1025 blocks', ['0x401', 'latest', []]],
    ['eth_feeHistory', 'a block above the head', ['0x1', '0x63', []]],
    ['eth_feeHistory', 'percentiles that descend', ['0x1', 'latest', [50, 10]]],
    ['eth_feeHistory', 'a percentile above 100', ['0x1', 'latest', [101]]],
    ['eth_feeHistory', '101 percentiles', ['0x1', 'latest', Array(101).fill(1)]],
  ])('%s refuses %s', async (method, _what, params) => {
    await expect(ask(method, ...params)).rejects.toMatchObject({ code: -32602 });
  });

  test('blocks of layer 2 have no uncles, and the node no peers', async () => {
    const { hash } = await block('0x1');
    expect(await ask('eth_getUncleCountByBlockNumber', '0x1')).toBe('0x0');
    expect(await ask('eth_getUncleCountByBlockHash', hash)).toBe('0x0');
    expect(await ask('net_listening')).toBe(true);
    expect(await ask('net_peerCount')).toBe('0x0');
  });

  test('a header is the block without its transactions and size', async () => {
    for (const number of ['0x0', '0x1', 'latest']) {
      const {
        transactions: _,
        size: __,
        uncles: ___,
        withdrawals: ____,
        ...header
      } = await ask<Record<string, unknown>>('eth_getBlockByNumber', number, false);
      expect(await ask('eth_getHeaderByNumber', number)).toEqual(header);
      expect(await ask('eth_getHeaderByHash', header.hash)).toEqual(header);
    }
    expect(await ask('eth_getHeaderByNumber', '0x63')).toBeNull();
    expect(await ask('eth_getHeaderByHash', UNKNOWN)).toBeNull();
    await expect(ask('eth_getHeaderByHash')).rejects.toMatchObject({ code: -32602 });
  });

  test('the receipts of a block are those of its transactions', async () => {
    const { hash, transactions, timestamp } = await block('0x1');
    const receipts = await ask<Record<string, unknown>[]>('eth_getBlockReceipts', '0x1');
    expect(await Promise.all(transactions.map((item) => ask('eth_getTransactionReceipt', item)))).toEqual(receipts);
    for (const reference of [hash, { blockHash: hash }, { blockNumber: '0x1' }]) {
      expect(await ask('eth_getBlockReceipts', reference)).toEqual(receipts);
    }
    const place = { blockHash: hash, blockNumber: '0x1', blockTimestamp: timestamp, removed: false };
    expect(receipts[0]).toMatchObject({ status: '0x1', logs: [{ ...place, address: TEST_TOKEN.toLowerCase() }] });
    expect(receipts.filter(({ contractAddress }) => contractAddress !== null)).toHaveLength(1);
  });

  test('proofs verify against the state root of their own block, for what is there and what is not', async () => {
    const slot = tokenBalanceSlot(hexToBytes(bob));
    const absentSlot = hexToBytes(`0x${'ab'.repeat(32)}`);
    const values: bigint[] = [];
    for (const number of ['0x0', '0x1', '0x2'] as const) {
      const { stateRoot, hash } = await block(number);
      for (const address of [TEST_TOKEN, alice, ABSENT]) {
        const storageKeys = [slot, absentSlot];
        const answer = await ask('eth_getProof', address, storageKeys.map(bytesToHex), number);
        expect(await ask('eth_getProof', address, storageKeys.map(bytesToHex), hash)).toEqual(answer);
        const request = { address: hexToBytes(address), storageKeys, stateRoot: hexToBytes(stateRoot) };
        const verdict = verifyEthereumProof(request, answer);
        if (!verdict.verified) throw new Error(`${address} at ${number}: ${verdict.reason}`);
        expect(verdict.account === undefined).toBe(address === ABSENT);
        expect(verdict.account?.nonce ?? 0n).toBe(BigInt(await ask<Hex>('eth_getTransactionCount', address, number)));
        expect(verdict.slots.map(({ exists }) => exists)).toEqual([address === TEST_TOKEN, false]);
        if (address === TEST_TOKEN) values.push(BigInt(bytesToHex(verdict.slots[0]!.value)));
      }
    }
    expect(values).toEqual([values[0], values[0]! + 5n, values[0]! + 10n]);
  });

  test('a proof repeats a key that was a word as a word, and a shorter one as a quantity', async () => {
    const word = `0x${'0'.repeat(63)}2`;
    const keys = [word, '0x2', '0x02', '0x0'];
    const { storageProof } = await ask<{ storageProof: { key: Hex; value: Hex }[] }>('eth_getProof', TEST_TOKEN, keys);
    expect(storageProof.map(({ key }) => key)).toEqual([word, '0x2', '0x2', '0x0']);
    expect(new Set(storageProof.slice(0, 3).map(({ value }) => value)).size).toBe(1);
  });

  test('several slots of several accounts come in one answer', async () => {
    const slot = bytesToHex(tokenBalanceSlot(hexToBytes(bob)));
    const request = { [TEST_TOKEN]: [slot, '0x2'], [ABSENT]: ['0x0'] };
    for (const at of ['0x0', 'latest', undefined]) {
      const single = (address: string, key: string) => ask('eth_getStorageAt', address, key, at ?? 'latest');
      expect(await ask('eth_getStorageValues', request, ...(at === undefined ? [] : [at]))).toEqual({
        [TEST_TOKEN]: [await single(TEST_TOKEN, slot), await single(TEST_TOKEN, '0x2')],
        [ABSENT]: [`0x${'0'.repeat(64)}`],
      });
    }
  });

  test('what waits in the pool has no block, and counts in the pending nonce', async () => {
    const hash = await ask(
      'eth_sendRawTransaction',
      signTransaction(0, {
        to: bob,
        gasLimit: 21_000n,
        nonce: 3,
        maxFeePerGas: 3n * GWEI,
        maxPriorityFeePerGas: GWEI,
      }),
    );
    const nowhere = { blockHash: null, blockNumber: null, blockTimestamp: null, transactionIndex: null };
    expect(await ask('eth_getTransactionByHash', hash)).toMatchObject({
      ...nowhere,
      hash,
      nonce: '0x3',
      gasPrice: '0xb2d05e00',
    });
    expect(await ask('eth_getTransactionReceipt', hash)).toBeNull();
    expect(await ask('eth_getTransactionCount', alice, 'latest')).toBe('0x3');
    expect(await ask('eth_getTransactionCount', alice, 'pending')).toBe('0x4');
    await ask('evm_mine');
    expect(await ask('eth_getTransactionByHash', hash)).toMatchObject({ blockNumber: '0x4', gasPrice: '0x3b9aca07' });
    expect(await ask('eth_getTransactionCount', alice, 'pending')).toBe('0x4');
  });

  test('why a transaction was refused can be asked', async () => {
    const raw = signTransaction(0, {
      to: bob,
      gasLimit: 30_000_000n,
      nonce: 4,
      maxFeePerGas: GWEI,
      maxPriorityFeePerGas: GWEI,
    });
    const hash = keccak_256(hexToBytes(raw));
    await expect(ask('eth_sendRawTransaction', raw)).rejects.toMatchObject({ code: -32000 });
    const status = await ask<{ timestamp: string }>('linea_getTransactionExclusionStatusV1', bytesToHex(hash));
    expect(status).toMatchObject({
      txHash: bytesToHex(hash),
      from: alice,
      nonce: '0x4',
      txRejectionStage: 'RPC',
      reasonMessage: 'Gas limit of transaction is greater than the allowed max of 24000000',
    });
    expect(status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('why a transaction was left out of a block can be asked, too', async () => {
    const balance = BigInt(await ask<Hex>('eth_getBalance', DEV_ACCOUNTS[2]!.address, 'latest'));
    const fees = { to: bob, gasLimit: 21_000n, maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI };
    // Each could run alone, and the first leaves nothing for the second.
    const first = signTransaction(2, { ...fees, nonce: 0, value: balance - 21_000n * GWEI });
    const second = signTransaction(2, { ...fees, nonce: 1, value: 1n });
    await ask('eth_sendRawTransaction', first);
    const hash = await ask('eth_sendRawTransaction', second);
    await ask('evm_mine');
    expect(await ask('eth_getTransactionByHash', hash)).toBeNull();
    expect(await ask('linea_getTransactionExclusionStatusV1', hash)).toMatchObject({
      txHash: hash,
      nonce: '0x1',
      txRejectionStage: 'SEQUENCER',
      blockNumber: await ask('eth_blockNumber'),
    });
  });
});
