import { describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { devnet } from '../../src/networks/devnet.js';
import { PRICE, stranger } from '../support/dev-node.js';
import { type LightScene, lightScene } from '../support/light-node.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

type Log = Record<'blockNumber' | 'blockHash' | 'data', string> & { removed: boolean };

/** Sends a token transfer of `amount` in a block of its own. */
const send = ({ dev }: LightScene, nonce: number, amount: number) =>
  dev.ask(
    'eth_sendRawTransaction',
    signTransaction(0, {
      nonce,
      to: token,
      data: transferCalldata(stranger('77'), BigInt(amount)),
      gasLimit: 100_000n,
      ...PRICE,
    }),
  );
const shown = ({ blockNumber, data, removed }: Log) =>
  `${removed ? '-' : '+'}${Number(blockNumber)} ${Number(data)}` as const;

/** A light node with a subscription and a filter of logs, which have had those of three blocks above `below` empty ones. */
async function told(below: number) {
  const network = { ...devnet(), slotSeconds: 1 };
  const scene = await lightScene({ chain: { network, layerOne: undefined as never, headMaxAgeMs: 0 } });
  const { dev, light, ask, clock } = scene;
  // Polls of heads follow one another in hundredths of seconds.
  const { setTimer } = clock;
  clock.setTimer = (action, delayMs) => setTimer(action, delayMs <= 5_000 ? delayMs / 20 : delayMs);
  if (below > 0) await dev.ask('anvil_mine', below);
  const heard: Log[] = [];
  light.on('message', ({ data }) => void heard.push(data.result as Log));
  await ask('eth_blockNumber');
  const filter = await ask('eth_newFilter', { address: token });
  const other = await ask('eth_newFilter', { address: stranger('dd') });
  await ask('eth_subscribe', 'logs', { address: token });
  await ask('eth_subscribe', 'logs', { address: stranger('dd') });
  await send(scene, 0, 10);
  const snapshot = await dev.ask('evm_snapshot');
  await send(scene, 1, 11);
  await send(scene, 2, 12);
  await expect.poll(() => heard.length).toBe(3);
  const changes = () => ask<Log[]>('eth_getFilterChanges', filter);
  expect((await changes()).map(shown)).toEqual(heard.map(shown));
  return { scene, heard, changes, other, snapshot };
}

describe.each([
  ['on a short chain', 0],
  ['on a chain that loses its blocks', 100],
])('after a reorg, a light node sends the logs of the blocks that went again: %s', (_, below) => {
  const at = (number: number) => below + number;

  test.each([
    ['by one block', 1, [`-${at(3)} 12`, `-${at(2)} 11`, `+${at(2)} 21`]],
    ['by as many blocks', 2, [`-${at(3)} 12`, `-${at(2)} 11`, `+${at(2)} 21`, `+${at(3)} 22`]],
    [
      'by more blocks',
      4,
      [`-${at(3)} 12`, `-${at(2)} 11`, `+${at(2)} 21`, `+${at(3)} 22`, `+${at(4)} 23`, `+${at(5)} 24`],
    ],
  ])('replaced %s: once each, before the new ones', async (_, count, expected) => {
    const { scene, heard, changes, other, snapshot } = await told(below);
    const before = [...heard];
    await scene.dev.ask('evm_revert', snapshot);
    for (let i = 0; i < count; i++) await send(scene, 1 + i, 21 + i);
    await expect.poll(() => heard.slice(3).map(shown)).toEqual(expected);
    // They are the same logs but for that.
    expect(heard.slice(3, 5)).toEqual([before[2], before[1]].map((log) => ({ ...log, removed: true })));
    const filtered = await changes();
    expect(filtered).toEqual(heard.slice(3));
    expect(await changes()).toEqual([]);
    expect(await scene.ask('eth_getFilterChanges', other)).toEqual([]);
  });

  test('a filter that was not asked meanwhile has only what is there now', async () => {
    const { scene, heard, snapshot } = await told(below);
    const late = await scene.ask('eth_newFilter', { address: token });
    await send(scene, 3, 13);
    await expect.poll(() => heard.length).toBe(4);
    await scene.dev.ask('evm_revert', snapshot);
    for (let i = 0; i < 4; i++) await send(scene, 1 + i, 21 + i);
    await expect.poll(() => heard.at(-1) && shown(heard.at(-1)!)).toBe(`+${at(5)} 24`);
    const changes = await scene.ask<Log[]>('eth_getFilterChanges', late);
    expect(changes.map(shown)).toEqual([21, 22, 23, 24].map((amount, i) => `+${at(2 + i)} ${amount}`));
  });
});

test('blocks that go without others in their place', async () => {
  const { scene, heard, changes, snapshot } = await told(100);
  await scene.dev.ask('evm_revert', snapshot);
  await expect.poll(() => heard.slice(3).map(shown)).toEqual(['-103 12', '-102 11']);
  expect((await changes()).map(shown)).toEqual(['-103 12', '-102 11']);
});
