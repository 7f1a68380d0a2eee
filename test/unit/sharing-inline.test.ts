import 'fake-indexeddb/auto';
import { afterEach, expect, test, vi } from 'vitest';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { type DevNode, devNode } from '../support/dev-node.js';

let count = 0;
const CHAIN = { kind: 'devnet', scheme: 'poseidon2' } as const;
/** The answer of a node that is no longer the writer. */
const TAKEN_OVER = { message: expect.stringContaining('the store was taken over') };
const namedAlike = () => ({ storeName: `inline-${count++}`, chain: CHAIN });

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Sends a transfer. @returns the hash of the block in its receipt */
async function sent(dev: DevNode, nonce: number): Promise<string> {
  const hash = await dev.transfer(0, { nonce });
  return ((await dev.ask('eth_getTransactionReceipt', hash)) as { blockHash: string }).blockHash;
}

/** Hashes of all blocks. Checks that each is linked to its parent. */
async function chainOf({ ask }: DevNode): Promise<string[]> {
  const hashes: string[] = [];
  for (let number = 0, head = Number(await ask('eth_blockNumber')); number <= head; number++) {
    const block = await ask<{ hash: string; parentHash: string }>('eth_getBlockByNumber', `0x${number}`, false);
    if (number > 0) expect(block.parentHash).toBe(hashes[number - 1]);
    hashes.push(block.hash);
  }
  return hashes;
}

const roleOf = async (node: PlumblineNode) => (await node.sharing()).role;

test('two inline nodes with one store name have one chain and one writer', async () => {
  const options = namedAlike();
  const [first, second] = [await devNode(options), await devNode(options)];
  expect([await roleOf(first.node), await roleOf(second.node)]).toEqual(['writer', 'follower']);
  const blocks = [await sent(first, 0), await sent(second, 1), await sent(first, 2)];
  expect((await chainOf(second)).slice(1)).toEqual(blocks);
  await first.node.close();
  blocks.push(await sent(second, 3));
  expect(await roleOf(second.node)).toBe('writer');
  await second.node.close();
  expect((await chainOf(await devNode(options))).slice(1)).toEqual(blocks);
});

test('a node with other chain options and the same store name is refused', async () => {
  const options = namedAlike();
  await devNode(options);
  const other = devNode({ ...options, chain: { ...CHAIN, scheme: 'mimc' } });
  await expect(other).rejects.toMatchObject({ code: 'STORE_IN_USE' });
});

test('where nodes cannot reach each other, the last one opened writes; the earlier one gets an error, and no acknowledged block is lost', async () => {
  vi.stubGlobal('BroadcastChannel', undefined);
  const options = namedAlike();
  const first = await devNode(options);
  const blocks = [await sent(first, 0)];
  const second = await devNode(options);
  await expect(sent(first, 1)).rejects.toMatchObject(TAKEN_OVER);
  expect((await first.node.storage()).status).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
  blocks.push(await sent(second, 1), await sent(second, 2));
  await expect(sent(first, 1)).rejects.toMatchObject(TAKEN_OVER);
  await first.node.close();
  expect((await chainOf(second)).slice(1)).toEqual(blocks);
  await second.node.close();
  expect((await chainOf(await devNode(options))).slice(1)).toEqual(blocks);
});
