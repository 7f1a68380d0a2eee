import { concatBytes } from '../../primitives/bytes.js';
import { malformed, member, readObject } from '../../proof/json-reader.js';
import { merkleRoot } from './merkle.js';
import { type SszType, uint } from './ssz-type.js';

/** Stands in the place of a member of variable length, and says where it begins. */
const offset = uint(4);
const OFFSET_BYTES = 4;

type Members<T> = { readonly [K in keyof T]-?: SszType<T[K]> };

/** `blockHash` as the beacon API writes it: `block_hash`. */
const jsonName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * A container.
 *
 * @param members - types in order, by names in camel case; JSON has them in snake case
 */
export function container<T extends object>(members: Members<T>): SszType<T> {
  const fields = (Object.entries(members) as [keyof T & string, SszType<T[keyof T]>][]).map(([name, type]) => ({
    name,
    json: jsonName(name),
    type,
  }));
  const fixedLength = fields.reduce((sum, { type }) => sum + (type.size ?? OFFSET_BYTES), 0);
  const isFixed = fields.every(({ type }) => type.size !== undefined);
  const build = (read: (field: (typeof fields)[number]) => T[keyof T]): T =>
    Object.fromEntries(fields.map((field) => [field.name, read(field)])) as T;

  return {
    size: isFixed ? fixedLength : undefined,
    decode(bytes, path) {
      if (bytes.length < fixedLength || (isFixed && bytes.length > fixedLength)) {
        throw malformed(path, `has ${bytes.length} bytes, expected ${isFixed ? '' : 'at least '}${fixedLength}`);
      }
      const parts = split(fields, bytes, fixedLength, path);
      return build(({ name, type }) => type.decode(parts.get(name)!, member(path, jsonName(name))));
    },
    encode(value) {
      const fixed: Uint8Array[] = [];
      const variable: Uint8Array[] = [];
      let end = fixedLength;
      for (const { name, type } of fields) {
        const bytes = type.encode(value[name]);
        if (type.size !== undefined) {
          fixed.push(bytes);
          continue;
        }
        fixed.push(offset.encode(BigInt(end)));
        variable.push(bytes);
        end += bytes.length;
      }
      return concatBytes(...fixed, ...variable);
    },
    fromJson(value, path) {
      const object = readObject(value, path);
      return build(({ json, type }) => {
        if (!Object.hasOwn(object, json)) throw malformed(member(path, json), 'is missing');
        return type.fromJson(object[json], member(path, json));
      });
    },
    toJson: (value) => Object.fromEntries(fields.map(({ name, json, type }) => [json, type.toJson(value[name])])),
    hashTreeRoot: (value) => merkleRoot(fields.map(({ name, type }) => type.hashTreeRoot(value[name]))),
    zero: () => build(({ type }) => type.zero()),
  };
}

/** Bytes of each member. The offsets must divide what follows the fixed part without a gap. */
function split(
  fields: readonly { name: string; json: string; type: { readonly size: number | undefined } }[],
  bytes: Uint8Array,
  fixedLength: number,
  path: string,
): Map<string, Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = new Map<string, Uint8Array>();
  let at = 0;
  let open: { name: string; start: number } | undefined;
  for (const { name, json, type } of fields) {
    if (type.size !== undefined) {
      parts.set(name, bytes.subarray(at, at + type.size));
      at += type.size;
      continue;
    }
    const start = view.getUint32(at, true);
    at += OFFSET_BYTES;
    if (open === undefined ? start !== fixedLength : start < open.start) {
      throw malformed(
        member(path, json),
        `begins at ${start}, expected ${open === undefined ? '' : 'at least '}${open?.start ?? fixedLength}`,
      );
    }
    if (start > bytes.length)
      throw malformed(member(path, json), `begins at ${start}, behind the end at ${bytes.length}`);
    if (open !== undefined) parts.set(open.name, bytes.subarray(open.start, start));
    open = { name, start };
  }
  if (open !== undefined) parts.set(open.name, bytes.subarray(open.start));
  return parts;
}
