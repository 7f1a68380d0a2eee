import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, type DevNode, devNode, KeptStore, proved, settled, stranger, word } from '../support/dev-node.js';
import { earlierAlloc, openDevnet, portrait, sealScripted } from '../support/stored-devnet.js';

const ROOTS: Hex = '0x000f3df6d732807ef1319fb7b8bb8522d0beac02';
const HASHES: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935';
/** HISTORY_SERVE_WINDOW of EIP-2935 and HISTORY_BUFFER_LENGTH of EIP-4788. */
const RING = 8191n;
const ZERO = word(0n);

interface Header {
  readonly number: Hex;
  readonly hash: Hex;
  readonly timestamp: Hex;
  readonly miner: Hex;
  readonly mixHash: Hex;
  readonly stateRoot: Hex;
}
const blockAt = ({ ask }: DevNode, number: number | string) =>
  ask<Header>('eth_getBlockByNumber', typeof number === 'number' ? `0x${number.toString(16)}` : number, false);

/** What EIP-2935 and EIP-4788 say of the state after the newest block. */
async function requireRings(dev: DevNode): Promise<void> {
  const head = await blockAt(dev, 'latest');
  const last = Number(head.number);
  for (let number = 0; number < last; number++) {
    const { hash } = await blockAt(dev, number);
    const slot = word(BigInt(number) % RING);
    expect(await dev.ask('eth_getStorageAt', HASHES, slot, 'latest')).toBe(hash);
    expect(await dev.ask('eth_call', { to: HASHES, data: word(BigInt(number)) }, 'latest')).toBe(hash);
  }
  // The newest state that layer 1 has a root of: its own hash is in the state after it.
  const { block } = await settled(dev.node);
  expect(block).toBeGreaterThan(0);
  const [parent, own] = [await blockAt(dev, block - 1), await blockAt(dev, block)];
  const verdict = await proved(dev, HASHES, [word(BigInt(block - 1) % RING), word(BigInt(block) % RING)]);
  expect(verdict.slots?.map(({ value }) => bytesToHex(value ?? new Uint8Array(32)))).toEqual([parent.hash, ZERO]);
  const byTime = await proved(dev, ROOTS, [word(BigInt(own.timestamp) % RING)]);
  expect(BigInt(bytesToHex(byTime.slots![0]!.value!))).toBe(BigInt(own.timestamp));
  expect(await dev.ask('eth_call', { to: ROOTS, data: word(BigInt(head.timestamp)) }, 'latest')).toBe(ZERO);
}

