import { RLP } from '@ethereumjs/rlp';
import { keccak256 } from '../kernel/keccak.js';
import { bigIntToMinimalBytes, bytesToBigInt, concatBytes } from '../primitives/bytes.js';
import { encodeRlp } from '../primitives/rlp-list.js';

/** What RLP encodes: bytes, or a list. */
export type Item = Uint8Array | Item[];

/** A kind of field. */
interface Codec<Value> {
  /** @param name - of the field, for the error. @throws Error that says what is wrong */
  decode(item: Item, name: string): Value;
  /** @param value - if undefined, zero or empty */
  encode(value: Value | undefined): Item;
}

type Decoded<Codecs extends Readonly<Record<string, Codec<unknown>>>> = {
  readonly [Name in keyof Codecs]: ReturnType<Codecs[Name]['decode']>;
};

const NO_BYTES = new Uint8Array(0);

function bytesOf(item: Item, name: string): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new Error(`${name} is a list, bytes are expected`);
  return item;
}

function itemsOf(item: Item, name: string): Item[] {
  if (!Array.isArray(item)) throw new Error(`${name} is not a list`);
  return item;
}

/** An unsigned integer of at most `limit` bytes, without leading zeros. */
const integer = (limit: number): Codec<bigint> => ({
  decode(item, name) {
    const bytes = bytesOf(item, name);
    if (bytes.length > limit) throw new Error(`${name} has ${bytes.length} bytes, at most ${limit} are allowed`);
    if (bytes[0] === 0) throw new Error(`${name} has leading zeros`);
    return bytesToBigInt(bytes);
  },
  encode: (value = 0n) => bigIntToMinimalBytes(value),
});

const anyBytes: Codec<Uint8Array> = { decode: bytesOf, encode: (value = NO_BYTES) => value };

const bytesOfLength = (length: number): Codec<Uint8Array> => ({
  decode(item, name) {
    const bytes = bytesOf(item, name);
    if (bytes.length !== length) throw new Error(`${name} has ${bytes.length} bytes, ${length} are expected`);
    return bytes;
  },
  encode: anyBytes.encode,
});

const word = bytesOfLength(32);
const address = bytesOfLength(20);
const amount = integer(32);
const uint64 = integer(8);

/** An address, or nothing in a contract creation. */
const recipient: Codec<Uint8Array | undefined> = {
  decode: (item, name) => (item.length === 0 ? void bytesOf(item, name) : address.decode(item, name)),
  encode: anyBytes.encode,
};

const listOf = <Value>(codec: Codec<Value>): Codec<readonly Value[]> => ({
  decode: (item, name) => itemsOf(item, name).map((one, i) => codec.decode(one, `${name}[${i}]`)),
  encode: (values = []) => values.map((value) => codec.encode(value)),
});

/** A list with one item for each field, in their order. */
function record<Codecs extends Readonly<Record<string, Codec<unknown>>>>(fields: Codecs): Codec<Decoded<Codecs>> {
  const entries = Object.entries(fields);
  return {
    decode(item, name) {
      const items = itemsOf(item, name);
      if (items.length !== entries.length)
        throw new Error(`${name} has ${items.length} items, ${entries.length} are expected`);
      const values = entries.map(([key, codec], i) => [key, codec.decode(items[i]!, `${name}.${key}`)]);
      return Object.fromEntries(values) as Decoded<Codecs>;
    },
    encode: (value) => entries.map(([key, codec]) => codec.encode(value?.[key])),
  };
}

const FIELDS = {
  chainId: amount,
  nonce: uint64,
  gasPrice: amount,
  maxPriorityFeePerGas: amount,
  maxFeePerGas: amount,
  gasLimit: uint64,
  to: recipient,
  value: amount,
  data: anyBytes,
  accessList: listOf(record({ address, storageKeys: listOf(word) })),
  maxFeePerBlobGas: amount,
  blobVersionedHashes: listOf(word),
  authorizationList: listOf(
    record({ chainId: amount, address, nonce: uint64, yParity: integer(1), r: amount, s: amount }),
  ),
  v: amount,
  r: amount,
  s: amount,
};

/** A type of EIP-2718; 0 is a legacy transaction, which has no type byte. */
export type TransactionType = 0 | 1 | 2 | 3 | 4;

type FieldName = keyof typeof FIELDS;
/** The fields of all types. */
type EveryType = 'nonce' | 'gasLimit' | 'to' | 'value' | 'data' | 'v' | 'r' | 's';

