/**
 * What accounts sign beside transactions: text (EIP-191), and typed data (EIP-712), which is a message with its types, read strictly.
 * A member's type is a value of 32 bytes, bytes or text, a list, or another struct of the message.
 */

import { invalidParameter, isPlumblineError } from '../errors.js';
import { keccak256 } from '../kernel/keccak.js';
import { bigIntToBytes, joinBytes, padStart } from '../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';

/** Most values of one message: its hashes are made without a pause. */
const MAX_VALUES = 20_000;
const MAX_DEPTH = 64;
const DOMAIN = 'EIP712Domain';
/** Decimal digits with a sign, or hex. */
const INTEGER = /^(?:-?[0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/;
const NOTHING = new Uint8Array(0);

/**
 * The hash that a signature of typed data signs, 32 bytes.
 *
 * @param data - an object with `types`, `primaryType`, `domain` and `message`, as `eth_signTypedData_v4` takes it. `types` names the
 *   members of the domain, as `EIP712Domain`. Integers are numbers, bigints, decimal or hex strings; bytes and addresses hex
 * @throws PlumblineError `INVALID_PARAMETER` with the path of what cannot be encoded; above 20 000 values, 64 levels, 256 types or
 *   65 536 characters of types
 * @source EIP-712, "Definition of encodeType", "of encodeData"
 */
export function hashTypedData(data: Readonly<Record<string, unknown>>): Uint8Array {
  return readTypedData(data).digest;
}

/** Typed data that was read. Hashes have 32 bytes. */
export interface TypedDataHashes {
  readonly digest: Uint8Array;
  readonly domainSeparator: Uint8Array;
  /** `encodeType` of the primary type. */
  readonly type: string;
  /** The members of the message by name, each as the word that is hashed. */
  readonly words: ReadonlyMap<string, Uint8Array>;
  /** The message without what no type declares. */
  readonly message: Readonly<Record<string, unknown>>;
  /** Paths of members that no type declares: they are not signed. */
  readonly undeclared: readonly string[];
}

/** As `hashTypedData`, with the hashes that the digest is made of. @throws PlumblineError as `hashTypedData` */
export function readTypedData(data: Readonly<Record<string, unknown>>): TypedDataHashes {
  const types = readStructTypes(data.types);
  const { primaryType } = data;
  if (typeof primaryType !== 'string' || !types.has(primaryType)) {
    throw invalidParameter('primaryType', 'must be the name of one of types');
  }
  if (!types.has(DOMAIN)) throw invalidParameter(`types.${DOMAIN}`, 'is missing: it names the members of domain');
  const encoder = new Encoder(types);
  const domain = encoder.struct(DOMAIN, data.domain, 'domain', 0);
  const message = primaryType === DOMAIN ? NOTHING : encoder.struct(primaryType, data.message, 'message', 0);
  return {
    digest: keccak256(joinBytes([Uint8Array.of(0x19, 0x01), domain, message])),
    domainSeparator: domain,
    type: types.get(primaryType)!.text,
    words: encoder.words,
    message: primaryType === DOMAIN ? {} : (declared(types, primaryType, data.message) as Record<string, unknown>),
    undeclared: encoder.undeclared,
  };
}

/**
 * The hash that `personal_sign` of a message signs, 32 bytes.
 *
 * @source EIP-191, version 0x45
 */
export function hashPersonalMessage(message: Uint8Array): Uint8Array {
  const prefix = new TextEncoder().encode(`\x19Ethereum Signed Message:\n${message.length}`);
  return keccak256(joinBytes([prefix, message]));
}

class Encoder {
  private values = 0;
  readonly words = new Map<string, Uint8Array>();
  readonly undeclared: string[] = [];

  constructor(private readonly types: StructTypes) {}

  /** `hashStruct` of EIP-712. */
  struct(name: string, value: unknown, path: string, depth: number): Uint8Array {
    const { hash, members } = this.types.get(name)!;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalidParameter(path, `must be an object of the type ${name}`);
    }
    const fields = value as Readonly<Record<string, unknown>>;
    const encoded = members.map(({ name: member, type }) => {
      const own = Object.hasOwn(fields, member) ? fields[member] : undefined;
      const word = this.value(type, own, `${path}.${member}`, depth + 1);
      if (path === 'message') this.words.set(member, word);
      return word;
    });
    const names = new Set(members.map((member) => member.name));
    for (const member of Object.keys(fields)) {
      if (names.has(member)) continue;
      this.count(`${path}.${member}`);
      this.undeclared.push(`${path}.${member}`);
    }
    return keccak256(joinBytes([hash, ...encoded]));
  }

  private count(path: string): void {
    if (++this.values > MAX_VALUES) throw invalidParameter(path, `is beyond the ${MAX_VALUES} values of one message`);
  }

  /** A value as a word, 32 bytes. */
  private value(type: string, value: unknown, path: string, depth: number): Uint8Array {
    this.count(path);
    if (depth > MAX_DEPTH) throw invalidParameter(path, `is nested deeper than ${MAX_DEPTH} levels`);
    if (value === undefined || value === null) throw invalidParameter(path, `is missing, of the type ${type}`);
    const [, element, length] = /^(.*)\[([0-9]*)\]$/.exec(type) ?? [];
    if (element !== undefined) return this.list(element, length!, value, path, depth);
    return this.types.has(type) ? this.struct(type, value, path, depth) : encodeBasic(type, value, path);
  }

  private list(element: string, length: string, value: unknown, path: string, depth: number): Uint8Array {
    if (!Array.isArray(value)) throw invalidParameter(path, `must be an array of the type ${element}`);
    if (length !== '' && value.length !== Number(length)) {
      throw invalidParameter(path, `must have ${length} elements, has ${value.length}`);
    }
    const encoded = Array.from(value as readonly unknown[], (one, index) =>
      this.value(element, one, `${path}[${index}]`, depth + 1),
    );
    return keccak256(joinBytes(encoded));
  }
}

/** A value that was encoded, without the members that its type does not declare. */
function declared(types: StructTypes, type: string, value: unknown): unknown {
  const [, element] = /^(.*)\[[0-9]*\]$/.exec(type) ?? [];
  if (element !== undefined) return Array.from(value as readonly unknown[], (one) => declared(types, element, one));
  const members = types.get(type)?.members;
  if (members === undefined) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  // It also takes a member called __proto__ for what it is.
  return Object.fromEntries(members.map((one) => [one.name, declared(types, one.type, fields[one.name])]));
}

function encodeBasic(type: string, value: unknown, path: string): Uint8Array {
  if (type === 'string') {
    if (typeof value !== 'string') throw invalidParameter(path, 'must be a string');
    return keccak256(new TextEncoder().encode(value));
  }
  if (type === 'bool') {
    if (typeof value !== 'boolean') throw invalidParameter(path, 'must be true or false');
    return bigIntToBytes(value ? 1n : 0n, 32);
  }
  if (type === 'bytes') return keccak256(readBytes(value, path));
  if (type === 'address') return padStart(address(value, path), 32);
  const [, kind, size] = /^(bytes|uint|int)([0-9]*)$/.exec(type)!;
  if (kind !== 'bytes') return integer(kind === 'int', Number(size), value, path);
  const word = new Uint8Array(32);
  word.set(readBytes(value, path, Number(size)));
  return word;
}

/** @throws PlumblineError also for capitals that are not those of EIP-55: a letter may be mistyped */
function address(value: unknown, path: string): Uint8Array {
  const bytes = readBytes(value, path, 20);
  const digits = (value as string).slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return bytes;
  const hash = bytesToHex(keccak256(new TextEncoder().encode(lower))).slice(2);
  const isRight = [...digits].every(
    (digit, i) => digit === (Number.parseInt(hash[i]!, 16) >= 8 ? digit.toUpperCase() : digit.toLowerCase()),
  );
  if (!isRight) throw invalidParameter(path, 'has capital letters that do not match its checksum (EIP-55)');
  return bytes;
}

function readBytes(value: unknown, path: string, length?: number): Uint8Array {
  try {
    return hexToBytes(value as string, length);
  } catch (error) {
    if (!isPlumblineError(error)) throw error;
    throw invalidParameter(path, `must be hex with 0x${length === undefined ? '' : ` of ${length} bytes`}`);
  }
}

/** An integer of `bits`, in two's complement. */
function integer(isSigned: boolean, bits: number, value: unknown, path: string): Uint8Array {
  const isInteger =
    typeof value === 'bigint' || Number.isSafeInteger(value) || (typeof value === 'string' && INTEGER.test(value));
  if (!isInteger) throw invalidParameter(path, 'must be an integer: a safe number, or a decimal or hex string');
  const number = BigInt(value as bigint | number | string);
  const fits = isSigned ? BigInt.asIntN(bits, number) === number : BigInt.asUintN(bits, number) === number;
  if (!fits) throw invalidParameter(path, `does not fit ${isSigned ? 'int' : 'uint'}${bits}`);
  return bigIntToBytes(BigInt.asUintN(256, number), 32);
}

/** A struct type of EIP-712. */
interface StructType {
  readonly members: readonly { readonly name: string; readonly type: string }[];
  /** `encodeType`. */
  readonly text: string;
  /** `typeHash`, 32 bytes. */
  readonly hash: Uint8Array;
}

/** Struct types by name. All types that their members have are among them, or basic. */
type StructTypes = ReadonlyMap<string, StructType>;

const MAX_TYPES = 256;
/** Each type may contain the text of all others, which is hashed. */
const MAX_CHARACTERS = 65_536;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** Of a struct: a colon occurs in names that are in use. */
const STRUCT_NAME = /^[A-Za-z_$][\w$:]*$/;
/** Short forms of Solidity, which encoders read in different ways. */
const SHORT = /^(?:u?int|byte)$/;
const BASIC =
  /^(?:address|bool|string|bytes(?:[1-9]|[12][0-9]|3[0-2])?|u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256))$/;

