import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { LayerOneOptions } from '../../src/chain/light/light-options.js';
import type { Table } from '../../src/store/page-store.js';
import { broken, honestAgain, NEWEST, olderFinality, openFollower, said } from '../support/consensus-follower.js';
import { type OpenOptions, openConsensusStage, type Stage } from '../support/consensus-stage.js';
import { KeptStore } from '../support/dev-node.js';
import { settledScene } from '../support/settled-scene.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** What is settled by the finality update that the newest period began with. */
const OLDER = 3;

let stage: Stage;
beforeAll(async () => {
  stage = await openConsensusStage();
});
afterAll(() => stage.close());
afterEach(() => honestAgain(stage));

const open = (store: KeptStore, more: OpenOptions = {}, layerOne: Partial<LayerOneOptions> = {}) =>
  openFollower(stage, layerOne, { store, ...more });

function beaconsAway(): void {
  for (const beacon of stage.beacons) beacon.tamper = (_, answer) => broken(answer);
}

interface Entry {
  readonly table: Table;
  readonly key: string;
  readonly value: Uint8Array;
}

/** What a session stored, in the order of tables and keys. */
async function session(store = new KeptStore(), expected = NEWEST): Promise<Entry[]> {
  const opened = await open(store);
  expect(await said(stage, opened)).toBe(expected);
  await opened.node.close();
  const entries: Entry[] = [];
  for (const table of ['meta', 'headers', 'finalizations', 'proofs', 'codes'] as const) {
    for (const key of (await store.keys(table)).map(String))
      entries.push({ table, key, value: (await store.get(table, key))! });
  }
  return entries;
}

async function storeOf(entries: readonly Entry[]): Promise<KeptStore> {
  const store = new KeptStore();
  await store.commit({ puts: entries });
  return store;
}

const isFollowed = ({ key }: Entry) => key.startsWith('consensus ');

test('what is stored is used while no beacon endpoint answers, until it is too old', async () => {
  const entries = await session();
  beaconsAway();
  const later = async (offsetMs: number) => said(stage, await open(await storeOf(entries), { offsetMs }));
  expect(await later(0)).toBe(NEWEST);
  expect(await later(HOUR)).toBe('TRUST_LEVEL_NOT_REACHED');
  // By then the state of the light client is not used, and there is no other.
  expect(await later(20 * DAY)).toBe('UPSTREAM_UNAVAILABLE');
});

test('what was read of the rollup contract is used while the endpoints of layer 1 are away, until it is too old', async () => {
  const { dev, execution, open: openLight, checkpoint, clock } = await settledScene(4);
  const store = new KeptStore();
  const given = { checkpoint: { root: await checkpoint() } };
  const { ask, node } = await openLight(given, {}, { store });
  const block = await ask('eth_getBlockByNumber', 'finalized', false);
  execution.options.intercept = (response) => Boolean(response.destroy());
  expect(await ask('eth_getBlockByNumber', 'finalized', false)).toEqual(block);
  await node.close();
  const again = await openLight(given, {}, { store });
  expect(await again.ask('eth_getBlockByNumber', 'finalized', false)).toEqual(block);
  // The beacon chain goes on and is up to date.
  clock.advance(HOUR);
  await dev.ask('anvil_mine', '0x3');
  const message = /no endpoint could be reached/;
  await expect(again.ask('eth_getBlockByNumber', 'finalized', false)).rejects.toMatchObject({ message });
});

describe('a damaged state of the light client', () => {
  /** A byte of each part: checksums, root, format, genesis, both headers, both committees, contradiction. */
  const places = (length: number) => [0, 31, 32, 63, 64, 95, 96, 104, 112, ...everyFrom(137, 211, length), length - 1];
  const everyFrom = (first: number, step: number, end: number) =>
    Array.from({ length: Math.ceil((end - first) / step) }, (_, i) => first + i * step);

  async function damaged(): Promise<[string, Entry[]][]> {
    const entries = await session();
    const { value } = entries.find(isFollowed)!;
    const other = (bytes: Uint8Array) =>
      entries.map((entry) => (isFollowed(entry) ? { ...entry, value: bytes } : entry));
    return [
      ...places(value.length).map(
        (at) => [`byte ${at}`, other(value.with(at, value[at]! ^ 0x10))] as [string, Entry[]],
      ),
      ...[0, 31, 32, 64, 96, 200, value.length - 1].map(
        (length) => [`length ${length}`, other(value.slice(0, length))] as [string, Entry[]],
      ),
    ];
  }

  test('costs a bootstrap from the trusted block, and nothing else', async () => {
    for (const [name, entries] of await damaged()) {
      stage.beacons[0]!.seen.length = 0;
      expect(await said(stage, await open(await storeOf(entries))), name).toBe(NEWEST);
      expect(stage.beacons[0]!.seen[0], name).toContain(`/bootstrap/${stage.checkpoints.old}`);
    }
  });

  test('is never used where nothing else says what to trust', async () => {
    const without: Partial<LayerOneOptions> = { checkpointServers: stage.beacons.map(({ url }) => url) };
    for (const [name, entries] of await damaged()) {
      const opened = await stage.open(without, {}, { store: await storeOf(entries) });
      try {
        expect(await said(stage, opened), name).toBe(NEWEST);
        expect(opened.reports.at(-1), name).toMatchObject({ layerOne: { checkpoint: { level: 'servers' } } });
      } finally {
        await opened.node.close();
      }
    }
  });

  test('is never used while no beacon endpoint answers', async () => {
    const all = await damaged();
    beaconsAway();
    for (const [name, entries] of all.slice(0, 12))
      expect(await said(stage, await open(await storeOf(entries))), name).toBe('UPSTREAM_UNAVAILABLE');
  });
});

describe('a page that was closed between two writes', () => {
  test('goes on from what is there of the older state and of the newer one', async () => {
    const store = new KeptStore();
    const body = await olderFinality(stage);
    stage.beacons[0]!.tamper = (path, answer) => (path.endsWith('/finality_update') ? { ...answer, body } : answer);
    const first = await session(store, OLDER);
    honestAgain(stage);
    const after = await session(store);
    const before = after.map(({ key }) => first.filter((entry) => entry.key === key));
    const nothing = after.map(() => []);
    for (const older of [before, nothing]) {
      for (let written = 0; written < after.length; written++) {
        // In both orders: the index of a table may be there before its entries, and behind them. With 0, one has all of each state.
        const cuts = [
          [...after.slice(0, written), ...older.slice(written).flat()],
          [...older.slice(0, written).flat(), ...after.slice(written)],
        ];
        honestAgain(stage);
        for (const entries of cuts) expect(await said(stage, await open(await storeOf(entries)))).toBe(NEWEST);
        beaconsAway();
        const alone = await said(stage, await open(await storeOf(cuts[0]!)));
        expect([OLDER, NEWEST, 'UPSTREAM_UNAVAILABLE']).toContain(alone);
      }
    }
  });
});
