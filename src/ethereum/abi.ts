/** Values as contracts of Solidity take them, and the slots that they store them at. */

import { keccak256 } from '../kernel/keccak.js';
import { bigIntToBytes, concatBytes, padStart } from '../primitives/bytes.js';

/** A number, or a place in calldata, 32 bytes. @throws PlumblineError `OUT_OF_RANGE` above 2^256 - 1 */
export const abiWord = (value: bigint | number): Uint8Array => bigIntToBytes(BigInt(value), 32);

/** @param address - 20 bytes */
export const abiAddress = (address: Uint8Array): Uint8Array => padStart(address, 32);

/** Bytes behind their length, with zeros up to a whole word. */
export const abiBytes = (data: Uint8Array): Uint8Array =>
  concatBytes(abiWord(data.length), data, new Uint8Array(-data.length & 31));

/**
 * Slot of an entry of a mapping, 32 bytes.
 *
 * @param key - 32 bytes
 * @param mapping - slot of the mapping
 */
export const mappingSlot = (key: Uint8Array, mapping: bigint): Uint8Array =>
  keccak256(concatBytes(key, abiWord(mapping)));
