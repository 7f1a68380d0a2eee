import { describe, expect, test, vi } from 'vitest';
import { loadSignerRecovery, signerOf } from '../../src/ethereum/signer.js';
import { loadRecovery } from '../../src/kernel/recovery.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const PRIME = 2n ** 256n - 2n ** 32n - 977n;

const kernel = await loadRecovery();

/** The key as hex, for numbers. */
function keyOf(hash: bigint, r: bigint, s: bigint, yParity: 0 | 1): string | undefined {
  const [hashBytes, rBytes, sBytes] = [hash, r, s].map((value) => bigIntToBytes(value, 32));
  const key = kernel(hashBytes!, rBytes!, sBytes!, yParity);
  return key && bytesToHex(key);
}

/**
 * Signatures with the key that made them, or its address. neo: UT_Crypto.cs of neo-project/neo, with the x of the key and the
 * parity of its y; go-ethereum: core/vm/testdata/precompiles/ecRecover.json of ethereum/go-ethereum, `ValidKey`, whose s is
 * in the upper half; cosmwasm: packages/crypto of CosmWasm/cosmwasm.
 */
const NEO = {
  hash: '0x5ae8317d34d1e595e3fa7247db80c0af4320cce1116de187f8f7e2e099c0d8d0',
  r: '0x45c0b7f8c09a9e1f1cea0c25785594427b6bf8f9f878a8af0b1abbb48e16d092',
  s: '0x0d8becd0c220f67c51217eecfd7184ef0732481c843857e6bc7fc095c4f6b788',
  x: '4a071e8a6e10aada2b8cf39fa3b5fb3400b04e99ea8ae64ceea1a977dbeaf5d5',
} as const;
const GETH = {
  hash: '0x18c547e4f7b0f325ad1e56f57e26c745b09a3e503d86e00e5255ff7f715d3d1c',
  r: '0x73b1693892219d736caba55bdb67216e485557ea6b6af75f37096c9aa6a5a75f',
  s: '0xeeb940b1d03b21e36b0e47e79769f095fe2ab855bd91e3a38756b7d75a9c4549',
  address: '0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b',
} as const;
const COSMWASM = {
  hash: NEO.hash,
  r: '0x207082eb2c3dfa0b454e0906051270ba4074ac93760ba9e7110cd94714751111',
  s: '0x51eb0dbbc9920e72146fb564f99d039802bf6ef2561446eb126ef364d21ee9c4',
  key: '0x051c1ee2190ecfb174bfe4f90763f2b4ff7517b70a2aec1876ebcfd644c4633fb03f3cfbd94b1f376e34592d9d41ccaf640bb751b00a1fadeb0c01157769eb73',
} as const;

/** Multiples of the base point, as published for implementers: https://crypto.stackexchange.com/questions/784. */
const MULTIPLES: readonly [factor: bigint, x: bigint, y: bigint][] = [
  [
    1n,
    0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
    0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  ],
  [
    2n,
    0xc6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5n,
    0x1ae168fea63dc339a3c58419466ceaeef7f632653266d0e1236431a950cfe52an,
  ],
  [
    3n,
    0xf9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9n,
    0x388f7b0f632de8140fe337e62a37f3566500a99934c2231b6cb9fd7584b8e672n,
  ],
  [
    20n,
    0x4ce119c96e2fa357200b559b2f7dd5a5f02d5290aff74b03f3e471b273211c97n,
    0x12ba26dcb10ec1625da61fa10a844c676162948271d96967450288ee9233dc3an,
  ],
  [
    112_233_445_566_778_899n,
    0xa90cc3d3f3e146daadfc74ca1372207cb4b725ae708cef713a98edd73d99ef29n,
    0x5a79d6b289610c68bc3b47f3d72f9788a26a06868b4d8e433e1e2ad76fb7dc76n,
  ],
  [
    ORDER - 1n,
    0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
    0xb7c52588d95c3b9aa25b0403f1eef75702e84bb7597aabe663b82f6f04ef2777n,
  ],
];
const [, BASE_X] = MULTIPLES[0]!;
const below = (value: bigint) => ((value % ORDER) + ORDER) % ORDER;
const parityOf = (y: bigint) => Number(y & 1n) as 0 | 1;
const keyText = (x: bigint, y: bigint) => bytesToHex(bigIntToBytes((x << 256n) | y, 64));

