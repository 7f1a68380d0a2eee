import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyEthereumProof } from '../../src/proof/ethereum-proof.js';
import { accountAt, devNode, KeptStore, proved, stranger, word } from '../support/dev-node.js';

const [SOMEBODY, CONTRACT] = [stranger('51'), stranger('c0')];
/** Returns 42: PUSH1 42, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN. */
const FORTY_TWO: Hex = '0x602a60005260206000f3';

describe.each(['anvil', 'hardhat'])('state edits with the method names of %s', (tool) => {
  test('are visible at once, and can be proved from the next finalized block on', async () => {
    const dev = await devNode();
    const { ask, number } = dev;
    await ask(`${tool}_setBalance`, SOMEBODY, '0x3039');
    await ask(`${tool}_setNonce`, SOMEBODY, '0x9');
    await ask(`${tool}_setCode`, CONTRACT, FORTY_TWO);
    await ask(`${tool}_setStorageAt`, CONTRACT, '0x5', word(99n));
    await ask(`${tool}_setStorageAt`, stranger('ab'), '0x0', word(1n));
    expect(await number()).toBe(0);
    const read = async (block: string) => [
      await ask('eth_getBalance', SOMEBODY, block),
      await ask('eth_getTransactionCount', SOMEBODY, block),
      await ask('eth_getCode', CONTRACT, block),
      await ask('eth_getStorageAt', CONTRACT, '0x5', block),
      await ask('eth_call', { to: CONTRACT }, block),
      await ask('eth_getStorageAt', stranger('ab'), '0x0', block),
    ];
    const edited = ['0x3039', '0x9', FORTY_TWO, word(99n), word(42n), word(1n)];
    for (const block of ['latest', 'pending', '0x0']) expect(await read(block)).toEqual(edited);
    await ask('evm_mine');
    expect(await read('latest')).toEqual(edited);
    expect(await ask('eth_getBalance', SOMEBODY, '0x0')).toBe('0x0');

    await ask('evm_mine', { blocks: 2 });
    const somebody = await proved(dev, SOMEBODY);
    expect(somebody.account).toMatchObject({ balance: 0x3039n, nonce: 9n });
    const contract = await proved(dev, CONTRACT, [word(5n)]);
    expect(contract.slots.map(({ value }) => bytesToHex(value))).toEqual([word(99n)]);
    expect(contract.account?.codeSize).toBe(10n);

    const { stateRoot } = await ask<{ stateRoot: Hex }>('eth_getBlockByNumber', '0x1', false);
    const answer = await ask('eth_getProof', CONTRACT, [word(5n)], '0x1');
    const request = {
      address: hexToBytes(CONTRACT),
      storageKeys: [hexToBytes(word(5n))],
      stateRoot: hexToBytes(stateRoot),
    };
    expect(verifyEthereumProof(request, answer)).toMatchObject({ verified: true });
  });
});

describe('state edits', () => {
  test('apply to transactions of the same block, and can be undone by later edits', async () => {
    const { ask, transfer } = await devNode();
    await ask('hardhat_setBalance', accountAt(0), '0x0');
    await expect(transfer(0, { nonce: 0 })).rejects.toMatchObject({
      message: expect.stringContaining('up-front cost'),
    });
    await ask('hardhat_setBalance', accountAt(0), `0x${(10n ** 18n).toString(16)}`);
    const hash = await transfer(0, { nonce: 0 });
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', blockNumber: '0x1' });
    await ask('anvil_setCode', CONTRACT, FORTY_TWO);
    await ask('anvil_setCode', CONTRACT, '0x');
    expect(await ask('eth_getCode', CONTRACT, 'latest')).toBe('0x');
  });

  test('remove code and storage in later blocks, with valid proofs', async () => {
    const dev = await devNode();
    const { ask } = dev;
    await ask('anvil_setCode', CONTRACT, FORTY_TWO);
    await ask('anvil_setStorageAt', CONTRACT, '0x5', word(1n));
    await ask('evm_mine');
    await ask('anvil_setCode', CONTRACT, '0x');
    await ask('anvil_setStorageAt', CONTRACT, '0x5', word(0n));
    await ask('anvil_setBalance', CONTRACT, '0x0');
    await ask('evm_mine', { blocks: 3 });
    expect(await ask('eth_getCode', CONTRACT, 'latest')).toBe('0x');
    const { slots, account } = await proved(dev, CONTRACT, [word(5n)]);
    expect(bytesToHex(slots[0]!.value)).toBe(word(0n));
    // Empty and without a slot, so that it is gone (EIP-161), which is proved too.
    expect(account).toBeUndefined();
  });

  test('are stored, both in blocks and pending', async () => {
    const store = new KeptStore();
    const dev = await devNode({ store });
    await dev.ask('anvil_setCode', CONTRACT, FORTY_TWO);
    await dev.ask('anvil_setBalance', SOMEBODY, '0x5');
    await dev.ask('evm_mine');
    await dev.ask('anvil_setBalance', SOMEBODY, '0x6');
    await dev.ask('anvil_setNonce', SOMEBODY, '0x2');
    await dev.ask('anvil_setStorageAt', CONTRACT, '0x1', '0x2');
    await dev.node.close();
    const again = await devNode({ store });
    expect(await again.number()).toBe(1);
    expect(await again.ask('eth_call', { to: CONTRACT }, 'latest')).toBe(word(42n));
    expect(await again.ask('eth_getBalance', SOMEBODY, 'latest')).toBe('0x6');
    await again.ask('evm_mine', { blocks: 3 });
    expect(await again.ask('eth_getBalance', SOMEBODY, '0x1')).toBe('0x5');
    expect((await proved(again, SOMEBODY)).account).toMatchObject({ balance: 6n, nonce: 2n });
    expect(bytesToHex((await proved(again, CONTRACT, [word(1n)])).slots[0]!.value)).toBe(word(2n));
    await again.node.close();
    const third = await devNode({ store });
    expect(await third.ask('eth_getBalance', SOMEBODY, 'latest')).toBe('0x6');
    await third.node.close();
    await store.commit({ puts: [{ table: 'meta', key: 'devnet-edits', value: Uint8Array.of(0xc3, 1, 2, 3) }] });
    const damaged = await devNode({ store });
    const statuses: unknown[] = [];
    damaged.node.on('storage', (status) => void statuses.push(status));
    // Blocks are whole; what waited for one is gone, and is reported.
    expect(await damaged.number()).toBe(4);
    await expect.poll(() => statuses.at(-1)).toMatchObject({ repaired: [{ table: 'meta' }] });
    await damaged.node.close();
  });
});

