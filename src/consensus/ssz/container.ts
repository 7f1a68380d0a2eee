import { concatBytes } from '../../primitives/bytes.js';
import { malformed, member, readObject } from '../../proof/json-reader.js';
import { merkleRoot } from './merkle.js';
import { type SszType, uint } from './ssz-type.js';

/** Stands in the place of a member of variable length, and says where it begins. */
const offset = uint(4);
const OFFSET_BYTES = 4;

type Members<T> = { readonly [K in keyof T]-?: SszType<T[K]> };

/** `blockHash` as the beacon API writes it: `block_hash`. */
export const jsonName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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
  const build = (read: (field: (typeof fields)[number], place: number) => T[keyof T]): T =>
    Object.fromEntries(fields.map((field, i) => [field.name, read(field, i)])) as T;

  /** Bytes of each member, from the last to the first: what follows the fixed part is divided without a gap. */
  function split(bytes: Uint8Array, path: string): Uint8Array[] {
    if (bytes.length < fixedLength) throw malformed(path, `has ${bytes.length} bytes, expected ${fixedLength} or more`);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const parts: Uint8Array[] = [];
    let at = fixedLength;
    let end = bytes.length;
    for (let i = fields.length; i-- > 0; ) {
      const { json, type } = fields[i]!;
      at -= type.size ?? OFFSET_BYTES;
      if (type.size !== undefined) {
        parts[i] = bytes.subarray(at, at + type.size);
        continue;
      }
      const start = view.getUint32(at, true);
      if (start > end) throw malformed(member(path, json), `begins at ${start}, behind its end at ${end}`);
      parts[i] = bytes.subarray(start, end);
      end = start;
    }
    if (end !== fixedLength) throw malformed(path, `has a fixed part of ${end} bytes, expected ${fixedLength}`);
    return parts;
  }

  return {
    size: fields.every(({ type }) => type.size !== undefined) ? fixedLength : undefined,
    decode(bytes, path) {
      const parts = split(bytes, path);
      return build(({ json, type }, i) => type.decode(parts[i]!, member(path, json)));
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
    hashTreeRoot: (value) => merkleRoot(fields.map(({ name, type }) => type.hashTreeRoot(value[name]))),
  };
}
