import { describe, expect, test } from 'vitest';
import {
  type BeaconEndpoints,
  LayerOneFollower,
  type LayerOneFollowerParts,
} from '../../../src/chain/light/layer-one-follower.js';
import type { FollowedState, LightClientRecord } from '../../../src/chain/light/light-client-record.js';
import type { LightClientStore } from '../../../src/consensus/rules.js';
import { slotAtTime, timeOfSlot } from '../../../src/consensus/slots.js';
import { PlumblineError } from '../../../src/errors.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import type { RestGroup } from '../../../src/upstream/rest-group.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { network, scenario, start } from './scene.js';

/** A follower whose store of an earlier session is this one, and whose endpoints do not answer. */
function follower(store: LightClientStore) {
  const clock = new ShiftedClock();
  clock.advance(timeOfSlot(network, Number(store.finalized.beacon.slot) + 1) * 1000 - clock.now());
  const asked: string[] = [];
  const beacon = {
    get: async (path: string) => {
      asked.push(path);
      throw new PlumblineError('UPSTREAM_UNAVAILABLE', 'down', { endpoints: [] });
    },
  };
  const record = { load: async () => ({ store, checkpoint: new Uint8Array(32) }), save: async () => {} };
  const parts: LayerOneFollowerParts = {
    beacon: beacon as unknown as RestGroup,
    network,
    checkpoints: { given: undefined, builtin: undefined, servers: undefined },
    checkpointMaxAgeMs: 1e9,
    maxAgeMs: 1e9,
    record: record as unknown as LightClientRecord,
    clock,
  };
  return { follower: new LayerOneFollower(parts), asked, clock };
}

test('what is stored stays final while no endpoint answers, and they are left alone for ten seconds', async () => {
  const { follower: node, asked, clock } = follower(start);
  const slot = Number(start.finalized.beacon.slot);
  expect(await node.finalized()).toMatchObject({ slot, level: 'stored' });
  expect(asked).toHaveLength(1);
  clock.advance(9_000);
  expect(await node.finalized()).toMatchObject({ slot });
  expect(asked).toHaveLength(1);
  clock.advance(2_000);
  await node.finalized();
  expect(asked).toHaveLength(2);
  expect(slotAtTime(network, clock.now())).toBeGreaterThan(slot);
});

test('nothing rests on a store with a contradiction, also while no endpoint answers', async () => {
  const { follower: node, asked } = follower({ ...start, contradiction: { reason: 'EQUIVOCATION', slot: 7 } });
  for (let i = 0; i < 2; i++) await expect(node.finalized()).rejects.toMatchObject({ code: 'LAYER_ONE_CONTRADICTS' });
  expect(asked).toEqual([]);
});

describe('a chain over four forks', () => {
  /** The endpoints of the chain as they are at a slot: the newest update of each period, and the newest finality. */
  function endpointsAt(slot: () => number): BeaconEndpoints {
    const known = () => scenario.steps.filter(({ op, currentSlot }) => op !== 'optimistic' && currentSlot <= slot());
    const periodOf = (data: Members) => Math.floor(Number(data.attested_header.beacon.slot) / 64);
    const answerTo = (path: string): unknown => {
      const answers = known().map(({ op, object: { version, json } }) => ({ op, version, data: json as Members }));
      if (path.includes('/bootstrap/')) return { version: scenario.bootstrap!.version, data: scenario.bootstrap!.json };
      const asked = /start_period=(\d+)&count=(\d+)/.exec(path);
      if (asked === null) {
        const { version, data } = answers.at(-1)!;
        const { next_sync_committee: _, next_sync_committee_branch: __, ...update } = data;
        return { version, data: update };
      }
      const periods = Array.from({ length: Number(asked[2]) }, (_, i) => Number(asked[1]) + i);
      return periods.flatMap((period) => {
        const update = answers.findLast(({ op, data }) => op === 'update' && periodOf(data) === period);
        return update === undefined ? [] : [update];
      });
    };
    return { endpoints: [], get: async (path, { accept }) => accept(answerTo(path), { id: '', origin: '' } as never) };
  }

  interface Members {
    readonly attested_header: { readonly beacon: { readonly slot: string } };
    readonly next_sync_committee?: unknown;
    readonly next_sync_committee_branch?: unknown;
  }

  test.each([false, true])('is followed across each of them, opened anew each time: %s', async (isAnew) => {
    const clock = new ShiftedClock();
    let slot = 0;
    let stored: FollowedState | undefined;
    const record = {
      load: async () => stored,
      save: async (state: FollowedState) => {
        stored = state;
      },
    };
    const open = () =>
      new LayerOneFollower({
        beacon: endpointsAt(() => slot),
        network,
        checkpoints: { given: hexToBytes(scenario.trustedBlockRoot), builtin: undefined, servers: undefined },
        checkpointMaxAgeMs: 1e9,
        maxAgeMs: 1e9,
        record: record as unknown as LightClientRecord,
        clock,
      });
    let node = open();
    const layouts = new Set<string>();
    for (const { op, currentSlot, object, strict } of scenario.steps) {
      // Within an epoch of 8 slots it does not ask again.
      if (op === 'optimistic' || (!isAnew && currentSlot < slot + 8)) continue;
      slot = currentSlot;
      clock.advance(timeOfSlot(network, slot) * 1000 - clock.now());
      if (isAnew) node = open();
      const found = await node.finalized();
      expect([found.slot, bytesToHex(found.beaconRoot), bytesToHex(found.blockHash)]).toEqual([
        Number(strict.finalized.slot),
        strict.finalized.root,
        strict.finalized.blockHash,
      ]);
      layouts.add(object.version);
    }
    expect([...layouts]).toEqual(['capella', 'deneb', 'electra', 'fulu']);
  });

  test('a finality update of a period before the known one is old, not false: nothing is refused, nothing waits', async () => {
    const clock = new ShiftedClock();
    const last = scenario.steps.at(-1)!.currentSlot;
    clock.advance(timeOfSlot(network, last) * 1000 - clock.now());
    let stored: FollowedState | undefined;
    const record = {
      load: async () => stored,
      save: async (state: FollowedState) => {
        stored = state;
      },
    } as unknown as LightClientRecord;
    const open = (beacon: BeaconEndpoints) =>
      new LayerOneFollower({
        beacon,
        network,
        checkpoints: { given: hexToBytes(scenario.trustedBlockRoot), builtin: undefined, servers: undefined },
        checkpointMaxAgeMs: 1e9,
        maxAgeMs: 1e9,
        record,
        clock,
      });
    const newest = await open(endpointsAt(() => last)).finalized();
    // An endpoint that is behind: its newest update is that of the first step.
    let now = scenario.steps[0]!.currentSlot;
    const asked: string[] = [];
    const behind = endpointsAt(() => now);
    const node = open({
      endpoints: [],
      get: (path, options) => {
        asked.push(path);
        return behind.get(path, options);
      },
    });
    expect(await node.finalized()).toMatchObject({ slot: newest.slot, blockHash: newest.blockHash });
    const requests = asked.length;
    expect(requests).toBeGreaterThan(0);
    // It is asked again in the next epoch, and not only after a rest.
    now = last;
    clock.advance(8 * network.secondsPerSlot * 1000);
    expect(await node.finalized()).toMatchObject({ slot: newest.slot });
    expect(asked.length).toBeGreaterThan(requests);
  });
});