describe('the system contracts of a devnet', () => {
  test('stand in its genesis, with the code and the nonce of their EIPs', async () => {
    const { ask } = await devNode();
    const codeHash = async (address: Hex) =>
      bytesToHex(keccak_256(hexToBytes(await ask<Hex>('eth_getCode', address, 'earliest'))));
    expect(await codeHash(HASHES)).toBe('0x6e49e66782037c0555897870e29fa5e552daf4719552131a0abce779daec0a5d');
    // The hash that clients of EIP-4788 check, such as the genesis of the merge test networks.
    expect(await codeHash(ROOTS)).toBe('0xf57acd40259872606d76197ef052f3d35588dadf919ee1f0e3cb9b62d3f4b02c');
    for (const address of [HASHES, ROOTS])
      expect(await ask('eth_getTransactionCount', address, 'earliest')).toBe('0x1');
  });

  test.each(['poseidon2', 'mimc'] as const)('are called at each block: both states have it, %s', async (scheme) => {
    const dev = await devNode({ chain: { kind: 'devnet', scheme } });
    await dev.ask('anvil_mine', '0x3');
    await dev.transfer(0, { nonce: 0 });
    await requireRings(dev);
    // The caller is no account, and no account paid.
    const system = '0xfffffffffffffffffffffffffffffffffffffffe';
    expect(await dev.ask('eth_getTransactionCount', system, 'latest')).toBe('0x0');
    const { gasUsed } = await dev.ask<{ gasUsed: Hex }>('eth_getBlockByNumber', '0x3', false);
    expect(gasUsed).toBe('0x0');
  });

  test('a snapshot takes the rings back', async () => {
    const dev = await devNode();
    await dev.ask('anvil_mine', '0x2');
    const before = await blockAt(dev, 'latest');
    const snapshot = await dev.ask('evm_snapshot');
    await dev.ask('anvil_mine', '0x2');
    await dev.ask('evm_revert', snapshot);
    expect(await blockAt(dev, 'latest')).toEqual(before);
    await dev.transfer(1, { nonce: 0 });
    await requireRings(dev);
  });

  test('a store and a chain file have them', async () => {
    const store = new KeptStore();
    const first = await devNode({ store });
    await first.ask('anvil_mine', '0x3');
    await first.transfer(0, { nonce: 0 });
    const head = await blockAt(first, 'latest');
    const file = await first.node.exportChain();
    await first.node.close();
    const other = await devNode({ store: new KeptStore() });
    await other.node.importChain(file);
    for (const dev of [await devNode({ store }), other]) {
      expect(await blockAt(dev, 'latest')).toEqual(head);
      await dev.ask('evm_mine');
      await requireRings(dev);
    }
  });

  test('an account that the caller puts there stands in their place, and is not called as the system', async () => {
    const alloc = { [HASHES]: { balance: 5n }, [ROOTS]: {} };
    const { ask } = await devNode({ chain: { kind: 'devnet', alloc } });
    await ask('anvil_mine', '0x2');
    expect(await ask('eth_getCode', HASHES, 'latest')).toBe('0x');
    expect(await ask('eth_getStorageAt', HASHES, '0x1', 'latest')).toBe(ZERO);
  });

  test('a stored chain of an earlier version has none, and goes on without', async () => {
    const store = new KeptStore();
    const earlier = await openDevnet(store, { alloc: earlierAlloc() });
    for (let number = 1; number <= 9; number++) await sealScripted(earlier, number);
    const shown = await portrait(earlier);
    await earlier.close();
    for (const since of [9, 10]) {
      const chain = await openDevnet(store);
      await chain.stateLoaded();
      if (since === 9) expect(await portrait(chain, 9)).toMatchObject({ head: (shown as { head?: unknown }).head });
      await sealScripted(chain, since + 1);
      const state = await chain.stateAt(await chain.head());
      expect(await state.account(hexToBytes(HASHES))).toBeUndefined();
      await chain.close();
    }
  });
});

describe('random value and coinbase of a devnet', () => {
  const seen = (opcode: string) => ({ [stranger('7c')]: { code: `0x${opcode}5f5260205ff3` } });
  const call = { to: stranger('7c') };

  test('are not zero, differ from block to block, and are those of the pending context', async () => {
    const dev = await devNode();
    const randoms = new Set<string>();
    for (let number = 1; number <= 3; number++) {
      const random = await dev.ask<Hex>('eth_call', call, 'pending', seen('44'));
      const coinbase = await dev.ask<Hex>('eth_call', call, 'pending', seen('41'));
      const parent = await blockAt(dev, number - 1);
      await dev.ask('evm_mine');
      const block = await blockAt(dev, number);
      expect(block.mixHash).toBe(random);
      expect(random).toBe(bytesToHex(keccak_256(hexToBytes(parent.hash))));
      expect(word(BigInt(block.miner))).toBe(coinbase);
      expect(BigInt(coinbase)).not.toBe(0n);
      expect(await dev.ask('eth_call', call, 'latest', seen('44'))).toBe(random);
      randoms.add(random);
    }
    expect(randoms.size).toBe(3);
    expect(randoms).not.toContain(ZERO);
  });

  test('are the same when the same blocks are made again', async () => {
    const dev = await devNode();
    const snapshot = await dev.ask('evm_snapshot');
    await dev.ask('evm_mine', 1_900_000_000);
    const block = await blockAt(dev, 1);
    await dev.ask('evm_revert', snapshot);
    await dev.ask('evm_mine', 1_900_000_000);
    expect(await blockAt(dev, 1)).toEqual(block);
  });

  test('are those that were set', async () => {
    const dev = await devNode();
    await dev.ask('hardhat_setCoinbase', accountAt(3));
    expect(await dev.ask('eth_call', call, 'pending', seen('41'))).toBe(word(BigInt(accountAt(3))));
  });
});
