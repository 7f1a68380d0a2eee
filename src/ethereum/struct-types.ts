import { invalidParameter } from '../errors.js';
import { keccak256 } from '../kernel/keccak.js';

/** A struct type of EIP-712. */
export interface StructType {
  readonly members: readonly { readonly name: string; readonly type: string }[];
  /** `typeHash`, 32 bytes. */
  readonly hash: Uint8Array;
}

/** Struct types by name. All types that their members have are among them, or basic. */
export type StructTypes = ReadonlyMap<string, StructType>;

const MAX_TYPES = 256;
/** Each type may contain the text of all others, which is hashed. */
const MAX_CHARACTERS = 65_536;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const BASIC =
  /^(?:address|bool|string|bytes(?:[1-9]|[12][0-9]|3[0-2])?|u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256)?)$/;

/**
 * Reads the `types` of typed data.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for types that cannot be read, or are not there
 * @source EIP-712, "Definition of typed structured data"
 */
export function readStructTypes(types: unknown): StructTypes {
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
        throw invalidParameter(`types.${name}.${member}`, `has the type ${base}, which is neither basic nor in types`);
      }
      characters += member.length + type.length;
    }
    characters += name.length;
  }
  if (characters > MAX_CHARACTERS) {
    throw invalidParameter('types', `has ${characters} characters, at most ${MAX_CHARACTERS}`);
  }
  const hashOf = (name: string) => keccak256(new TextEncoder().encode(encodeType(members, name)));
  return new Map([...members].map(([name, list]) => [name, { members: list, hash: hashOf(name) }]));
}

function readMembers(name: string, list: unknown): StructType['members'] {
  const path = `types.${name}`;
  if (!IDENTIFIER.test(name) || BASIC.test(name)) throw invalidParameter(path, 'is not the name of a struct type');
  if (!Array.isArray(list)) throw invalidParameter(path, 'must be an array of members');
  const names = new Set<unknown>();
  return list.map((member: unknown, index) => {
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