/** Fields by name; those that a type does not have are left out. */
export type TransactionFields = Pick<Decoded<typeof FIELDS>, EveryType> & {
  readonly [Name in Exclude<FieldName, EveryType>]?: Decoded<typeof FIELDS>[Name] | undefined;
};

const CALL = ['gasLimit', 'to', 'value', 'data'] as const;
const FEES = ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', ...CALL, 'accessList'] as const;

/**
 * The fields before the signature in their order, by type.
 *
 * @source Ethereum Yellow Paper 4.2; EIP-2930, EIP-1559, EIP-4844, EIP-7702
 */
const ORDER: Readonly<Record<TransactionType, readonly FieldName[]>> = {
  0: ['nonce', 'gasPrice', ...CALL],
  1: ['chainId', 'nonce', 'gasPrice', ...CALL, 'accessList'],
  2: FEES,
  3: [...FEES, 'maxFeePerBlobGas', 'blobVersionedHashes'],
  4: [...FEES, 'authorizationList'],
};
/** In types 1 to 4, `v` is the parity of y. */
const SIGNATURE = ['v', 'r', 's'] as const;

/**
 * Decodes the items of a transaction. One without the three of its signature has zeros for them.
 *
 * @throws Error that names the field that is wrong
 */
export function decodeFields(type: TransactionType, item: Item): TransactionFields {
  const items = itemsOf(item, 'the payload');
  const names = [...ORDER[type], ...SIGNATURE];
  const isSigned = items.length === names.length;
  if (!isSigned && items.length !== names.length - SIGNATURE.length)
    throw new Error(`it has ${items.length} fields, type ${type} has ${names.length}`);
  const fields: Partial<Record<FieldName, unknown>> = {};
  for (const [i, name] of names.entries()) fields[name] = FIELDS[name].decode(items[i] ?? NO_BYTES, name);
  return fields as TransactionFields;
}

/** Encodes the fields before the signature; what is undefined becomes zero or empty. */
function encodeFields(type: TransactionType, fields: Readonly<Partial<Record<FieldName, unknown>>>): Item[] {
  const codecs: Readonly<Record<FieldName, Codec<unknown>>> = FIELDS;
  return ORDER[type].map((name) => codecs[name].encode(fields[name]));
}

/** What an encoding is made of. A field that the type has and that is undefined counts as zero or empty. */
export type EncodedTransaction = { readonly type: TransactionType } & {
  readonly [Name in keyof TransactionFields]?: TransactionFields[Name] | undefined;
};

/** In types 1 to 4, `v` is the parity of y only. */
type TransactionSignature = Pick<TransactionFields, 'v' | 'r' | 's'>;

/**
 * Encodes a transaction: RLP if legacy, else type and payload.
 *
 * @source EIP-2718
 */
export function encodeTransaction(tx: EncodedTransaction, { v, r, s }: TransactionSignature): Uint8Array {
  return typed(tx.type, [...encodeFields(tx.type, tx), ...[v, r, s].map(bigIntToMinimalBytes)]);
}

/** The bytes whose hash a signature signs. */
export function encodeToSign(tx: EncodedTransaction): Uint8Array {
  return itemsToSign(tx.type, encodeFields(tx.type, tx), tx.chainId);
}

/**
 * As `encodeToSign`, of the items before the signature. A legacy transaction with a chain id signs that too.
 *
 * @source EIP-2718, EIP-155
 */
export function itemsToSign(type: TransactionType, items: readonly Item[], chainId: bigint | undefined): Uint8Array {
  const more = type === 0 && chainId !== undefined ? [chainId, 0n, 0n].map(bigIntToMinimalBytes) : [];
  return typed(type, [...items, ...more]);
}

function typed(type: TransactionType, items: Item[]): Uint8Array {
  const list = encodeRlp(items);
  return type === 0 ? list : concatBytes(Uint8Array.of(type), list);
}

/**
 * Address of the contract that a creation makes, 20 bytes. Nodes also put it into the receipt of a failed creation.
 *
 * @param creation - `from` is 20 bytes
 * @source yellow paper, section 7
 */
export function createdAddress({ from, nonce }: { readonly from: Uint8Array; readonly nonce: bigint }): Uint8Array {
  return keccak256(RLP.encode([from, bigIntToMinimalBytes(nonce)])).slice(12);
}
