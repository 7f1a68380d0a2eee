import { toBytes, toHex } from 'viem';
import { packetToBytes, namehash as viemNamehash } from 'viem/ens';
import { describe, expect, test } from 'vitest';
import { dnsEncode, namehash, parentOf, reverseName } from '../../src/chain/names.js';
import { bytesToHex } from '../../src/primitives/hex.js';

const NAMES = ['', 'eth', 'vitalik.eth', 'a.b.c.d.e.eth', '🏴‍☠.eth', 'öbb.at', `${'a'.repeat(255)}.eth`];

describe('namehash()', () => {
  test.each([
    // @source EIP-137, namehash algorithm
    ['', '0x0000000000000000000000000000000000000000000000000000000000000000'],
    ['eth', '0x93cdeb708b7545dc668eb9280176169d1c33cfd8ed6f04690a0bcc88a93fc4ae'],
    ['foo.eth', '0xde9b09fd7c5f901e23a3f19fecc54828e9c848539801e86591bd9801b019f84f'],
    // @source ensdomains/ens-contracts contracts/reverseResolver/ETHReverseResolver.sol, ADDR_REVERSE_NODE
    ['addr.reverse', '0x91d1777781884d03a6757a803996e38de2a42967fb37eeaca72729271025a9e2'],
  ])('of %j is that of its specification', (name, hash) => {
    expect(bytesToHex(namehash(name))).toBe(hash);
  });

  test.each(NAMES)('of %j is that of viem', (name) => {
    expect(bytesToHex(namehash(name))).toBe(viemNamehash(name));
  });
});

describe('dnsEncode()', () => {
  test.each(NAMES)('of %j is that of viem', (name) => {
    expect(bytesToHex(dnsEncode(name)!)).toBe(toHex(packetToBytes(name)));
  });

  test.each([
    ['a label of 256 bytes', `${'a'.repeat(256)}.eth`],
    ['a label without bytes', 'a..eth'],
    ['1001 bytes', 'a.'.repeat(499).concat('ab')],
  ])('gives nothing for %s', (_, name) => {
    expect(dnsEncode(name)).toBeUndefined();
  });

  test('has up to 1000 bytes', () => {
    expect(dnsEncode('a.'.repeat(498).concat('aa'))).toHaveLength(1_000);
  });
});

test('a reverse name ends in the namespace of its coin type', () => {
  // @source ENSIP-3; ENSIP-19, examples of valid reverse names
  const address = '0f32b753afc8abad9ca6fe589f707755f4df2353';
  expect(toBytes(`0x${address}`)).toHaveLength(20);
  expect(reverseName(address, 60)).toBe(`${address}.addr.reverse`);
  expect(reverseName(address, 0x8000_0000 + 42_161)).toBe(`${address}.8000a4b1.reverse`);
  expect(reverseName(address, 0x8000_0000 + 10)).toBe(`${address}.8000000a.reverse`);
  expect(reverseName(address, 0x8000_0000)).toBe(`${address}.default.reverse`);
});

test('the parent of a name is what follows its first label', () => {
  expect(['a.b.eth', 'eth', ''].map(parentOf)).toEqual(['b.eth', '', '']);
});
