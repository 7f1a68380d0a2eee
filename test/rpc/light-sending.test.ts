import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { PRICE, stranger, word } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';
import { signTransaction } from '../support/sign.js';

describe('eth_sendRawTransaction', () => {
  const transfer = (fields: object) =>
    signTransaction(0, { to: stranger('11'), value: 1n, gasLimit: 21_000n, nonce: 0, ...PRICE, ...fields });

  test.each([
    ['is mined meanwhile', 'auto'],
    ['waits in the pool', 'manual'],
  ] as const)('whose answer was lost, and that %s, has been sent', async (_, mining) => {
    const scene = await lightScene({ dev: { chain: { kind: 'devnet', mining } } });
    let lost = 0;
    scene.endpoints[0]!.options.intercept = (response, body) => {
      const isSending = (body as { method?: string }).method === 'eth_sendRawTransaction' && lost++ === 0;
      if (isSending) response.destroy();
      return isSending;
    };
    const raw = transfer({});
    const hash = await scene.ask<Hex>('eth_sendRawTransaction', raw);
    expect(lost).toBe(1);
    expect(await scene.dev.ask('eth_getTransactionByHash', hash)).toMatchObject({ hash });
    // Sent again by the caller, it is refused as before.
    scene.clock.advance(5_000);
    await expect(scene.ask('eth_sendRawTransaction', raw)).rejects.toMatchObject({
      code: mining === 'auto' ? -32001 : -32000,
    });
  });

  test('is handed on, and its hash compared', async () => {
    const scene = await lightScene();
    const hash = await scene.ask<Hex>('eth_sendRawTransaction', transfer({}));
    expect(await scene.dev.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' });
    scene.endpoints[0]!.options.tamper = ({ method }, result) =>
      method === 'eth_sendRawTransaction' ? word(1n) : result;
    scene.clock.advance(5_000);
    await expect(scene.ask('eth_sendRawTransaction', transfer({ nonce: 1 }))).rejects.toThrow();
  });

  test.each([
    ['a nonce that was used', { nonce: 0 }, -32001, 1],
    ['too little gas', { gasLimit: 20_000n }, -32003, 0],
    ['more than the sender has', { value: 10n ** 30n }, -32000, 0],
    ['a price below what the operator asks', { maxFeePerGas: 8n, maxPriorityFeePerGas: 1n }, -32000, 0],
  ] as const)('%s is refused before anything is sent', async (_, fields, code, sent) => {
    const scene = await lightScene();
    for (let nonce = 0; nonce < sent; nonce++) await scene.dev.transfer(0, { nonce });
    await expect(scene.ask('eth_sendRawTransaction', transfer(fields))).rejects.toMatchObject({ code });
    expect(scene.endpoints.flatMap(({ seen }) => seen.flat()).map(({ method }) => method)).not.toContain(
      'eth_sendRawTransaction',
    );
  });
});
