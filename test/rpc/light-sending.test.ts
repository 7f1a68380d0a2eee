import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, PRICE, stranger, word } from '../support/dev-node.js';
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

  test('is forwarded, and the hash that comes back is compared', async () => {
    const scene = await lightScene();
    const hash = await scene.ask<Hex>('eth_sendRawTransaction', transfer({}));
    expect(await scene.dev.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' });
    scene.endpoints[0]!.options.tamper = ({ method }, result) =>
      method === 'eth_sendRawTransaction' ? word(1n) : result;
    scene.clock.advance(5_000);
    await expect(scene.ask('eth_sendRawTransaction', transfer({ nonce: 1 }))).rejects.toThrow();
  });

  test('counts for the nonce at `pending` from then on, until it is in a block or a minute has passed', async () => {
    const scene = await lightScene({ dev: { chain: { kind: 'devnet', mining: 'manual' } } });
    const sender = accountAt(0);
    const nonces = async () => [
      Number(await scene.ask('eth_getTransactionCount', sender, 'latest')),
      Number(await scene.ask('eth_getTransactionCount', sender, 'pending')),
    ];
    expect(await nonces()).toEqual([0, 0]);
    const hash = await scene.ask<Hex>('eth_sendRawTransaction', transfer({}));
    expect(await nonces()).toEqual([0, 1]);
    expect(await scene.ask('eth_getTransactionByHash', hash)).toEqual(
      await scene.dev.ask('eth_getTransactionByHash', hash),
    );
    expect(await scene.ask('eth_getTransactionReceipt', hash)).toBeNull();
    await scene.ask('eth_sendRawTransaction', transfer({ nonce: 1 }));
    await scene.ask('eth_sendRawTransaction', transfer({ nonce: 3 }));
    expect(await nonces()).toEqual([0, 2]);
    expect(await scene.ask('eth_getTransactionCount', accountAt(1), 'pending')).toBe('0x0');
    await scene.dev.ask('evm_mine');
    scene.clock.advance(5_000);
    expect(await nonces()).toEqual([2, 2]);
    await scene.ask('eth_sendRawTransaction', transfer({ nonce: 2 }));
    expect(await nonces()).toEqual([2, 4]);
    // No report names one that was left out.
    scene.clock.advance(120_000);
    expect(await nonces()).toEqual([2, 2]);
    await expect(scene.ask('eth_sendRawTransaction', transfer({ gasLimit: 20_000n, nonce: 2 }))).rejects.toThrow();
    expect(await nonces()).toEqual([2, 2]);
  });

  test.each([
    ['a nonce that was used', { nonce: 0 }, -32001, 1],
    ['too little gas', { gasLimit: 20_000n }, -32003, 0],
    ['more than the sender has', { value: 10n ** 30n }, -32004, 0],
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
