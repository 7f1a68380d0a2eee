import { createAddressFromString, createContractAddress2, hexToBytes } from '@ethereumjs/util';
import { test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import {
  expectSame,
  GONE,
  GONE_BUT_ETHER,
  listScene,
  ONE_STORE,
  STAYING,
  STORING,
  slotsOf,
  ZERO_ADDRESS,
} from '../support/access-list-scene.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { seededRandom } from '../support/random.js';
import { authorization } from '../support/sign.js';

/*
 * Random blocks of what is easily misapplied: accounts that are created by CREATE2 at addresses with ether and slots, destroyed, emptied,
 * touched, delegated and edited, and blocks that are taken back. `PLUMBLINE_SEED=N PLUMBLINE_COUNT=M` before it runs others.
 */

const SEED = Number(process.env.PLUMBLINE_SEED ?? 1);
const SEEDS = Array.from({ length: Number(process.env.PLUMBLINE_COUNT ?? 1) }, (_, i) => SEED + i);
const BLOCKS = 100;

/** Makes a contract of the init code in its calldata, by CREATE2 with salt 0. */
const FACTORY = stranger('fa');
const FACTORY_CODE = '0x365f5f375f365f34f500';
/** Sets slots 0 to 2, and leaves no code. */
const STORED = '0x60095f55600160015560015f5500';
const INITS: readonly Hex[] = [GONE, GONE_BUT_ETHER, STAYING, STORED];
const addressOf = (init: Hex) =>
  createContractAddress2(createAddressFromString(FACTORY), new Uint8Array(32), hexToBytes(init)).toString() as Hex;

const DELEGATING = 6;
const PLAYING: readonly Hex[] = [
  ...INITS.map(addressOf),
  ...['e1', 'e2'].map(stranger),
  ...[accountAt(DELEGATING), ONE_STORE],
];
const SET = {
  accounts: [...PLAYING, accountAt(0), accountAt(1), FACTORY, ZERO_ADDRESS],
  slots: PLAYING.flatMap((address) => slotsOf(address, [0, 1, 2, 5])),
};

test.each(SEEDS)('after random blocks all values are those of the devnet (seed %i)', async (seed) => {
  const on = await listScene();
  const { dev, send, store, mine, passTime } = on;
  const random = seededRandom(seed * 7919);
  const oneOf = <Item>(...items: Item[]): Item => items[random(items.length)]!;
  const steps: ((who: Hex, from: number) => Promise<unknown>)[] = [
    (_, from) => send(from, { to: FACTORY, data: oneOf(...INITS), value: oneOf('0x0', '0x2') }),
    (_, from) => send(from, { data: oneOf(...INITS), value: '0x1' }),
    (to, from) => send(from, { to }),
    (to, from) => send(from, { to, value: '0x1' }),
    (to, from) => store(from, to, [random(3), random(3)]),
    (_, from) => store(from, ONE_STORE, [random(6), random(3)], [random(6), random(3)]),
    (who) => dev.ask('anvil_setBalance', who, oneOf('0x0', '0x7')),
    async (who) => who !== accountAt(DELEGATING) && dev.ask('anvil_setNonce', who, oneOf('0x0', '0x3')),
    async (who) => who !== ONE_STORE && dev.ask('anvil_setCode', who, oneOf('0x', STORING)),
    (who) => dev.ask('anvil_setStorageAt', who, word(BigInt(random(3))), word(BigInt(random(3)))),
    async () => {
      const to = accountAt(DELEGATING);
      const nonce = Number(await dev.ask('eth_getTransactionCount', to));
      return send(0, { to, authorizationList: [authorization(DELEGATING, oneOf(ZERO_ADDRESS, ONE_STORE), nonce)] });
    },
  ];
  await dev.ask('anvil_setCode', FACTORY, FACTORY_CODE);
  await mine();
  await expectSame(on, SET);
  for (let block = 0; block < BLOCKS; block++) {
    for (let left = random(6); left > 0; left--) await oneOf(...steps)(oneOf(...PLAYING), random(3));
    if (random(12) === 0) {
      const depth = 1 + random(2);
      await dev.ask('anvil_rollback', depth);
      for (let made = 0; made < depth; made++) await dev.ask('evm_mine');
      passTime();
    }
    await mine();
    // Now and then several lists are needed at once.
    if (random(4) > 0) await expectSame(on, SET);
  }
  await expectSame(on, SET);
});
