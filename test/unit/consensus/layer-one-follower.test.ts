import { expect, test } from 'vitest';
import { LayerOneFollower, type LayerOneFollowerParts } from '../../../src/chain/light/layer-one/layer-one-follower.js';
import type { LightClientRecord } from '../../../src/chain/light/layer-one/light-client-record.js';
import { slotAtTime, timeOfSlot } from '../../../src/consensus/networks/beacon-network.js';
import type { LightClientStore } from '../../../src/consensus/rules/store.js';
import { PlumblineError } from '../../../src/errors.js';
import type { RestGroup } from '../../../src/upstream/rest-group.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { network, start } from './scene.js';

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