describe('published signatures', () => {
  const parts = ({ hash, r, s }: Record<'hash' | 'r' | 's', `0x${string}`>) =>
    [hexToBytes(hash), hexToBytes(r), hexToBytes(s)] as const;

  test('of neo', () => {
    const key = bytesToHex(kernel(...parts(NEO), 1)!);
    expect(key.slice(2, 66)).toBe(NEO.x);
    expect(BigInt(`0x${key.slice(66)}`) & 1n).toBe(1n);
  });

  test('of cosmwasm', () => {
    const keys = ([0, 1] as const).map((parity) => bytesToHex(kernel(...parts(COSMWASM), parity)!));
    expect(keys).toContain(COSMWASM.key);
  });

  test('of go-ethereum, as an address', async () => {
    await loadSignerRecovery();
    expect(bytesToHex(signerOf(...parts(GETH), 1)!)).toBe(GETH.address);
    expect(bytesToHex(signerOf(...parts(GETH), 0)!)).not.toBe(GETH.address);
  });

  test('of go-ethereum, before the kernel is there: refused, and a load that failed is tried again', async () => {
    // An instance of its own: that of the other tests has its kernel.
    const path = '../../src/ethereum/signer.js?before';
    const signer: typeof import('../../src/ethereum/signer.js') = await import(path);
    expect(signer.signerOf).not.toBe(signerOf);
    const unavailable = expect.objectContaining({ code: 'KERNEL_UNAVAILABLE' });
    expect(() => signer.signerOf(...parts(GETH), 1)).toThrow(unavailable);
    vi.stubGlobal('WebAssembly', undefined);
    try {
      await expect(signer.loadSignerRecovery()).rejects.toThrow(unavailable);
      expect(() => signer.signerOf(...parts(GETH), 1)).toThrow(unavailable);
    } finally {
      vi.unstubAllGlobals();
    }
    await signer.loadSignerRecovery();
    expect(bytesToHex(signer.signerOf(...parts(GETH), 1)!)).toBe(GETH.address);
  });

  test('of go-ethereum, where no key can be', () => {
    const r = 0x3078356531653033663533636531386237373263636230303933666637316633n;
    const s = 0x6633663533663563373562373464636233316138356161386238383932623465n;
    const hash = 0xa8b53bdf3306a35a7103ab5504a0c9b492295564b6202b1942a84ef300107281n;
    expect(keyOf(hash, r, s, 0)).toBeUndefined();
  });
});

describe('a key that is a published multiple of the base point', () => {
  /** A signature of the key `factor * G` whose point R is `nonce * G`: s = (hash + r factor) / nonce. */
  const cases = MULTIPLES.flatMap(([nonce, r, y]) =>
    MULTIPLES.map(([factor, keyX, keyY]) => ({ nonce, r, y, factor, key: keyText(keyX, keyY) })),
  );

  test.each(cases)('nonce $nonce, key $factor', ({ nonce, r, y, factor, key }) => {
    for (const hash of [0n, 1n, below(-r * factor + nonce), ORDER - 1n, ORDER, 2n ** 256n - 1n]) {
      const s = below((hash + r * factor) * inverse(nonce));
      expect(keyOf(hash, below(r), s, parityOf(y))).toBe(s === 0n ? undefined : key);
    }
  });
});

describe('no key', () => {
  test.each([
    ['r is 0', 1n, 0n, 1n],
    ['r is n', 1n, ORDER, 1n],
    ['r is above n, and the x of a point', 1n, ORDER + 2n, 1n],
    ['r is p', 1n, PRIME, 1n],
    ['r is the largest number', 1n, 2n ** 256n - 1n, 1n],
    ['s is 0', 1n, BASE_X, 0n],
    ['s is n', 1n, BASE_X, ORDER],
    ['s is the largest number', 1n, BASE_X, 2n ** 256n - 1n],
    ['no point has the x 5', 1n, 5n, 1n],
  ])('%s', (_, hash, r, s) => {
    expect(keyOf(hash, r, s, 0)).toBeUndefined();
    expect(keyOf(hash, r, s, 1)).toBeUndefined();
  });

  test.each(MULTIPLES.map(([nonce, r, y]) => ({ nonce, r, y })))(
    'it would be infinity, nonce $nonce',
    ({ nonce, r, y }) => {
      for (const hash of [1n, 2n, 7n ** 80n, ORDER - 1n]) {
        const s = below(hash * inverse(nonce));
        expect(keyOf(below(hash), r, s, parityOf(y))).toBeUndefined();
        expect(keyOf(below(hash), r, s, y % 2n === 0n ? 1 : 0)).toBeDefined();
      }
    },
  );
});

test('a key stays as it was when another one is recovered', () => {
  const of = ({ hash, r, s }: typeof COSMWASM | typeof NEO) =>
    kernel(hexToBytes(hash), hexToBytes(r), hexToBytes(s), 1)!;
  const first = of(NEO);
  expect(of(COSMWASM)).not.toEqual(first);
  expect(bytesToHex(first).slice(2, 66)).toBe(NEO.x);
});

test('a part of another length is refused', () => {
  const [word, short] = [new Uint8Array(32), new Uint8Array(31)];
  expect(() => kernel(short, word, word, 0)).toThrow('hash: expected 32 bytes, got 31');
  expect(() => kernel(word, short, word, 0)).toThrow('r: expected 32 bytes, got 31');
  expect(() => signerOf(word, word, short, 0)).toThrow('s: expected 32 bytes, got 31');
});

/** Modulo n, by Fermat. */
function inverse(value: bigint): bigint {
  let [result, power] = [1n, below(value)];
  for (let exponent = ORDER - 2n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = below(result * power);
    power = below(power * power);
  }
  return result;
}
