import { TypedDataEncoder } from 'ethers';
import fc from 'fast-check';
import { getTypesForEIP712Domain, hashTypedData as hashByViem, type TypedDataDomain, toHex } from 'viem';
import { expect, test } from 'vitest';
import { hashTypedData } from '../../src/ethereum/typed-data.js';
import { bytesToHex } from '../../src/primitives/hex.js';

const SEED = Number(process.env.PLUMBLINE_SEED ?? 712);
const RUNS = Number(process.env.PLUMBLINE_COUNT ?? 300);

type Fields = { name: string; type: string }[];
interface Typed {
  readonly types: Record<string, Fields>;
  readonly domain: TypedDataDomain;
  readonly message: Record<string, unknown>;
}

const hex = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => toHex(bytes));
const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => 8 * bytes);
/** Integers as decimal or hex strings. */
const shown = (value: bigint) => fc.constantFrom(value.toString(), ...(value >= 0n ? [`0x${value.toString(16)}`] : []));

/** A basic type with a value of it. */
const basic: fc.Arbitrary<[type: string, value: unknown]> = fc.oneof(
  fc.tuple(fc.constant('string'), fc.string({ unit: 'grapheme' })),
  fc.tuple(fc.constant('bool'), fc.boolean()),
  fc.tuple(
    fc.constant('bytes'),
    fc.uint8Array().map((bytes) => toHex(bytes)),
  ),
  fc.tuple(fc.constant('address'), hex(20)),
  fc.integer({ min: 1, max: 32 }).chain((n) => fc.tuple(fc.constant(`bytes${n}`), hex(n))),
  bits.chain((n) =>
    fc
      .bigInt({ min: 0n, max: 2n ** BigInt(n) - 1n })
      .chain(shown)
      .map((value): [string, unknown] => [`uint${n}`, value]),
  ),
  bits.chain((n) =>
    fc
      .bigInt({ min: -(2n ** BigInt(n - 1)), max: 2n ** BigInt(n - 1) - 1n })
      .chain(shown)
      .map((value): [string, unknown] => [`int${n}`, value]),
  ),
);

/** A type with a value, among structs of the names that are left: basic, an array, or a struct. */
function value(
  names: readonly string[],
  depth: number,
): fc.Arbitrary<{ type: string; value: unknown; types: Record<string, Fields> }> {
  const plain = basic.map(([type, one]) => ({ type, value: one, types: {} }));
  if (depth === 0 || names.length === 0) return plain;
  const list = fc
    .tuple(value([], 0), fc.boolean(), fc.integer({ min: 0, max: 3 }))
    .map(([{ type, value: one }, fixed, n]) => ({
      type: `${type}[${fixed ? n : ''}]`,
      value: Array.from({ length: n }, () => one),
      types: {},
    }));
  const nested = list.map(({ type, value: one }) => ({ type: `${type}[2]`, value: [one, one], types: {} }));
  const record = struct(names, depth - 1).map(({ name, types, message }) => ({ type: name, value: message, types }));
  const records = record.map(({ type, value: one, types }) => ({ type: `${type}[]`, value: [one, one], types }));
  return fc.oneof(plain, list, nested, record, records);
}

function struct(
  names: readonly string[],
  depth: number,
): fc.Arbitrary<{ name: string; types: Record<string, Fields>; message: Record<string, unknown> }> {
  const [name, ...rest] = names;
  // Each member has names of its own for its structs.
  const members = fc.integer({ min: 0, max: 4 }).chain((count) =>
    fc.tuple(
      ...Array.from({ length: count }, (_, i) =>
        value(
          rest.map((one) => `${one}${i}`),
          depth,
        ),
      ),
    ),
  );
  return members.map((all) => ({
    name: name!,
    types: Object.assign(
      { [name!]: all.map(({ type }, i) => ({ name: `m${i}`, type })) },
      ...all.map(({ types }) => types),
    ) as Record<string, Fields>,
    message: Object.fromEntries(all.map((one, i) => [`m${i}`, one.value])),
  }));
}

const domains: fc.Arbitrary<TypedDataDomain> = fc.record(
  {
    name: fc.string({ minLength: 1 }),
    version: fc.string({ minLength: 1 }),
    chainId: fc.nat(),
    verifyingContract: hex(20),
    salt: hex(32),
  },
  { requiredKeys: [] },
);

const typedData: fc.Arbitrary<Typed> = fc
  .tuple(struct(['Top', 'Zeta', 'Alpha', 'Mid'], 3), domains)
  .map(([{ types, message }, domain]) => ({ types, domain, message }));

const ours = ({ types, domain, message }: Typed, primaryType = 'Top') =>
  bytesToHex(
    hashTypedData({
      types: { ...types, EIP712Domain: getTypesForEIP712Domain({ domain }) },
      primaryType,
      domain,
      message,
    }),
  );

test('random typed data has the hash that ethers and viem give it', () => {
  const check = (typed: Typed) => {
    const hash = ours(typed);
    expect(hash).toBe(TypedDataEncoder.hash(typed.domain as never, typed.types, typed.message));
    expect(hash).toBe(hashByViem({ ...typed, primaryType: 'Top' } as never));
  };
  fc.assert(fc.property(typedData, check), { seed: SEED, numRuns: RUNS });
});

test('the example of EIP-712', () => {
  const person = (name: string, wallet: string) => ({ name, wallet });
  const typed = {
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
      Person: [
        { name: 'name', type: 'string' },
        { name: 'wallet', type: 'address' },
      ],
      Mail: [
        { name: 'from', type: 'Person' },
        { name: 'to', type: 'Person' },
        { name: 'contents', type: 'string' },
      ],
    },
    primaryType: 'Mail',
    domain: {
      name: 'Ether Mail',
      version: '1',
      chainId: 1,
      verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
    },
    message: {
      from: person('Cow', '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826'),
      to: person('Bob', '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB'),
      contents: 'Hello, Bob!',
    },
  };
  // Of the EIP, assets/eip-712/Example.js.
  expect(bytesToHex(hashTypedData(typed))).toBe('0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2');
});

test('recursive types, and a domain that is the message', () => {
  const types = {
    Node: [
      { name: 'value', type: 'uint8' },
      { name: 'next', type: 'Node[]' },
    ],
  };
  const message = { value: 1, next: [{ value: 2, next: [] }] };
  const domain = { name: 'list' };
  const data = { types: { ...types, EIP712Domain: [{ name: 'name', type: 'string' }] }, domain, message };
  expect(bytesToHex(hashTypedData({ ...data, primaryType: 'Node' }))).toBe(
    hashByViem({ types, domain, message, primaryType: 'Node' } as never),
  );
  expect(bytesToHex(hashTypedData({ ...data, primaryType: 'EIP712Domain' }))).toBe(
    hashByViem({
      types: { EIP712Domain: [{ name: 'name', type: 'string' }] },
      domain,
      primaryType: 'EIP712Domain',
    } as never),
  );
});
