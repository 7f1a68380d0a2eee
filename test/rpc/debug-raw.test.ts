import { keccak256 } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { accountAt, PRICE, stranger } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';
import { signTransaction } from '../support/sign.js';

describe('raw blocks and their parts', () => {
  test('are what hashes are made of, on a devnet and proved on a light node', async () => {
    const { dev, light, ask, endpoints } = await lightScene({ endpoints: [{}] });
    const heard: AnswerReport[] = [];
    light.on('answer', (report) => heard.push(report));
    const raw = signTransaction(0, { nonce: 0, to: stranger('11'), value: 1n, gasLimit: 21_000n, ...PRICE });
    const hash = await dev.ask<Hex>('eth_sendRawTransaction', raw);
    const block = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
    for (const asked of [ask, dev.ask]) {
      for (const reference of ['0x1', 'latest', block.hash, { blockNumber: '0x1' }]) {
        const header = await asked<Hex>('debug_getRawHeader', reference);
        expect(keccak256(header)).toBe(block.hash);
        const whole = await asked<Hex>('debug_getRawBlock', reference);
        expect(whole).toContain(header.slice(2));
        expect(whole).toContain(raw.slice(2));
        const receipts = await asked<Hex[]>('debug_getRawReceipts', reference);
        expect(receipts).toHaveLength(1);
        // Type 2; success, gas 21000, an empty bloom, no logs.
        expect(receipts[0]).toBe(`0x02f9010801825208b90100${'00'.repeat(256)}c0`);
      }
      expect(await asked('debug_getRawTransaction', hash)).toBe(raw);
      for (const method of ['Header', 'Block', 'Receipts'])
        expect(await asked(`debug_getRaw${method}`, '0x99'), method).toBeNull();
      expect(await asked('debug_getRawTransaction', block.hash)).toBeNull();
      await expect(asked('debug_getRawBlock', '2x')).rejects.toMatchObject({ code: -32602 });
      await expect(asked('debug_getRawTransaction', accountAt(0))).rejects.toMatchObject({ code: -32602 });
    }
    expect(heard[0]).toMatchObject({ class: 'proved', blocks: [{ number: 1, hash: block.hash }] });
    expect(endpoints[0]!.seen.flat().filter(({ method }) => method.startsWith('debug_'))).toEqual([]);
  });
});
