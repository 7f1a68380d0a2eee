import { expect, test } from 'vitest';
import { beaconBlockHeader } from '../../src/consensus/containers.js';
import { consensusAnswer } from '../../src/hosts/cli/feed.js';
import { bytesToHex } from '../../src/primitives/hex.js';

const LIGHT_CLIENT = '/eth/v1/beacon/light_client';
const FOREVER = 'public, max-age=31536000, immutable';
const beacon = {
  ...{ slot: '14745601', proposer_index: '5', parent_root: `0x${'01'.repeat(32)}` },
  ...{ state_root: `0x${'02'.repeat(32)}`, body_root: `0x${'03'.repeat(32)}` },
};
const root = bytesToHex(beaconBlockHeader.hashTreeRoot(beaconBlockHeader.fromJson(beacon, '')));
const update = (period: number) => ({
  data: { attested_header: { beacon: { ...beacon, slot: String(8_192 * period + 7) } } },
});
const kept = async (target: string, answers: Record<string, unknown>) =>
  (await consensusAnswer(async (asked) => answers[asked], target)).cacheControl;

test('caches keep a bootstrap of its own block alone', async () => {
  const target = `${LIGHT_CLIENT}/bootstrap/${root}`;
  expect(await kept(target, { [target]: { data: { header: { beacon } } } })).toBe(FOREVER);
  const syncing = { code: 503, message: 'node is syncing' };
  const others = [syncing, null, [], { data: { header: { beacon: { ...beacon, slot: '1' } } } }];
  for (const other of others) expect(await kept(target, { [target]: other })).not.toBe(FOREVER);
});

test('caches keep updates of the periods that were asked for alone, when these are over', async () => {
  const [target, next] = [1_800, 1_802].map(
    (start, i) => `${LIGHT_CLIENT}/updates?start_period=${start}&count=${2 - i}`,
  );
  const own = [update(1_800), update(1_801)];
  expect(await kept(target!, { [target!]: own, [next!]: [update(1_802)] })).toBe(FOREVER);
  expect(await kept(target!, { [target!]: own, [next!]: [] })).not.toBe(FOREVER);
  for (const other of [[{}, {}], [update(1_801), update(1_800)], [update(1_800)], { code: 503 }])
    expect(await kept(target!, { [target!]: other, [next!]: [update(1_802)] })).not.toBe(FOREVER);
  expect(await kept(target!, { [target!]: own, [next!]: [{}] })).not.toBe(FOREVER);
});
