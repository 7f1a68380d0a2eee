import { describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { Table } from '../../src/store/page-store.js';
import { accountAt, KeptStore, word } from '../support/dev-node.js';
import { type LightScene, type LightSceneOptions, lightScene } from '../support/light-node.js';

const TOTAL_SUPPLY = { to: token, data: '0x18160ddd' };
const HEAD = 60;

const request = (node: PlumblineNode, method: string, ...params: unknown[]) =>
  node.request<UntypedMethod>({ method, params });

/** A chain of sixty blocks under a light node with a store. @param sender - dev account whose transfers they hold */
async function longChain(store: KeptStore, options: LightSceneOptions = {}, sender = 0): Promise<LightScene> {
  const scene = await lightScene({ ...options, more: { store } });
  for (let nonce = 0; nonce < HEAD; nonce++) await scene.dev.transfer(sender, { nonce });
  return scene;
}

/** Methods with their parameters that came to the endpoints since the last time. */
function asked({ endpoints }: LightScene): [string, unknown][] {
  return endpoints.flatMap(({ seen }) =>
    seen
      .splice(0)
      .flat()
      .map(({ method, params }): [string, unknown] => [method, params[0]]),
  );
}

/** Turns a bit of each entry of a table whose key begins with `prefix`. */
async function damage(store: KeptStore, table: Table, prefix = ''): Promise<void> {
  for (const key of await store.keys(table)) {
    if (!String(key).startsWith(prefix)) continue;
    const value = (await store.get(table, key))!;
    value[value.length >> 1]! ^= 1;
    await store.commit({ puts: [{ table, key, value }] });
  }
}

describe('code', () => {
  test('stored by an earlier session is not fetched again', async () => {
    const store = new KeptStore();
    const scene = await lightScene({ more: { store } });
    const truth = await scene.dev.ask('eth_call', TOTAL_SUPPLY, 'latest');
    expect(await scene.ask('eth_call', TOTAL_SUPPLY, 'latest')).toEqual(truth);
    expect(asked(scene).map(([method]) => method)).toContain('eth_getCode');
    await scene.light.close();

    const again = await scene.open();
    expect(await request(again, 'eth_call', TOTAL_SUPPLY, 'latest')).toEqual(truth);
    expect(await request(again, 'eth_getCode', token, 'latest')).toEqual(
      await scene.dev.ask('eth_getCode', token, 'latest'),
    );
    expect(asked(scene).map(([method]) => method)).not.toContain('eth_getCode');
    await again.close();
  });

  test('that has changed since or is damaged is fetched again, and nothing else', async () => {
    const store = new KeptStore();
    const scene = await lightScene({ more: { store } });
    await scene.ask('eth_call', TOTAL_SUPPLY, 'latest');
    await scene.light.close();
    // Returns seven, whatever it is asked.
    await scene.dev.ask('anvil_setCode', token, '0x600760005260206000f3');
    await scene.dev.ask('evm_mine');
    const changed = await scene.open();
    expect(await request(changed, 'eth_call', TOTAL_SUPPLY, 'latest')).toBe(word(7n));
    await changed.close();
    asked(scene);

    // The code itself, and not what is kept of who has it.
    await damage(store, 'codes', '0x');
    const damaged = await scene.open();
    expect(await request(damaged, 'eth_call', TOTAL_SUPPLY, 'latest')).toBe(word(7n));
    expect(asked(scene).map(([method]) => method)).toContain('eth_getCode');
    await damaged.close();
    const mended = await scene.open();
    expect(await request(mended, 'eth_call', TOTAL_SUPPLY, 'latest')).toBe(word(7n));
    expect(asked(scene).map(([method]) => method)).not.toContain('eth_getCode');
    await mended.close();
  });
});

describe('headers', () => {
  const DEEP = '0xc';
  /** Links the headers from the head down to block 12, sixteen at a time. */
  async function link(node: PlumblineNode): Promise<void> {
    for (const depth of [0, 16, 32, 48]) {
      await request(node, 'eth_getBlockByNumber', `0x${(HEAD - depth).toString(16)}`, false);
    }
  }
  const byHeight = (scene: LightScene) =>
    asked(scene).filter(([method, height]) => method === 'eth_getBlockByNumber' && height !== 'latest');
  /** Opens another session, and has it tell of a deep block. */
  async function reopened(scene: LightScene) {
    const node = await scene.open();
    const levels: unknown[] = [];
    node.on('answer', ({ level }) => levels.push(level));
    asked(scene);
    const block = (await request(node, 'eth_getBlockByNumber', DEEP, true)) as { hash: Hex };
    const fetched = byHeight(scene);
    await node.close();
    return { block, level: levels.at(-1), fetched };
  }

  test('of an earlier session are linked to the head, and not fetched again', async () => {
    const store = new KeptStore();
    const scene = await longChain(store);
    const truth = await scene.dev.ask('eth_getBlockByNumber', DEEP, true);
    await link(scene.light);
    await scene.light.close();
    expect(await reopened(scene)).toEqual({ block: truth, level: 'linked', fetched: [] });
    // The head has moved on by a little: what is between is linked, the rest is kept.
    for (let nonce = HEAD; nonce < HEAD + 10; nonce++) await scene.dev.transfer(0, { nonce });
    const moved = await scene.open();
    asked(scene);
    await request(moved, 'eth_getBlockByNumber', `0x${(HEAD - 1).toString(16)}`, false);
    expect(byHeight(scene).length).toBeGreaterThan(0);
    expect(await request(moved, 'eth_getBlockByNumber', DEEP, true)).toEqual(truth);
    expect(byHeight(scene)).toEqual([]);
    await moved.close();
  });

  test('that are damaged are fetched again', async () => {
    const store = new KeptStore();
    const scene = await longChain(store);
    await link(scene.light);
    await scene.light.close();
    await damage(store, 'headers');
    const { block, fetched } = await reopened(scene);
    expect(block).toEqual(await scene.dev.ask('eth_getBlockByNumber', DEEP, true));
    expect(fetched.length).toBeGreaterThan(0);
  });

  test('that were believed at a lower level and have left the chain are not believed', async () => {
    const store = new KeptStore();
    const scene = await longChain(store, { chain: { level: 'plain' } });
    await link(scene.light);
    await scene.light.close();
    // Endpoints of another chain of the same length, of the same network.
    const other = await longChain(new KeptStore(), {}, 1);
    await other.light.close();
    const node = await other.open({}, { store });
    const deep = (await request(node, 'eth_getBlockByNumber', DEEP, false)) as { hash: Hex };
    expect(deep).toEqual(await other.dev.ask('eth_getBlockByNumber', DEEP, false));
    expect(deep).not.toEqual(await scene.dev.ask('eth_getBlockByNumber', DEEP, false));
    await node.close();
  });
});

describe('with a budget', () => {
  test('the least recently used proofs go first', async () => {
    const store = new KeptStore();
    const scene = await lightScene({ more: { store, storage: { budgets: { proofs: 30_000 } } } });
    for (let nonce = 0; nonce < 6; nonce++) await scene.dev.transfer(0, { nonce });
    for (const index of [0, 1, 2, 3, 4, 5, 6, 7]) await scene.ask('linea_getProof', accountAt(index), [], 'latest');
    await scene.light.close();
    const held = (await store.keys('proofs')).map(String);
    const values = await store.getMany('proofs', held);
    const bytes = held.reduce((sum, key, i) => sum + key.length + values[i]!.length, 0);
    expect(bytes).toBeLessThanOrEqual(30_000);
    expect(held.some((key) => key.includes(accountAt(7)))).toBe(true);
    expect(held.some((key) => key.includes(accountAt(0)))).toBe(false);
  });
});