/**
 * Reads the `types` of typed data.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for types that cannot be read, or are not there
 * @source EIP-712, "Definition of typed structured data"
 */
function readStructTypes(types: unknown): StructTypes {
  if (typeof types !== 'object' || types === null || Array.isArray(types)) {
    throw invalidParameter('types', 'must be an object: by the name of each type, its members');
  }
  const entries = Object.entries(types);
  if (entries.length > MAX_TYPES) throw invalidParameter('types', `has ${entries.length} types, at most ${MAX_TYPES}`);
  const members = new Map(entries.map(([name, list]) => [name, readMembers(name, list)]));
  let characters = 0;
  for (const [name, list] of members) {
    for (const { name: member, type } of list) {
      const base = baseOf(type);
      if (!members.has(base) && !BASIC.test(base)) {
        const advice = SHORT.test(base) ? '; write its size, such as uint256' : '';
        const reason = `has the type ${base}, which is neither basic nor in types${advice}`;
        throw invalidParameter(`types.${name}.${member}`, reason);
      }
      characters += member.length + type.length;
    }
    characters += name.length;
  }
  if (characters > MAX_CHARACTERS) {
    throw invalidParameter('types', `has ${characters} characters, at most ${MAX_CHARACTERS}`);
  }
  const typeOf = (name: string, list: StructType['members']): StructType => {
    const text = encodeType(members, name);
    return { members: list, text, hash: keccak256(new TextEncoder().encode(text)) };
  };
  return new Map([...members].map(([name, list]) => [name, typeOf(name, list)]));
}

