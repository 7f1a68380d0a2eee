import { describe, expect, test } from 'vitest';
import type { Block } from '../../../src/chain/block.js';
import { type BeaconBlock, SimulatedBeacon } from '../../../src/chain/devnet/layer-one/simulated-beacon.js';
import { blockWithHash } from '../../../src/chain/devnet/records/block-record.js';
import { devAlloc, genesisBlock } from '../../../src/chain/devnet/state/genesis.js';
import {
  type BeaconBlockHeader,
  beaconBlockHeader,
  layerOneBlock,
  objectFrom,
  updatesFrom,
} from '../../../src/consensus/containers.js';
import {
  type AnyUpdate,
  initializeLightClientStore,
  type LightClientStore,
  processLightClientUpdates,
} from '../../../src/consensus/rules.js';
import { computeSyncCommitteePeriodAtSlot, slotAtTime, timeOfSlot } from '../../../src/consensus/slots.js';
import { headerHash } from '../../../src/ethereum/header.js';
import { beaconNetworkOf } from '../../../src/networks/beacon-networks.js';
import { layerOneOfDevnet } from '../../../src/networks/devnet.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import { answerBeaconRequest } from '../../../src/rpc/methods/beacon-api.js';
import { finish } from '../../../src/scheduling/pieces.js';
import { seededRandom } from '../../support/random.js';

const NETWORK = beaconNetworkOf('simulated');

const PERIOD = 64;
const word = new Uint8Array(32);

/** Blocks of layer 1 without a transaction. */
class Blocks {
  private blocks: Block[] = [
    genesisBlock(
      {
        network: layerOneOfDevnet(),
        alloc: devAlloc(),
        genesisTimestamp: NETWORK.genesisTime,
        prices: undefined,
        coinbase: new Uint8Array(20),
        onProgress: undefined,
      },
      word,
    ),
  ];

  get head(): Block {
    return this.blocks.at(-1)!;
  }

  blockAt(number: number): Block | undefined {
    return this.blocks[number];
  }

  add(timestamp: number): void {
    const { header, hash: parentHash } = this.head;
    const next = { ...header, parentHash, number: header.number + 1 };
    const time = Math.max(timestamp, header.timestamp + 1);
    this.blocks.push(
      blockWithHash({ header: { ...next, timestamp: time }, transactions: [], uncles: [], withdrawals: [] }),
    );
  }

  revertTo(number: number): void {
    this.blocks = this.blocks.slice(0, number + 1);
  }
}

/** A layer 1, its beacon chain and a clock in seconds. All slots that the chain gave out are compared. */
class Scene {
  readonly layerOne = new Blocks();
  beacon = this.open();
  /** Roots by slot, from all objects that were given out. */
  readonly given = new Map<bigint, string>();

  constructor(public now: number) {}

  /** @param openedAt - as on a store */
  open(openedAt?: number): SimulatedBeacon {
    return new SimulatedBeacon(NETWORK, this.layerOne, () => this.now, openedAt);
  }

  get slot(): number {
    return slotAtTime(NETWORK, this.now * 1000);
  }

  async mine(timestamp = this.now): Promise<void> {
    this.layerOne.add(timestamp);
  }