describe('time', () => {
  const stamp = async ({ ask }: Awaited<ReturnType<typeof devNode>>, block = 'latest') =>
    Number((await ask<{ timestamp: Hex }>('eth_getBlockByNumber', block, false)).timestamp);

  test('evm_increaseTime advances the clock, which continues from there', async () => {
    const dev = await devNode();
    await dev.ask('evm_mine');
    const before = await stamp(dev);
    expect(Number(await dev.ask('evm_increaseTime', 3600))).toBeGreaterThanOrEqual(3600);
    await dev.ask('evm_mine');
    expect(await stamp(dev)).toBeGreaterThanOrEqual(before + 3600);
    await dev.ask('evm_increaseTime', '0xe10');
    await dev.ask('evm_mine');
    expect(await stamp(dev)).toBeGreaterThanOrEqual(before + 7200);
    expect(await stamp(dev)).toBeLessThan(before + 7300);
  });

  test('evm_setNextBlockTimestamp sets one block exactly, for calls on pending too', async () => {
    const dev = await devNode();
    await dev.ask('evm_mine');
    const at = (await stamp(dev)) + 5000;
    await dev.ask('evm_setNextBlockTimestamp', `0x${at.toString(16)}`);
    // TIMESTAMP, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN.
    const overrides = { [CONTRACT]: { code: '0x4260005260206000f3' } };
    expect(await dev.ask('eth_call', { to: CONTRACT }, 'pending', overrides)).toBe(word(BigInt(at)));
    await dev.ask('evm_mine');
    expect(await stamp(dev)).toBe(at);
    await dev.ask('evm_mine');
    expect(await stamp(dev)).toBeGreaterThan(at);
    await expect(dev.ask('evm_setNextBlockTimestamp', at)).rejects.toMatchObject({ code: -32602 });
  });

  test('a fixed time between blocks can be set with both tools', async () => {
    const dev = await devNode();
    await dev.ask('evm_mine');
    const start = await stamp(dev);
    await dev.ask('anvil_setBlockTimestampInterval', 7);
    await dev.ask('evm_mine', { blocks: 2 });
    expect(await stamp(dev)).toBe(start + 14);
    await dev.ask('hardhat_setBlockTimestampInterval', 3000);
    await dev.ask('evm_mine');
    expect(await stamp(dev)).toBe(start + 17);
    expect(await dev.ask('anvil_removeBlockTimestampInterval')).toBe(true);
  });
});

describe('the next block', () => {
  test('has the base fee, coinbase and gas limit that were set', async () => {
    const { ask } = await devNode();
    await ask('anvil_setNextBlockBaseFeePerGas', '0x3b9aca00');
    await ask('hardhat_setCoinbase', SOMEBODY);
    await ask('evm_setBlockGasLimit', '0x1c9c380');
    await ask('evm_mine', { blocks: 2 });
    const first = { baseFeePerGas: '0x3b9aca00', miner: SOMEBODY, gasLimit: '0x1c9c380' };
    expect(await ask('eth_getBlockByNumber', '0x1', false)).toMatchObject(first);
    // EIP-1559: an empty block lowers the base fee by an eighth.
    const second = { baseFeePerGas: '0x342770c0', miner: SOMEBODY, gasLimit: '0x1c9c380' };
    expect(await ask('eth_getBlockByNumber', '0x2', false)).toMatchObject(second);
  });
});

test('these methods do not exist on other kinds of chain', async () => {
  const { methodTable } = await import('../../src/rpc/methods/method-table.js');
  const { linea } = await import('../../src/networks/linea.js');
  const table = methodTable({ chain: { kind: 'light', network: linea } } as unknown as Parameters<
    typeof methodTable
  >[0]);
  const names = [
    'evm_mine',
    'evm_snapshot',
    'anvil_setBalance',
    'hardhat_setCode',
    'eth_sendTransaction',
    'txpool_content',
  ];
  for (const method of names) {
    expect(() => table.find(method)).toThrowError(expect.objectContaining({ code: 'METHOD_NOT_ENABLED' }));
  }
  expect(TEST_TOKEN).toMatch(/^0x/);
});
