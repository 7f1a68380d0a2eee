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
