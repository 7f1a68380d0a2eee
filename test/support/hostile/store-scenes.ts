import type { UntypedMethod } from '../../../src/hosts/provider/provider.js';
import 'fake-indexeddb/auto';
import fc from 'fast-check';
import { deleteDB, openDB } from 'idb';
import { TEST_TOKEN as token } from '../../../src/chain/devnet/state/dev-accounts.js';
import { isPlumblineError } from '../../../src/errors.js';
import { createInlineNode } from '../../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../../src/hosts/provider/node-handle.js';
import { devnet } from '../../../src/networks/devnet.js';
import { openIdbStore } from '../../../src/store/idb-store.js';
import type { Key, PageStore, Table } from '../../../src/store/page-store.js';
import { TABLES } from '../../../src/store/schema.js';
import { accountAt } from '../dev-node.js';
import { CHAIN, grow, portrait } from '../storage-scene.js';
import { mutatedBytes } from './mutations.js';
import { history } from './requests.js';
import { type HostileScene, isUntyped, shown } from './run.js';
import { EMPTY_DICTIONARY as dictionary } from './target.js';

interface Row {
  readonly table: Table;
  readonly key: Key;
  readonly value: Uint8Array;
}

/** Damage to one record: other bytes, the bytes of another record, a value that is no bytes, or none. */
interface Damage {
  readonly row: Row;
  readonly value: unknown;
}

let databases = 0;

async function rowsOf(store: PageStore): Promise<Row[]> {
  const rows: Row[] = [];
  for (const table of TABLES) {
    for (const key of await store.keys(table)) rows.push({ table, key, value: (await store.get(table, key))! });
  }
  return rows;
}

/** Opens a new database with these records, one of them damaged past the store, and deletes it after its use. */
async function withDamaged(
  rows: readonly Row[],
  { row, value }: Damage,
  use: (store: PageStore) => Promise<void>,
): Promise<void> {
  const name = `hostile-${databases++}`;
  const store = await openIdbStore(name);
  await store.commit({ puts: rows });
  const raw = await openDB(name);
  if (value === undefined) await raw.delete(row.table, row.key);
  else await raw.put(row.table, value, row.key);
  raw.close();
  try {
    await use(store);
  } finally {
    await store.close();
    await deleteDB(name);
  }
}

function damageOf(rows: readonly Row[]): fc.Arbitrary<Damage> {
  const row = fc.constantFrom(...rows);
  const foreign = fc.constantFrom<unknown>(
    '',
    'text',
    0,
    Number.NaN,
    null,
    true,
    {},
    [],
    [1, 2],
    new ArrayBuffer(8),
    new Date(0),
    new Map(),
  );
  return fc.oneof(
    {
      arbitrary: row.chain((one) => mutatedBytes(fc.constant(one.value)).map((value) => ({ row: one, value }))),
      weight: 6,
    },
    fc.tuple(row, row).map(([one, { value }]) => ({ row: one, value })),
    fc.tuple(row, foreign).map(([one, value]) => ({ row: one, value })),
    row.map((one) => ({ row: one, value: undefined })),
  );
}

/**
 * A devnet opens with a damaged record: as it was, or not, with an error that says that its store is damaged, or of a newer
 * version where the number of a format is what was damaged.
 */
export async function devnetStoreScene(): Promise<HostileScene<Damage>> {
  const make = await openIdbStore(`hostile-${databases++}`);
  const source = await createInlineNode({ dictionary, chain: CHAIN, store: make });
  const ask = (method: string, ...params: unknown[]) => source.request<UntypedMethod>({ method, params });
  const transfer = (_: number, { to }: { to: string }) =>
    ask('eth_sendTransaction', { from: accountAt(0), to, value: '0x1' });
  await grow({ node: source, ask, transfer } as never, 8);
  await ask('evm_mine');
  const truth = shown(await portrait(source));
  await source.close();
  const rows = await rowsOf(await openIdbStore(`hostile-${databases - 1}`));
  return {
    inputs: damageOf(rows),
    check: (damage) =>
      withDamaged(rows, damage, async (store) => {
        const thrown: unknown[] = [];
        const onError = (error: unknown) => void thrown.push(error);
        let node: PlumblineNode | undefined;
        try {
          node = await createInlineNode({ dictionary, chain: CHAIN, store, onError });
          const found = shown(await portrait(node));
          if (found !== truth) throw new Error(`opened as ${found}`);
        } catch (error) {
          const cause = thrown[0] ?? error;
          if (!isPlumblineError(cause, 'STORE_CORRUPT') && !isPlumblineError(cause, 'STORE_TOO_NEW')) throw cause;
        } finally {
          await node?.close();
        }
      }),
  };
}

/** A light node with a damaged record answers as before: what it cannot use it fetches again. */
export async function lightStoreScene(): Promise<HostileScene<Damage>> {
  const dev = await createInlineNode({ dictionary, chain: { kind: 'devnet', mining: 'manual' } });
  await history((method, ...params) => dev.request<UntypedMethod>({ method, params }) as never);
  const questions: [method: string, ...params: unknown[]][] = [
    ['eth_getBalance', accountAt(0), 'latest'],
    ['eth_call', { to: token, data: '0x18160ddd' }, 'latest'],
    ['eth_getBlockByNumber', '0x1', true],
    ['linea_getProof', accountAt(0), [], '0x1'],
    ['linea_estimateGas', { from: accountAt(0), to: token, data: '0x18160ddd' }],
  ];
  const answersOf = async (node: PlumblineNode) => {
    const answers: unknown[] = [];
    for (const [method, ...params] of questions) answers.push(await node.request<UntypedMethod>({ method, params }));
    // A stored proof with a capital hex digit has the same bytes, and is verified like any other.
    return shown(answers).toLowerCase();
  };
  const truth = await answersOf(dev);
  const open = (store: PageStore, onError?: (error: unknown) => void) =>
    createInlineNode({
      dictionary,
      store,
      onError,
      chain: {
        kind: 'light',
        network: devnet(),
        endpoints: [
          { provider: dev, name: 'one' },
          { provider: dev, name: 'other' },
        ],
        layerOne: [{ provider: dev.l1 }],
      },
    });
  const name = `hostile-${databases++}`;
  const first = await open(await openIdbStore(name));
  if ((await answersOf(first)) !== truth) throw new Error('the light node answers otherwise than the devnet');
  await first.close();
  const rows = await rowsOf(await openIdbStore(name));
  return {
    inputs: damageOf(rows),
    check: (damage) =>
      withDamaged(rows, damage, async (store) => {
        const thrown: unknown[] = [];
        const node = await open(store, (error) => thrown.push(error));
        try {
          const found = await answersOf(node).catch((error: unknown) => `threw ${error}`);
          const untyped = thrown.find(isUntyped);
          if (untyped !== undefined) throw untyped;
          if (found !== truth) throw new Error(`answered ${found}`);
        } finally {
          await node.close();
        }
      }),
    close: () => dev.close(),
  };
}
