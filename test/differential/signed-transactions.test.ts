import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { RLP } from '@ethereumjs/rlp';
import { createTx, createTxFromRLP, type TypedTransaction } from '@ethereumjs/tx';
import { eoaCode7702SignAuthorization, type KZG } from '@ethereumjs/util';
import { describe, expect, test } from 'vitest';
import { isPlumblineError } from '../../src/errors.js';
import { loadSignerRecovery } from '../../src/ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../../src/ethereum/transaction.js';
import { bytesToBigInt, concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';

type Item = Uint8Array | Item[];
type Random = ReturnType<typeof seededRandom>;

const CHAIN = 59_139;
const TYPES = [0, 1, 2, 3, 4] as const;
/** Decoding a blob transaction asks for the library of blobs, and calls none of its functions. */
const kzg = {} as KZG;
const common = new Common({ chain: { ...Mainnet, chainId: CHAIN }, hardfork: Hardfork.Prague, customCrypto: { kzg } });
/** Before EIP-155 became a rule for signers. */
const unprotected = new Common({ chain: { ...Mainnet, chainId: CHAIN }, hardfork: Hardfork.TangerineWhistle });

await loadSignerRecovery();

const randomBytes = (random: Random, length: number) => Uint8Array.from({ length }, () => random(256));
const randomHex = (random: Random, length: number): Hex => bytesToHex(randomBytes(random, length));

/** Of any length up to the limit; short ones are frequent. */
function integer(random: Random, limit: number): bigint {
  const short = random(3) === 0 ? limit : Math.min(limit, 4);
  return bytesToBigInt(randomBytes(random, random(short + 1)));
}

function accessList(random: Random) {
  return Array.from({ length: random(4) }, () => ({
    address: randomHex(random, 20),
    storageKeys: Array.from({ length: random(3) }, () => randomHex(random, 32)),
  }));
}

function authorization(random: Random) {
  const fields = [randomBytes(random, random(3)), randomBytes(random, 20), randomBytes(random, random(3))] as const;
  return eoaCode7702SignAuthorization([...fields], randomBytes(random, 32));
}

/** A valid transaction, signed by @ethereumjs/tx. */
function some(random: Random, type: (typeof TYPES)[number]): Uint8Array {
  const [price, tip] = [integer(random, 20), integer(random, 20)].sort((a, b) => (a > b ? -1 : 1));
  const mayCreate = type < 3;
  const tx = createTx(
    {
      type,
      nonce: integer(random, 7),
      gasLimit: integer(random, 8),
      ...((!mayCreate || random(5) > 0) && { to: randomHex(random, 20) }),
      value: integer(random, 32),
      data: randomBytes(random, random(4) === 0 ? random(400) : random(60)),
      ...(type > 0 && { chainId: CHAIN, accessList: accessList(random) }),
      ...(type < 2 ? { gasPrice: price! } : { maxFeePerGas: price!, maxPriorityFeePerGas: tip! }),
      ...(type === 3 && {
        maxFeePerBlobGas: integer(random, 32),
        blobVersionedHashes: Array.from({ length: 1 + random(6) }, () => `0x01${randomHex(random, 31).slice(2)}`),
      }),
      ...(type === 4 && { authorizationList: Array.from({ length: 1 + random(3) }, () => authorization(random)) }),
    } as Parameters<typeof createTx>[0],
    { common: type === 0 && random(3) === 0 ? unprotected : common },
  );
  return tx.sign(randomBytes(random, 32)).serialize();
}

type Comparable = Omit<SignedTransaction, 'raw' | 'impersonated'>;

/** What @ethereumjs/tx makes of it; undefined if it refuses. */
function byLibrary(raw: Uint8Array): Comparable | undefined {
  let tx: TypedTransaction;
  let from: Uint8Array;
  try {
    tx = createTxFromRLP(raw, { common });
    from = tx.getSenderAddress().bytes;
  } catch {
    return undefined;
  }
  const isUnprotected = tx.v === 27n || tx.v === 28n;
  return {
    type: tx.type,
    hash: tx.hash(),
    from,
    to: tx.to?.bytes,
    nonce: tx.nonce,
    gasLimit: tx.gasLimit,
    gasPrice: 'gasPrice' in tx ? tx.gasPrice : undefined,
    maxFeePerGas: 'maxFeePerGas' in tx ? tx.maxFeePerGas : undefined,
    maxPriorityFeePerGas: 'maxPriorityFeePerGas' in tx ? tx.maxPriorityFeePerGas : undefined,
    value: tx.value,
    data: tx.data,
    chainId: isUnprotected ? undefined : tx.common.chainId(),
    accessList:
      'accessList' in tx ? tx.accessList.map(([address, storageKeys]) => ({ address, storageKeys })) : undefined,
    authorizationList:
      'authorizationList' in tx
        ? tx.authorizationList.map(([chainId, address, ...rest]) => {
            const [nonce, yParity, r, s] = rest.map((one) => bytesToBigInt(one));
            return { chainId: bytesToBigInt(chainId), address, nonce: nonce!, yParity: yParity!, r: r!, s: s! };
          })
        : undefined,
    ...('blobVersionedHashes' in tx && {
      maxFeePerBlobGas: tx.maxFeePerBlobGas,
      blobVersionedHashes: tx.blobVersionedHashes.map((hash) => hexToBytes(hash)),
    }),
    v: tx.v!,
    r: tx.r!,
    s: tx.s!,
  };
}

/** What we make of it, or the rule it breaks. */
function byUs(raw: Uint8Array): Comparable | string {
  try {
    const { raw: kept, ...fields } = parseSignedTransaction(raw, CHAIN, { blobs: true });
    expect(bytesToHex(kept)).toBe(bytesToHex(raw));
    return fields;
  } catch (error) {
    if (isPlumblineError(error, 'TRANSACTION_REJECTED')) return error.details.rule;
    throw error;
  }
}

/**
 * What a transaction has that the library takes and we refuse. In each, what is hashed or signed by the library is not what
 * was sent, or has no meaning.
 */
function refusedOnPurpose(raw: Uint8Array): string | undefined {
  const type = raw[0]!;
  if (type > 4) return undefined;
  const items = RLP.decode(raw.subarray(1)) as Item[];
  // EIP-1559 and the others: chain_id is an integer, and RLP has integers without leading zeros.
  if ((items[0] as Uint8Array)[0] === 0) return 'chain id with leading zeros';
  const list = items[type === 1 ? 7 : 8]!;
  const isKeys = (keys: Item | undefined) => Array.isArray(keys) && keys.every((key) => !Array.isArray(key));
  const isEntry = (entry: Item) => Array.isArray(entry) && !Array.isArray(entry[0]) && isKeys(entry[1]);
  // EIP-2930: an access list is a list of pairs of an address and a list of storage keys.
  if (!Array.isArray(list) || !list.every(isEntry)) return 'access list of another shape';
  // EIP-4844: the version of a blob hash is 0x01. The library reads the digits of 0x1a to 0x1f as the decimal 1.
  if (type === 3 && (items[10] as Uint8Array[]).some((hash) => hash[0] !== 1)) return 'version of a blob hash';
  return undefined;
}

test.each(TYPES)('type %i: valid transactions have the fields, hash and sender that @ethereumjs/tx finds', (type) => {
  const random = seededRandom(31 + type);
  for (let i = 0; i < 40; i++) {
    const raw = some(random, type);
    expect(byUs(raw)).toEqual(byLibrary(raw));
  }
});

/** Places of items in a tree, by the indexes that lead to them. */
function* placesIn(item: Item, path: readonly number[] = []): Iterable<readonly number[]> {
  yield path;
  if (Array.isArray(item)) for (const [i, one] of item.entries()) yield* placesIn(one, [...path, i]);
}

function replaced(item: Item, path: readonly number[], change: (item: Item) => Item[]): Item[] {
  const [first, ...rest] = path;
  if (first === undefined) return change(item);
  const items = item as Item[];
  return [[...items.slice(0, first), ...replaced(items[first]!, rest, change), ...items.slice(first + 1)]];
}

const MAX = new Uint8Array(40).fill(0xff);
/** Changes of one item: what takes its place. */
const CHANGES: readonly ((item: Item, random: Random) => Item[])[] = [
  () => [],
  () => [[]],
  () => [new Uint8Array(0)],
  (item) => [item, item],
  (item) => [[item]],
  (item) => [Array.isArray(item) ? (item[0] ?? []) : concatBytes(Uint8Array.of(0), item)],
  (item) => [Array.isArray(item) ? [...item, new Uint8Array(0)] : item.subarray(1)],
  (item) => [Array.isArray(item) ? item.slice(1) : concatBytes(item, Uint8Array.of(1))],
  (item) => [Array.isArray(item) ? item : Array.from(item, (byte) => Uint8Array.of(byte))],
  (item, random) => [Array.isArray(item) ? item : concatBytes(Uint8Array.of(random(256)), item.subarray(1))],
  ...[1, 8, 9, 32, 33].map((length) => () => [MAX.subarray(0, length)]),
  () => [concatBytes(MAX.subarray(0, 7), Uint8Array.of(0xfe))],
  ...[0, 1, 2, 26, 27, 28, 29, 35, 36, 37].map((byte) => () => [Uint8Array.of(byte)]),
];

/** The transaction with one item changed, and encoded again. */
function changedItem(raw: Uint8Array, random: Random): Uint8Array {
  const type = raw[0]! >= 0xc0 ? new Uint8Array(0) : raw.subarray(0, 1);
  const items = RLP.decode(raw.subarray(type.length)) as Item[];
  const places = [...placesIn(items)];
  // Half of all changes are of the fields themselves.
  const fields = places.filter((path) => path.length < 2);
  const from = random(2) === 0 ? places : fields;
  const change = CHANGES[random(CHANGES.length)]!;
  const [tree = []] = replaced(items, from[random(from.length)]!, (item) => change(item, random));
  return concatBytes(type, RLP.encode(tree));
}

/** The transaction with one byte changed, most often near one of its ends, or cut, or with a byte more. */
function changedByte(raw: Uint8Array, random: Random): Uint8Array {
  const kind = random(12);
  if (kind === 0) return raw.subarray(0, random(raw.length));
  if (kind === 1) return concatBytes(raw, Uint8Array.of(random(256)));
  const at = random(3) === 0 ? random(raw.length) : random(14) + (random(2) === 0 ? 0 : raw.length - 75);
  const damaged = raw.slice();
  const place = Math.max(0, Math.min(at, raw.length - 1));
  damaged[place] = random(2) === 0 ? random(256) : damaged[place]! ^ (1 << random(8));
  return damaged;
}

describe('damaged transactions are accepted or refused as by @ethereumjs/tx', () => {
  const kinds = [
    ['an item', changedItem, 2000],
    ['a byte', changedByte, 1000],
  ] as const;
  const random = seededRandom(99);
  const valid = TYPES.flatMap((type) => Array.from({ length: 12 }, () => some(random, type)));

  test.each(kinds)('%s', (_, change, count) => {
    const seen = new Map<string, number>();
    const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    for (let i = 0; i < count; i++) {
      const random = seededRandom(1000 + i);
      const raw = change(valid[random(valid.length)]!, random);
      const [ours, expected] = [byUs(raw), byLibrary(raw)];
      const what = `seed ${1000 + i}: ${bytesToHex(raw)}`;
      if (typeof ours !== 'string') {
        expect([what, ours]).toEqual([what, expected]);
        note('accepted');
      } else if (expected !== undefined) {
        const reason = refusedOnPurpose(raw);
        expect([what, ours, reason]).toEqual([what, 'malformed', expect.any(String)]);
        note(reason!);
      } else note(ours);
    }
    expect(seen.get('accepted')).toBeGreaterThan(count / 10);
    for (const rule of ['malformed', 'chain-id', 'signature']) expect([rule, seen.has(rule)]).toEqual([rule, true]);
  });
});

test.each([
  ['chain id with leading zeros', 2, (items: Item[]) => items.splice(0, 1, Uint8Array.of(0, 0xe7, 0x03))],
  ['access list of another shape', 1, (items: Item[]) => items.splice(7, 1, new Uint8Array(0))],
  ['access list of another shape', 2, (items: Item[]) => items.splice(8, 1, [[new Uint8Array(20), new Uint8Array(0)]])],
  ['access list of another shape', 4, (items: Item[]) => items.splice(8, 1, [[Array(20).fill(Uint8Array.of(1)), []]])],
  ['version of a blob hash', 3, (items: Item[]) => items.splice(10, 1, [new Uint8Array(32).fill(0x1a)])],
] as const)('refused, although @ethereumjs/tx takes it: %s, type %i', (reason, type, change) => {
  const items = RLP.decode(some(seededRandom(5), type).subarray(1)) as Item[];
  change(items);
  const raw = concatBytes(Uint8Array.of(type), RLP.encode(items));
  expect(byLibrary(raw)).toBeDefined();
  expect([byUs(raw), refusedOnPurpose(raw)]).toEqual(['malformed', reason]);
});

describe('limits that differ between forks are left to the checks of the fork', () => {
  const random = seededRandom(7);
  const key = randomBytes(random, 32);
  const to = randomHex(random, 20);

  test('init code of more than 49,152 bytes (EIP-3860, from Shanghai on)', () => {
    const fields = { nonce: 0, gasLimit: 10n ** 7n, gasPrice: 1n, data: new Uint8Array(49_153) };
    const raw = createTx({ type: 0, ...fields }, { common, allowUnlimitedInitCodeSize: true })
      .sign(key)
      .serialize();
    expect(byLibrary(raw)).toBeUndefined();
    expect(byUs(raw)).toMatchObject({ type: 0, to: undefined, data: fields.data });
  });

  test('more blobs than blocks of Prague hold (EIP-7691)', () => {
    const hash = (i: number): Hex => `0x01${i.toString(16).padStart(62, '0')}`;
    const blobs = (count: number) => ({
      blobVersionedHashes: Array.from({ length: count }, (_, i) => hash(i)),
      maxFeePerBlobGas: 1n,
    });
    const fields = { nonce: 0, gasLimit: 10n ** 6n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, to, ...blobs(9) };
    const nine = createTx({ type: 3, chainId: CHAIN, ...fields }, { common })
      .sign(key)
      .serialize();
    expect(byUs(nine)).toEqual(byLibrary(nine));
    const items = RLP.decode(nine.subarray(1)) as Item[];
    (items[10] as Item[]).push(hexToBytes(hash(9)));
    const ten = concatBytes(Uint8Array.of(3), RLP.encode(items));
    expect(byLibrary(ten)).toBeUndefined();
    expect(byUs(ten)).toMatchObject({ type: 3, blobVersionedHashes: { length: 10 } });
  });
});