  async ask<T>(path: string): Promise<T> {
    const { status, body } = await answerBeaconRequest(this.beacon, `/eth/v1/beacon/${path}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body as T;
  }

  note({ slot, ...header }: BeaconBlockHeader): void {
    const root = bytesToHex(beaconBlockHeader.hashTreeRoot({ slot, ...header }));
    expect(this.given.get(slot) ?? root, `slot ${slot}`).toBe(root);
    this.given.set(slot, root);
  }

  async start(): Promise<LightClientStore> {
    const { data } = await this.ask<{ data: { root: string } }>('headers/finalized');
    const answer = objectFrom(NETWORK, 'bootstrap', await this.ask(`light_client/bootstrap/${data.root}`));
    const request = { root: hexToBytes(data.root), currentSlot: this.slot, maxAgeSlots: 2 * PERIOD };
    const verdict = initializeLightClientStore(NETWORK, answer, request);
    if (!verdict.verified) throw new Error(`${verdict.reason} ${verdict.message}`);
    this.note(verdict.store.finalized.beacon);
    return verdict.store;
  }

  async updates(start: number, count: number): Promise<AnyUpdate[]> {
    const updates = updatesFrom(NETWORK, await this.ask(`light_client/updates?start_period=${start}&count=${count}`));
    expect(updates.length).toBe(count);
    return updates;
  }

  async apply(store: LightClientStore, updates: readonly AnyUpdate[]): Promise<LightClientStore> {
    for (const { data } of updates) {
      this.note(data.attestedHeader.beacon);
      if ('finalizedHeader' in data) this.note(data.finalizedHeader.beacon);
    }
    const result = await finish(processLightClientUpdates(NETWORK, store, updates, this.slot), async () => {});
    // Nothing is new if the client has asked a moment ago.
    expect([undefined, 'NOT_RELEVANT']).toContain(result.refused?.reason);
    return result.store;
  }

  /** What a client does to be up to date. @source docs/spec/consensus.md 7 */
  async follow(store: LightClientStore): Promise<LightClientStore> {
    let client = store;
    const period = () => computeSyncCommitteePeriodAtSlot(NETWORK, Number(client.finalized.beacon.slot));
    const current = computeSyncCommitteePeriodAtSlot(NETWORK, this.slot);
    if (client.next === undefined) client = await this.apply(client, await this.updates(period(), 1));
    const missing = current - 1 - period();
    if (missing > 0) client = await this.apply(client, await this.updates(period() + 1, missing));
    const update = objectFrom(NETWORK, 'finalityUpdate', await this.ask('light_client/finality_update'));
    return this.apply(client, [update]);
  }
}

const START = NETWORK.genesisTime + 1_000_000 * PERIOD;
const finalBlock = ({ finalized }: LightClientStore) => layerOneBlock(NETWORK, finalized);
const finalNumber = (store: LightClientStore) => finalBlock(store).number!;

describe('a client', () => {
  test('follows for 200 slots in steps of its own', async () => {
    const random = seededRandom(1);
    const scene = new Scene(START + random(PERIOD));
    let client = await scene.start();
    for (let asked = scene.now, end = scene.now + 200; scene.now < end; ) {
      scene.now += 1 + random(random(4) === 0 ? 20 : 4);
      if (random(2) === 0) await scene.mine();
      const before = client;
      client = await scene.follow(client);
      expect(client.finalized.beacon.slot).toBeGreaterThanOrEqual(before.finalized.beacon.slot);
      expect(finalNumber(client)).toBeGreaterThanOrEqual(finalNumber(before));
      if (scene.now - asked > 4) expect(finalNumber(client)).toBe(scene.layerOne.head.header.number);
      asked = scene.now;
      const block = scene.layerOne.blockAt(finalNumber(client))!;
      expect(finalBlock(client).blockHash).toEqual(headerHash(block.header));
      expect(finalBlock(client).stateRoot).toEqual(block.header.stateRoot);
    }
    expect(scene.given.size).toBeGreaterThan(40);
  });

  test.each([0, 1, 2, 3, 4, 5, 33, 61, 62, 63])(
    'that asks first in slot %i of a period has the newest block',
    async (offset) => {
      const scene = new Scene(START + offset);
      await scene.mine();
      const client = await scene.follow(await scene.start());
      expect(finalNumber(client)).toBe(1);
      scene.now += PERIOD;
      await scene.mine();
      expect(finalNumber(await scene.follow(client))).toBe(2);
    },
  );

  test('that slept for twenty minutes catches up by the updates of the periods between', async () => {
    const scene = new Scene(START + 20);
    const client = await scene.follow(await scene.start());
    await scene.mine(scene.now + 1);
    await scene.mine(scene.now + 700);
    scene.now += 1200;
    await scene.mine();
    const awake = await scene.follow(client);
    expect(finalNumber(awake)).toBe(3);
    expect(computeSyncCommitteePeriodAtSlot(NETWORK, Number(awake.finalized.beacon.slot))).toBe(
      computeSyncCommitteePeriodAtSlot(NETWORK, scene.slot),
    );
  });

  test('goes on with a devnet that was closed and opened again in the same period, and later', async () => {
    const scene = new Scene(START + 10);
    await scene.mine();
    let client = await scene.follow(await scene.start());
    for (const closed of [1, 2, 20, 600]) {
      scene.now += closed;
      scene.beacon = scene.open(scene.now);
      client = await scene.follow(client);
      await scene.mine();
      scene.now += 3;
      await scene.follow(client);
      scene.now += 3;
      client = await scene.follow(client);
      expect(finalNumber(client)).toBe(scene.layerOne.head.header.number);
    }
  });

  test('has the older block after a revert, with slots that go on', async () => {
    const scene = new Scene(START + 10);
    for (let i = 0; i < 3; i++) await scene.mine();
    const client = await scene.follow(await scene.start());
    expect(finalNumber(client)).toBe(3);
    scene.layerOne.revertTo(1);
    scene.now += 1;
    await scene.follow(client);
    scene.now += 5;
    const after = await scene.follow(client);
    expect(after.finalized.beacon.slot).toBeGreaterThan(client.finalized.beacon.slot);
    expect(finalNumber(after)).toBe(1);
  });
});

describe('the chain', () => {
  test.each([
    ['ahead of', 100_000],
    ['behind', -100_000],
  ])('never goes back to an earlier layer-1 block while the clock of the devnet is %s its own', async (_, offset) => {
    const scene = new Scene(START + 10);
    const blocks: BeaconBlock[] = [];
    for (let i = 0; i < 12; i++) {
      await scene.mine(scene.now + offset);
      const newest = scene.beacon.newest()!;
      expect(newest.layerOne).toBe(scene.layerOne.head);
      blocks.push(newest);
      scene.now += 29 + i;
    }
    const period = computeSyncCommitteePeriodAtSlot(NETWORK, scene.slot);
    // Also where a period is asked for later.
    for (let i = -14; i < 0; i++) scene.beacon.update(period + i);
    const first = START - NETWORK.genesisTime - 5 * PERIOD;
    const all = Array.from({ length: scene.slot - first }, (_, i) => scene.beacon.blockAt(first + i));
    const numbers = all.flatMap((block) => (block === undefined ? [] : [block.layerOne.header.number]));
    expect(numbers.length).toBeGreaterThan(30);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    for (const block of blocks) expect(scene.beacon.blockAt(block.slot)).toBe(block);
  });

  test('makes a few blocks for each request, none without a reason', async () => {
    const scene = new Scene(START + 10);
    const newest = scene.beacon.newest()!;
    for (let i = 0; i < 6; i++) {
      scene.now += 1;
      expect(scene.beacon.newest()).toBe(newest);
    }
    scene.now += 50 * PERIOD;
    scene.beacon.newest();
    const between = Array.from({ length: scene.slot - newest.slot - 3 }, (_, i) => newest.slot + 1 + i);
    expect(between.filter((slot) => scene.beacon.blockAt(slot) !== undefined).length).toBeLessThan(3);
  });

  test('holds the newest blocks and no more', async () => {
    const scene = new Scene(START + 10);
    const first = scene.beacon.newest()!;
    for (let i = 0; i < 600; i++) {
      scene.now += PERIOD;
      scene.beacon.newest();
    }
    expect(scene.beacon.blockAt(first.slot)).toBeUndefined();
    expect(scene.beacon.blockWithRoot(bytesToHex(first.root))).toBeUndefined();
    const { slot } = scene.beacon.newest()!;
    expect(scene.beacon.blockAt(slot - 400 * PERIOD)).toBeDefined();
  });

  test('begins with its second period', async () => {
    const scene = new Scene(timeOfSlot(NETWORK, PERIOD + 3));
    const answer = (path: string) => answerBeaconRequest(scene.beacon, `/eth/v1/beacon/${path}`);
    expect(await answer('light_client/finality_update')).toMatchObject({ status: 404 });
    expect(await answer('genesis')).toMatchObject({ status: 200 });
    scene.now += 1;
    expect(await scene.ask('light_client/updates?start_period=0&count=1')).toEqual([]);
    expect(await scene.updates(1, 1)).toHaveLength(1);
    expect(finalNumber(await scene.follow(await scene.start()))).toBe(0);
    scene.now = NETWORK.genesisTime - 100;
    expect(scene.open().newest()).toBeUndefined();
  });
});
