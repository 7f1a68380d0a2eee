import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hmac } from '@noble/hashes/hmac.js';
import { pbkdf2 } from '@noble/hashes/pbkdf2.js';
import { sha512 } from '@noble/hashes/sha2.js';
import type { DevAccount } from '../../chain/devnet/state/dev-accounts.js';
import { keccak256 } from '../../kernel/keccak.js';
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';

const ascii = (text: string) => new TextEncoder().encode(text);
const HARDENED = 2 ** 31;

interface ExtendedKey {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
}

const extended = (secret: Uint8Array, data: Uint8Array): ExtendedKey => {
  const both = hmac(sha512, secret, data);
  return { key: both.subarray(0, 32), chainCode: both.subarray(32) };
};

/**
 * A child. That its key is none of the curve has a chance of 2^-127, and is not looked at.
 *
 * @source BIP-32, "Private parent key -> private child key"
 */
function childOf({ key, chainCode }: ExtendedKey, index: number): ExtendedKey {
  const from = index >= HARDENED ? concatBytes(Uint8Array.of(0), key) : secp256k1.getPublicKey(key, true);
  const child = extended(chainCode, concatBytes(from, bigIntToBytes(BigInt(index), 4)));
  const sum = (bytesToBigInt(child.key) + bytesToBigInt(key)) % secp256k1.Point.Fn.ORDER;
  return { key: bigIntToBytes(sum, 32), chainCode: child.chainCode };
}

/**
 * The first accounts of a mnemonic, on the path m/44'/60'/0'/0/i, without a passphrase. Its words are not looked up in a list: another word gives
 * other accounts.
 *
 * @source BIP-39, "From mnemonic to seed"
 */
export function accountsOfMnemonic(mnemonic: string, count: number): DevAccount[] {
  const words = mnemonic.normalize('NFKD').trim().split(/\s+/).join(' ');
  const seed = pbkdf2(sha512, ascii(words), ascii('mnemonic'), { c: 2048, dkLen: 64 });
  const path = [44 + HARDENED, 60 + HARDENED, HARDENED, 0];
  const parent = path.reduce(childOf, extended(ascii('Bitcoin seed'), seed));
  return Array.from({ length: count }, (_, i) => {
    const { key } = childOf(parent, i);
    const address = keccak256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12);
    return { address: bytesToHex(address), privateKey: bytesToHex(key) };
  });
}
