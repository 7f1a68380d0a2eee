import { afterEach, expect, test, vi } from 'vitest';
// The built package, as pages use it.
import { createInlineNode, type InlineOptions, type PlumblineNode } from '../../build/modules/hosts/opening/inline.js';

const open: PlumblineNode[] = [];

async function start(options: InlineOptions): Promise<PlumblineNode> {
  const node = await createInlineNode(options);
  open.push(node);
  return node;
}

afterEach(async () => {
  vi.unstubAllGlobals();
  for (const node of open.splice(0)) await node.close().catch(() => {});
});

const named = (): InlineOptions => ({
  storeName: `inline-${crypto.randomUUID()}`,
  chain: { kind: 'devnet', scheme: 'poseidon2' },
  dictionary: { kind: 'general' },
});
const head = (node: PlumblineNode) => node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
const mine = (node: PlumblineNode) => node.request({ method: 'evm_mine' });

test('inline nodes with one store name have one chain and one writer, and the other takes over', async () => {
  const options = named();
  const [first, second] = [await start(options), await start(options)];
  expect([await first.sharing(), await second.sharing()]).toMatchObject([{ role: 'writer' }, { role: 'follower' }]);
  await mine(first);
  await mine(second);
  const newest = await head(first);
  expect(newest).toMatchObject({ number: '0x2' });
  expect(await head(second)).toEqual(newest);
  await first.close();
  expect(await head(second)).toEqual(newest);
  await mine(second);
  await second.close();
  expect(await head(await start(options))).toMatchObject({ number: '0x3' });
});

test('where nodes cannot reach each other, the last one opened writes and the earlier one is refused', async () => {
  vi.stubGlobal('BroadcastChannel', undefined);
  const options = named();
  const first = await start(options);
  await mine(first);
  const second = await start(options);
  await expect(mine(first)).rejects.toThrow('the store was taken over');
  await mine(second);
  const newest = await head(second);
  await first.close();
  await second.close();
  expect(await head(await start(options))).toEqual(newest);
});
