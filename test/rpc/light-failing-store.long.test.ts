import { describe, expect, test, vi } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { PlumblineError } from '../../src/errors.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { linea } from '../../src/networks/linea.js';
import type { Commit, Key, Table } from '../../src/store/page-store.js';
import type { StoreStatus } from '../../src/store/store-status.js';
import { accountAt, KeptStore } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { type LightScene, lightScene } from '../support/light-node.js';

const gone = () => new PlumblineError('STORE_UNAVAILABLE', 'store is gone', { reason: 'gone' });

/** A store of which readings or commits fail while they are told to. */
class FailingStore extends KeptStore {
  failing: 'reading' | 'committing' | undefined;

  override async get(table: Table, key: Key): Promise<Uint8Array | undefined> {
    if (this.failing === 'reading') throw gone();
    return super.get(table, key);
  }
  override async getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    if (this.failing === 'reading') throw gone();
    return super.getMany(table, keys);
  }
  override async keys(table: Table): Promise<Key[]> {
    if (this.failing === 'reading') throw gone();
    return super.keys(table);
  }
  override async commit(commit: Commit): Promise<void> {
    if (this.failing !== undefined) throw gone();
    await super.commit(commit);
  }
}

const QUESTIONS: readonly [string, readonly unknown[]][] = [
  ['eth_getBalance', [accountAt(0), 'latest']],
  ['eth_getCode', [TEST_TOKEN, 'latest']],
  ['linea_getProof', [TEST_TOKEN, [`0x${'2'.padStart(64, '0')}`], 'latest']],
  ['eth_call', [{ to: TEST_TOKEN, data: '0x18160ddd' }, 'latest']],
  ['eth_getBlockByNumber', ['latest', false]],
];

async function answers(node: PlumblineNode): Promise<unknown[]> {
  const given: unknown[] = [];
  for (const [method, params] of QUESTIONS) given.push(await node.request<UntypedMethod>({ method, params }));
  return given;
}

async function scene(store: FailingStore): Promise<LightScene & { statuses: StoreStatus[] }> {
  const made = await lightScene({ more: { store } });
  for (let nonce = 0; nonce < 6; nonce++) await made.dev.transfer(0, { nonce });
  const statuses: StoreStatus[] = [];
  made.light.on('storage', (status) => statuses.push(status));
  return { ...made, statuses };
}

describe('a light node whose store fails', () => {
  test.each(['reading', 'committing'] as const)('loses its cache alone: %s', async (failing) => {
    const store = new FailingStore();
    const { light, open, statuses } = await scene(store);
    const expected = await answers(await open({}, { store: new KeptStore() }));
    store.failing = failing;
    expect(await answers(light)).toEqual(expected);
    await eventually(() => expect(statuses.at(-1)).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' }));
    store.failing = undefined;
    // Once something can be written again, it says that, too.
    await eventually(async () => {
      await light.request({ method: 'linea_getProof', params: [accountAt(statuses.length % 9), [], 'latest'] });
      expect(statuses.at(-1)).toEqual({ mode: 'durable' });
    });
    await light.close();
  });

  test('opens where the store fails at once', async () => {
    const store = new FailingStore();
    const { open } = await scene(store);
    const expected = await answers(await open({}, { store: new KeptStore() }));
    store.failing = 'reading';
    expect(await answers(await open())).toEqual(expected);
  });

  test('answers from what is left when every stored byte is another', async () => {
    const store = new FailingStore();
    const { light, open } = await scene(store);
    const expected = await answers(light);
    await light.close();
    for (const table of ['headers', 'proofs', 'codes', 'finalizations', 'meta', 'dictionaries'] as const) {
      for (const key of await store.keys(table)) {
        const value = (await store.get(table, key))!.map((byte) => byte ^ 0x21);
        await store.commit({ puts: [{ table, key, value }] });
      }
    }
    expect(await answers(await open())).toEqual(expected);
  });

  test('that cannot be opened is in memory, and says so, unless told to fail', async () => {
    vi.stubGlobal('indexedDB', undefined);
    const chain = { kind: 'light', network: linea, endpoints: ['http://127.0.0.1:1'] } as const;
    const options = { chain, storeName: 'none', dictionary: { kind: 'general' } } as const;
    const node = await createInlineNode(options);
    const told = new Promise((resolve) => node.on('storage', resolve));
    expect(await told).toMatchObject({ mode: 'memory', reason: 'STORE_UNAVAILABLE' });
    await node.close();
    await expect(createInlineNode({ ...options, storage: { fallback: 'error' } })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    vi.unstubAllGlobals();
  });
});
