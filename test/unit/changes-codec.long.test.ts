import { RLP } from '@ethereumjs/rlp';
import { expect, test } from 'vitest';
import { decodeChanges, encodeChanges } from '../../src/chain/devnet/records/record-parts.js';
import type { AccountChange } from '../../src/evm/state-overlay.js';

const word = (value: number) => new Uint8Array(32).fill(value);
const account = (nonce: bigint) => ({ nonce, balance: 10n ** 18n, codeHash: word(7) });

/** Changes with from none to so many slots that lengths take a byte more. */
const changes: AccountChange[] = [0, 1, 3, 200].map((slots, i) => ({
  address: new Uint8Array(20).fill(i),
  before: i % 2 === 0 ? undefined : account(0n),
  after: i === 3 ? undefined : account(BigInt(i)),
  destroyed: i === 3,
  code: i === 1 ? new Uint8Array(60).fill(1) : undefined,
  slots: Array.from({ length: slots }, (_, n) => ({ key: word(n), before: word(0), after: word(n) })),
}));

test.each([0, 1, 4])('%i changes are encoded like @ethereumjs/rlp does, and decoded to the same', (count) => {
  const encoded = encodeChanges(changes.slice(0, count));
  expect(encoded).toEqual(RLP.encode(RLP.decode(encoded)));
  expect(decodeChanges(encoded)).toEqual(changes.slice(0, count));
});

test('there may be more changes than a call can have arguments', () => {
  const change = changes[2]!;
  const one = encodeChanges([change]).length - 3;
  const many = encodeChanges(Array.from({ length: 150_000 }, () => change));
  expect(many.length).toBe(1 + 4 + 150_000 * one);
});
