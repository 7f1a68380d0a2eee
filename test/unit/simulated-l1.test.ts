import { expect, test } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import { NONE_ANCHORED } from '../../src/chain/devnet/layer-one/rollup-abi.js';
import {
  type L1Entry,
  type L1Mark,
  type LayerOneChain,
  SimulatedL1,
} from '../../src/chain/devnet/layer-one/simulated-l1.js';
import { PlumblineError } from '../../src/errors.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { seededRandom } from '../support/random.js';

const root = (block: number) => bigIntToBytes(BigInt(block) * 104_729n + 1n, 32);
const finalization = (last: number, timestamp: number) => ({
  ...({ first: last, last, kind: 'stateRoot', parent: root(last - 1), final: root(last), timestamp } as const),
  ...{ messages: [], messagingBlocks: [], anchored: NONE_ANCHORED },
});
const now = async () => {};

/** A layer 1 over a chain that only keeps what its blocks were made from. It reverts few blocks. */
function open(most: number) {
  const made: L1Entry[] = [];
  let sent: (block: Block) => void = () => {};
  const chain = (): LayerOneChain => ({
    chain: {} as LayerOneChain['chain'],
    get head() {
      return { header: { number: made.length } } as Block;
    },
    blockAt: () => undefined,
    async seal(number, entry) {
      if (number === made.length + 1) made.push(entry);
    },
    async rollback(depth) {
      if (depth > most) throw new PlumblineError('STATE_NOT_HELD', 'too many', { block: 0 });
      made.splice(made.length - depth);
    },
    holdFrom() {},
    async end() {
      made.splice(0);
    },
  });
  const layerOne = new SimulatedL1({
    genesis: { zkRoot: root(0) },
    async open(onSent) {
      sent = onSent;
      return chain();
    },
    onSent() {},
  });
  /** Seals a block at once, as for a transaction that somebody sent. */
  const send = (timestamp: number) => {
    const raw = bigIntToBytes(BigInt(timestamp), 32);
    made.push({ transactions: [raw], timestamp });
    sent({ header: { number: made.length, timestamp }, transactions: [{ raw }] } as unknown as Block);
  };
  return { layerOne, made, send };
}

test.each([1, 2, 3])(
  'what is executed late, reverts and sent transactions between, is the list (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const { layerOne, made, send } = open(20);
    /** The list by its definition, with the place before each of its entries. */
    let expected: string[] = [];
    const marks: { mark: L1Mark; length: number; last: number }[] = [];
    let [last, time] = [0, 1000];
    await layerOne.settle(now);
    for (let step = 0; step < 300; step++) {
      const what = random(8);
      time += random(3) + 1;
      if (what === 0) marks.push({ mark: layerOne.mark, length: expected.length, last });
      else if (what === 1 && marks.length > 0) {
        const back = marks[random(marks.length)]!;
        marks.splice(marks.indexOf(back) + 1);
        layerOne.revertTo(back.mark);
        expected = expected.slice(0, back.length);
        last = back.last;
      } else if (what === 2) {
        await Promise.all([layerOne.settle(now), layerOne.settle(now)]);
        send(time);
        expected.push(`sent ${time}`);
      } else {
        layerOne.finalize(finalization(++last, time));
        expected.push(`finalized ${last} ${time}`);
      }
      expect(layerOne.stateRoot(last)).toEqual(root(last));
      expect(layerOne.stateRoot(last + 1)).toBeUndefined();
      if (random(10) > 0) continue;
      await layerOne.settle(now);
    }
    await layerOne.settle(now);
    const names = made.map((entry) =>
      'last' in entry ? `finalized ${entry.last} ${entry.timestamp}` : `sent ${entry.timestamp}`,
    );
    expect(names).toEqual(expected);
  },
);
