import { encodeAddress, encodeFull } from '../accumulator/scheme.js';
import type { Hasher, HashScheme } from '../kernel/contracts.js';
import { bytesToKey, keyToBytes, requireLength } from '../primitives/bytes.js';

/** Maximum number of cached key hashes; a full cache is cleared. */
const MAX_CACHED = 65_536;

/** Hashes of many inputs of one length, 32 bytes each. @param encode - gives the hash input of an item */
export function hashEach(
  hasher: Hasher,
  items: readonly Uint8Array[],
  encode: (scheme: HashScheme, item: Uint8Array) => Uint8Array,
): Uint8Array[] {
  if (items.length === 0) return [];
  const inputs = items.map((item) => encode(hasher.scheme, item));
  const size = inputs[0]!.length;
  const joined = new Uint8Array(size * inputs.length);
  for (const [i, input] of inputs.entries()) joined.set(input, i * size);
  const digests = hasher.hashMany(joined, size);
  return inputs.map((_, i) => digests.slice(32 * i, 32 * i + 32));
}

/** A key and its hash. */
export interface HashedKey {
  /** Address of 20 bytes, or slot of 32. */
  readonly key: Uint8Array;
  /** 32 bytes. */
  readonly hkey: Uint8Array;
}

/** Hashes of addresses and slot keys, with a cache: a chain uses the same keys again and again. */
export class KeyHashes {
  /** Hashes by key, both as text: arrays of bytes would take four times the memory. */
  private readonly known = new Map<string, string>();

  constructor(private readonly hasher: Hasher) {}

  /** @returns 32 bytes each, in order. @throws PlumblineError `INVALID_LENGTH` unless each has 20 bytes */
  ofAddresses(addresses: readonly Uint8Array[]): Uint8Array[] {
    for (const address of addresses) requireLength('address', address, 20);
    return this.hashes(addresses, encodeAddress);
  }

  /** @returns 32 bytes each, in order. @throws PlumblineError `INVALID_LENGTH` unless each has 32 bytes */
  ofSlots(slotKeys: readonly Uint8Array[]): Uint8Array[] {
    for (const key of slotKeys) requireLength('slot key', key, 32);
    return this.hashes(slotKeys, encodeFull);
  }

  /** @throws PlumblineError `INVALID_LENGTH` */
  hashedAddress(address: Uint8Array): HashedKey {
    return { key: address, hkey: this.ofAddresses([address])[0]! };
  }

  /** @throws PlumblineError `INVALID_LENGTH` */
  hashedSlots(slotKeys: readonly Uint8Array[]): HashedKey[] {
    const hkeys = this.ofSlots(slotKeys);
    return slotKeys.map((key, i) => ({ key, hkey: hkeys[i]! }));
  }

  private hashes(keys: readonly Uint8Array[], encode: typeof encodeFull): Uint8Array[] {
    // Addresses and slot keys differ in length, so one map is enough.
    const names = keys.map(bytesToKey);
    const known = names.map((name) => {
      const digest = this.known.get(name);
      return digest === undefined ? undefined : keyToBytes(digest);
    });
    const missing = new Map<string, Uint8Array>();
    for (const [i, name] of names.entries()) if (known[i] === undefined) missing.set(name, keys[i]!);
    const digests = hashEach(this.hasher, [...missing.values()], encode);
    const added = new Map([...missing.keys()].map((name, i) => [name, digests[i]!]));
    if (this.known.size + added.size > MAX_CACHED) this.known.clear();
    for (const [name, digest] of added) this.known.set(name, bytesToKey(digest));
    return known.map((digest, i) => digest ?? added.get(names[i]!)!);
  }
}
