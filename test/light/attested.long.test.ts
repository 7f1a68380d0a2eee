import { expect, test } from 'vitest';
import { attestedScene } from '../support/attested-chain.js';
import { accountAt } from '../support/dev-node.js';

test('latest is the newest attested block, finalized the one that consensus finalized', async () => {
  const { dev, open, endpoints } = await attestedScene();
  const { ask, reports } = await open();
  for (const [tag, number, level] of [
    ['latest', '0x5', 'attested'],
    ['finalized', '0x3', 'settled'],
    ['safe', '0x3', 'settled'],
  ] as const) {
    expect(await ask('eth_getBlockByNumber', tag, false)).toEqual(await dev.ask('eth_getBlockByNumber', number, false));
    expect(reports.at(-1)).toMatchObject({ level, class: 'proved' });
  }
  expect(await ask('eth_getBalance', accountAt(0), 'latest')).toBe(
    await dev.ask('eth_getBalance', accountAt(0), '0x5'),
  );
  expect(reports.at(-1)).toMatchObject({
    level: 'attested',
    class: 'proved',
    layerOne: { checkpoint: { level: 'checkpoint' } },
  });
  const asked = endpoints[0]!.seen?.length;
  expect(await ask('eth_getBalance', accountAt(0), 'latest')).toBe(
    await dev.ask('eth_getBalance', accountAt(0), '0x5'),
  );
  expect(endpoints[0]!.seen?.length).toBe(asked);
});