function readMembers(name: string, list: unknown): StructType['members'] {
  const path = `types.${name}`;
  if (!STRUCT_NAME.test(name) || BASIC.test(name) || SHORT.test(name))
    throw invalidParameter(path, 'is not the name of a struct type');
  if (!Array.isArray(list)) throw invalidParameter(path, 'must be an array of members');
  const names = new Set<unknown>();
  // A list with holes has nothing to skip.
  return Array.from(list, (member: unknown, index) => {
    const { name: own, type } = (typeof member === 'object' && member !== null ? member : {}) as Record<
      string,
      unknown
    >;
    if (typeof own !== 'string' || typeof type !== 'string' || !/^[^[\]]+(?:\[[0-9]{0,9}\])*$/.test(type)) {
      throw invalidParameter(`${path}[${index}]`, 'must have a name and a type');
    }
    if (!IDENTIFIER.test(own) || names.has(own)) {
      throw invalidParameter(`${path}[${index}].name`, 'must be an identifier that no other member has');
    }
    names.add(own);
    return { name: own, type };
  });
}

/** `encodeType` of EIP-712: the type itself, then those that it refers to, by name. */
function encodeType(types: ReadonlyMap<string, StructType['members']>, name: string): string {
  const referred = new Set<string>();
  const follow = (from: string) => {
    for (const { type } of types.get(from)!) {
      const base = baseOf(type);
      if (base === name || referred.has(base) || !types.has(base)) continue;
      referred.add(base);
      follow(base);
    }
  };
  follow(name);
  const text = (one: string) =>
    `${one}(${types
      .get(one)!
      .map((member) => `${member.type} ${member.name}`)
      .join(',')})`;
  return [name, ...[...referred].sort()].map(text).join('');
}

/** Without the brackets of arrays. */
function baseOf(type: string): string {
  return type.replace(/\[.*$/, '');
}
