import { expect, test } from 'vitest';
import { SimulatedL1 } from '../../src/chain/devnet/layer-one/simulated-l1.js';
import { devnet } from '../../src/networks/devnet.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';

const root = (block: number) => bigIntToBytes(BigInt(block) * 104_729n + 1n, 32);
const finalization = (last: number, time: number) => ({
  first: last,
  last,
  kind: 'stateRoot' as const,
  parent: root(last - 1),
  final: root(last),
  timestamp: time,
});
const open = () => SimulatedL1.create(devnet(), root(0), 1000);
const hashes = (layerOne: SimulatedL1) => layerOne.blocks().map(({ hash }) => bytesToHex(hash));
const now = async () => {};

test.each([1, 2, 3])(
  'blocks that are sealed late, reverts between, are those that are sealed at once (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const [atOnce, late] = [open(), open()];
    let last = 0;
    for (let step = 0; step < 200; step++) {
      if (random(8) === 0) {
        last = Math.max(last - random(6), 0);
        for (const layerOne of [atOnce, late]) layerOne.revertTo(last);
      } else {
        const next = finalization(++last, 1000 + random(1000));
        for (const layerOne of [atOnce, late]) layerOne.finalize(next);
      }
      await atOnce.settle(now);
      expect(late.height).toBe(last);
      expect(late.stateRoot(last)).toEqual(atOnce.stateRoot(last));
      expect(late.stateRoot(last + 1)).toBeUndefined();
      if (random(20) > 0) continue;
      await Promise.all([late.settle(now), late.settle(now)]);
    }
    await late.settle(now);
    expect(late.head.finalizedBlock).toBe(last);
    expect(hashes(late)).toEqual(hashes(atOnce));
  },
);
