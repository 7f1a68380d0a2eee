import { BLS12_377_MODULUS, KOALABEAR_MODULUS } from './field.js';
import { mimcCompress } from './mimc.js';
import { poseidon2Compress } from './poseidon2.js';

/*
 * Hashes and encodings of the zk state on hex digits without a prefix, from docs/spec/hashing.md alone. Nothing here or in the
 * other files named zk-* imports the library.
 */

export type Scheme = 'mimc' | 'poseidon2';
/** Hex digits without a prefix, lower case. */
export type Digits = string;

export const ZERO: Digits = '0'.repeat(64);
export const word = (value: bigint | number): Digits => value.toString(16).padStart(64, '0');

/** Hash of digits; throws for a word at or above the modulus. */
export type Hash = (input: Digits) => Digits;

export interface ZkFormat {
  readonly hash: Hash;
  /** A leaf position, or `nextFreeNode`. */
  index(position: number): Digits;
  /** `hkey` of an address. */
  accountKey(address: Digits): Digits;
  /** `hkey` of a slot, or `hval` of its value. */
  slotHash(value: Digits): Digits;
  /** `hval` of an account. @param value - its compact form, 192 bytes */
  accountHash(value: Digits): Digits;
  /** Zk hash of byte code; of no code, 32 zero bytes. */
  codeHash(code: Digits): Digits;
  readonly tailKey: Digits;
  readonly emptyCodeHash: Digits;
}

const pieces = (digits: Digits, size: number): Digits[] => digits.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];

/** `wordDigits` digits a field element, chained over blocks of 32 bytes; the last block is filled up in front. */
function chained(wordDigits: number, modulus: bigint, compress: (state: bigint[], block: bigint[]) => bigint[]): Hash {
  const known = new Map<Digits, Digits>();
  const words = (digits: Digits) => pieces(digits, wordDigits).map((piece) => BigInt(`0x${piece}`));
  return (input) => {
    let state = known.get(input);
    if (state !== undefined) return state;
    if (!/^([0-9a-f]{2})*$/.test(input)) throw new Error('the input of a hash is not hex digits of whole bytes');
    state = ZERO;
    for (const block of pieces(input, 64)) {
      const elements = words(block.padStart(64, '0'));
      if (elements.some((element) => element >= modulus)) throw new Error(`not canonical: ${block}`);
      const next = compress(words(state), elements);
      state = next.map((element) => element.toString(16).padStart(wordDigits, '0')).join('');
    }
    known.set(input, state);
    return state;
  };
}

const fields = (value: Digits) => pieces(value, 64) as [Digits, Digits, Digits, Digits, Digits, Digits];

function mimc(): ZkFormat {
  const hash = chained(64, BLS12_377_MODULUS, ([h], [m]) => [mimcCompress(h!, m!)]);
  const wide = (half: Digits) => half.padStart(64, '0');
  const halves = (value: Digits) => wide(value.slice(32)) + wide(value.slice(0, 32));
  return {
    hash,
    index: word,
    accountKey: (address) => hash(wide(address)),
    slotHash: (value) => hash(halves(value)),
    accountHash(value) {
      const [nonce, balance, storageRoot, zkCodeHash, keccakCodeHash, codeSize] = fields(value);
      return hash(nonce + balance + storageRoot + zkCodeHash + halves(keccakCodeHash) + codeSize);
    },
    codeHash: (code) => hash(pieces(code, 32).map(wide).join('')),
    tailKey: word(BLS12_377_MODULUS - 1n),
    emptyCodeHash: hash(ZERO),
  };
}

function poseidon2(): ZkFormat {
  const hash = chained(8, KOALABEAR_MODULUS, poseidon2Compress);
  const spread = (digits: Digits) =>
    pieces(digits, 4)
      .map((limb) => limb.padStart(8, '0'))
      .join('');
  return {
    hash,
    index: (position) => spread(word(position)),
    accountKey: (address) => hash(spread(address)),
    slotHash: (value) => hash(spread(value)),
    accountHash(value) {
      const [nonce, balance, storageRoot, zkCodeHash, keccakCodeHash, codeSize] = fields(value);
      return hash(spread(nonce + balance) + storageRoot + zkCodeHash + spread(keccakCodeHash + codeSize));
    },
    codeHash: (code) =>
      hash(
        pieces(code, 32)
          .map((chunk) => spread(chunk.padStart(32, '0')))
          .join(''),
      ),
    tailKey: '7f000000'.repeat(8),
    emptyCodeHash: hash(ZERO),
  };
}

export const zkFormat = (scheme: Scheme): ZkFormat => (scheme === 'mimc' ? mimc() : poseidon2());
