import { keccak256 } from '../kernel/keccak.js';
import { concatBytes, joinBytes, ZERO_WORD } from '../primitives/bytes.js';

/** Most bytes of a name. ENS has no limit; a page that is given text of any length needs one. */
export const MAX_NAME_BYTES = 1_000;
/** A label is encoded behind one byte with its length. */
const MAX_LABEL_BYTES = 255;

const encoder = new TextEncoder();

const labelsOf = (name: string) => (name === '' ? [] : name.split('.'));

/**
 * Hash of a normalised name, 32 bytes.
 *
 * @source ENSIP-1 (EIP-137), namehash algorithm
 */
export function namehash(name: string): Uint8Array {
  return labelsOf(name).reduceRight<Uint8Array>(
    (node, label) => keccak256(concatBytes(node, keccak256(encoder.encode(label)))),
    ZERO_WORD,
  );
}

/**
 * A name as resolvers of whole subtrees take it: each label behind its length, then a zero.
 *
 * @returns undefined for a name that is too long, or has a label without or with too many bytes
 * @source ENSIP-10, dnsencode
 */
export function dnsEncode(name: string): Uint8Array | undefined {
  const labels = labelsOf(name).map((label) => encoder.encode(label));
  if (labels.some(({ length }) => length === 0 || length > MAX_LABEL_BYTES)) return undefined;
  const encoded = joinBytes([...labels.flatMap((label) => [Uint8Array.of(label.length), label]), Uint8Array.of(0)]);
  return encoded.length > MAX_NAME_BYTES ? undefined : encoded;
}

/** The name without its first label; empty for a name of one label. */
export function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}

/** Coin type of ether on layer 1. @source ENSIP-9 */
export const ETHER = 60;
/** Coin type of all chains with an EVM together; that of one chain has its chain id in the lower bits. @source ENSIP-11, ENSIP-19 */
export const EVERY_EVM = 0x8000_0000;

/** Whether addresses of a coin type are those of the EVM, 20 bytes. */
export const isEvmCoin = (coinType: number): boolean => coinType === ETHER || coinType >= EVERY_EVM;

/**
 * The name that an address of the EVM has its reverse record at.
 *
 * @param address - 40 hex digits in lower case
 * @source ENSIP-3; ENSIP-19 for other coin types than ether's
 */
export function reverseName(address: string, coinType: number): string {
  if (coinType === ETHER) return `${address}.addr.reverse`;
  return `${address}.${coinType === EVERY_EVM ? 'default' : coinType.toString(16)}.reverse`;
}
