import fc from 'fast-check';
import { formatUnits } from 'viem';
import { describe, expect, test } from 'vitest';
import { readCall } from '../../src/hosts/cli/call-options.js';
import { servedRequests } from '../../src/hosts/cli/connections.js';
import { decimalText, etherText, oneLine, priceText } from '../../src/hosts/cli/lines.js';

describe('amounts in the command', () => {
  test('are written as viem writes them', () => {
    const amount = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n });
    fc.assert(
      fc.property(amount, fc.integer({ min: 0, max: 80 }), (value, decimals) => {
        expect(decimalText(value, decimals)).toBe(formatUnits(value, decimals));
      }),
    );
    expect(etherText('0xde0b6b3a7640000')).toBe('1 ETH');
    expect(priceText('7')).toBe('7 wei');
    expect(priceText(20_000_000n)).toBe('0.02 gwei (20000000 wei)');
  });

  test('are read with their units', async () => {
    const values = { value: '0.1ether', gas: '21000', nonce: '0', 'max-fee': '2.5gwei', 'priority-fee': '0x0a' };
    const none = { from: undefined, to: undefined, data: undefined, 'gas-price': undefined, call: undefined };
    expect(await readCall({ ...none, ...values })).toEqual({
      value: '0x16345785d8a0000',
      gas: '0x5208',
      nonce: '0x0',
      maxFeePerGas: '0x9502f900',
      maxPriorityFeePerGas: '0xa',
    });
    for (const value of ['', '-1', '1.', '.5', '1e18', '1.5', '0.1234567891234567891ether', '0x', '5 gwei', '1kwei'])
      await expect(readCall({ ...none, ...values, value }), value).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
  });
});

test('text of others stays one line of printable ASCII, and bounded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 50 }), (text, length) => {
      const line = oneLine(text, length);
      expect(line).toMatch(/^[\x20-\x7e]*$/);
      expect(line.length).toBeLessThanOrEqual(length * '\\u{10ffff}'.length + 3);
    }),
  );
  expect(oneLine('plain text')).toBe('plain text');
  expect(oneLine('a\u202eb')).toBe('a\\u{202e}b');
});

describe('requests that a server has answered', () => {
  const how = { transport: 'http', layer: 'l2', began: 0 } as const;
  const report = (method: string) => ({ method, class: 'held', blocks: [] }) as const;
  const success = (id: number) => ({ jsonrpc: '2.0', id, result: null }) as const;
  const failure = (id: number | null) => ({
    jsonrpc: '2.0' as const,
    id,
    error: { code: -32_601, message: 'no', reason: 'METHOD_NOT_FOUND' as const, details: { method: 'x' } },
  });

  test('of a batch have the class or the error of their own answer', () => {
    const payload = [{ id: 1, method: 'a' }, { method: 'a' }, { id: 2, method: 'x' }, { id: 3, method: 'b' }, 5];
    const body = [success(1), failure(2), success(3), failure(null)];
    const requests = servedRequests(how, payload, { body, reports: [report('a'), report('b')] });
    expect(requests).toMatchObject([
      { method: 'a', class: 'held' },
      { method: 'a' },
      { method: 'x', error: { code: -32_601 } },
      { method: 'b', class: 'held' },
      { error: { code: -32_601 } },
    ]);
    expect(requests[1]).not.toHaveProperty('class');
    expect(requests[2]).not.toHaveProperty('class');
    expect(requests[4]).not.toHaveProperty('method');
  });

  test('of any payload are as many as it has, and nothing throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (payload) => {
        expect(servedRequests(how, payload, { body: failure(null) })).toHaveLength(1);
        const count = Array.isArray(payload) ? payload.length : 1;
        expect(servedRequests(how, payload, { body: [] })).toHaveLength(count);
      }),
    );
  });
});
