import { describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { accountAt, stranger } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';
import type { SeenCall } from '../support/mock-chain.js';
import { transferCalldata } from '../support/sign.js';
import { TurnClock } from '../support/turn-clock.js';

/** What nodes say of a block that they do not have yet. @source docs/spec/json-rpc.md 4.1, 4.2; Nethermind, Erigon */
const WORDS: Record<string, () => unknown> = {
  null: () => null,
  geth: () => {
    throw Object.assign(new Error('header not found'), { code: -32000 });
  },
  Besu: () => {
    throw Object.assign(new Error('Invalid block param (block not found)'), { code: -32602 });
  },
  'a tag': () => {
    throw Object.assign(new Error('Unknown block'), { code: -39001 });
  },
  Nethermind: () => {
    throw Object.assign(new Error('Block 0x4 could not be found'), { code: -32001 });
  },
};

const QUESTIONS: readonly (readonly [string, ...unknown[]])[] = [
  ['eth_getBalance', accountAt(0), 'latest'],
  ['eth_getProof', token, ['0x2'], 'latest'],
  ['linea_estimateGas', { from: accountAt(0), to: token, data: transferCalldata(stranger('77'), 5n) }],
  ['eth_getBlockByNumber', 'latest', true],
  ['eth_getBlockReceipts', 'latest'],
];

/** One address with several nodes behind it; the next `times` that are asked for the newest block by itself do not have it. */
function balanced(say: () => unknown, times: number) {
  const asked = new Map<string, number>();
  const tamper = ({ method, params }: SeenCall, result: unknown) => {
    if (!/^eth_(getProof|getBlockByHash|getBlockReceipts)$/.test(method)) return result;
    const count = (asked.get(method) ?? 0) + 1;
    asked.set(method, count);
    // Beside the head itself, too, whose node another request may not reach.
    return count <= times || params.includes('latest') ? say() : result;
  };
  return { asked, tamper };
}

describe('an address whose nodes do not all have the newest block', () => {
  test.each(Object.entries(WORDS))('is asked again a little later: %s', async (_, say) => {
    for (const [method, ...params] of QUESTIONS) {
      const { tamper } = balanced(say, 2);
      const { dev, ask } = await lightScene({ endpoints: [{ tamper }], more: { clock: new TurnClock() } });
      for (let nonce = 0; nonce < 4; nonce++) await dev.transfer(0, { nonce });
      expect(await ask(method, ...params), method).toEqual(await dev.ask(method, ...params));
    }
  });

  test('is given up after a few times', async () => {
    for (const [method, ...params] of QUESTIONS) {
      const { tamper } = balanced(() => null, Number.POSITIVE_INFINITY);
      const { dev, ask, endpoints } = await lightScene({ endpoints: [{ tamper }], more: { clock: new TurnClock() } });
      await dev.transfer(0, { nonce: 0 });
      await expect(ask(method, ...params), method).rejects.toMatchObject({ code: -32000, message: /does not have it/ });
      expect(endpoints[0]!.seen.length, method).toBeLessThanOrEqual(5);
    }
  });

  test('is not waited for where another has it', async () => {
    const { asked, tamper } = balanced(() => null, Number.POSITIVE_INFINITY);
    const { dev, ask } = await lightScene({ endpoints: [{ tamper }, {}] });
    await dev.transfer(0, { nonce: 0 });
    expect(await ask('eth_getBalance', accountAt(0), 'latest')).toBe(
      await dev.ask('eth_getBalance', accountAt(0), 'latest'),
    );
    expect(asked.get('eth_getProof')).toBe(1);
  });
});
