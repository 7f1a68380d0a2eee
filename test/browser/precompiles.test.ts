import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// The built package: the worker's bundle leaves out of the interpreter what is loaded when it is called.
import { createNode, type PlumblineNode } from '../../dist/index.js';

let node: PlumblineNode;

beforeAll(async () => {
  node = await createNode();
});

afterAll(() => node.close());

const call = (precompile: number, data: string) =>
  node.request({
    method: 'eth_call',
    params: [{ to: `0x${precompile.toString(16).padStart(40, '0')}`, data: `0x${data}` }, 'latest'],
  });

const word = (hex: string) => hex.padStart(64, '0');
const field = (hex: string) => hex.padStart(128, '0');

describe('precompiles over curves, in a real worker', () => {
  test('BN254: twice the generator (go-ethereum, core/vm/testdata/precompiles/bn256Add.json)', async () => {
    const generator = word('1') + word('2');
    expect(await call(0x06, generator + generator)).toBe(
      '0x030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd315ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4',
    );
    expect(await call(0x07, generator + word('2'))).toBe(await call(0x06, generator + generator));
    expect(await call(0x08, '')).toBe(`0x${word('1')}`);
  });

  test('BLS12-381: the generator and the point at infinity (EIP-2537)', async () => {
    const generator =
      field('17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb') +
      field('08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1');
    expect(await call(0x0b, generator + field('0') + field('0'))).toBe(`0x${generator}`);
    expect(await call(0x0c, generator + word('1'))).toBe(`0x${generator}`);
  });
});

describe('other precompiles that are loaded when a contract calls them, in a real worker', () => {
  test('ECRECOVER, and nothing for a bad v (go-ethereum, core/vm/testdata/precompiles/ecRecover.json)', async () => {
    const hash = '18c547e4f7b0f325ad1e56f57e26c745b09a3e503d86e00e5255ff7f715d3d1c';
    const signature =
      '73b1693892219d736caba55bdb67216e485557ea6b6af75f37096c9aa6a5a75feeb940b1d03b21e36b0e47e79769f095fe2ab855bd91e3a38756b7d75a9c4549';
    expect(await call(0x01, hash + word('1c') + signature)).toBe(
      `0x${word('a94f5374fce5edbc8e2a8697c15331677e6ebf0b')}`,
    );
    expect(await call(0x01, hash + word('1d') + signature)).toBe('0x');
  });

  test('SHA256 and RIPEMD160 of nothing', async () => {
    expect(await call(0x02, '')).toBe('0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(await call(0x03, '')).toBe(`0x${word('9c1185a5c5e9fc54612808977ee8f548b2258d31')}`);
  });

  test('MODEXP: the first example of EIP-198', async () => {
    const exponent = 'fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2e';
    const modulus = 'fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f';
    const lengths = word('1') + word('20') + word('20');
    expect(await call(0x05, `${lengths}03${exponent}${modulus}`)).toBe(`0x${word('1')}`);
  });

  test('BLAKE2F: vector 5 of EIP-152, which is BLAKE2b-512 of abc (RFC 7693, A; openssl)', async () => {
    const state =
      '48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b';
    const input = `0000000c${state}616263${'00'.repeat(125)}0300000000000000${'00'.repeat(8)}01`;
    expect(await call(0x09, input)).toBe(
      '0xba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923',
    );
  });
});
