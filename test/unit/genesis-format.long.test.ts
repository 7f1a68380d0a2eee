import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  allocAsStored,
  devAlloc,
  type GenesisAlloc,
  genesisChanges,
  genesisIdentity,
  messagesAlloc,
} from '../../src/chain/devnet/state/genesis.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';

/* A stored genesis may be of an earlier format, and may have more accounts than a call takes arguments. */

const many = Object.fromEntries(
  Array.from({ length: 150_000 }, (_, i) => [`0x${(i + 1).toString(16).padStart(40, '0')}`, { balance: BigInt(i) }]),
) as GenesisAlloc;
/** Of EIP-4788 and EIP-2935: they came with the second format. */
const isOfSystem = (at: string) => /^0x000(?:f3df6|0f908)/i.test(at);
const withSystem: GenesisAlloc = { ...many, ...devAlloc() };
const formats: readonly GenesisAlloc[] = [
  Object.fromEntries(Object.entries(withSystem).filter(([at]) => !isOfSystem(at))),
  withSystem,
  { ...withSystem, ...messagesAlloc(devnet()) },
];

test.each([0, 1, 2])('of 150 000 accounts, stored with format %i + 1', (format) => {
  const stored = genesisChanges(formats[format]!);
  expect(Object.keys(allocAsStored(formats[2]!, stored)).length).toBe(Object.keys(formats[format]!).length);
  // The newest one is taken as it is.
  expect(allocAsStored(formats[2]!, stored) === formats[2]).toBe(format === 2);
});

test('the identity is the hash of a line for each account, by address', () => {
  const alloc = {
    [`0x${'BB'.repeat(20)}`]: { balance: 7n, code: '0xAB', storage: { '0x02': '0xFF', '0x01': '0x1' } },
    [`0x${'aa'.repeat(20)}`]: { nonce: 3n },
  } as GenesisAlloc;
  const lines = [`0x${'aa'.repeat(20)} 0 3 0x\n`, `0x${'bb'.repeat(20)} 7 0 0xab 0x01=0x1 0x02=0xff\n`];
  const of = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(Buffer.from(genesisIdentity(alloc)).toString('hex')).toBe(of(lines.join('')));
  const all = Object.entries(many as Record<Hex, { balance: bigint }>).map(
    ([at, { balance }]) => `${at} ${balance} 0 0x\n`,
  );
  expect(Buffer.from(genesisIdentity(many)).toString('hex')).toBe(of(all.join('')));
});
