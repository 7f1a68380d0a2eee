import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { padStart } from '../../primitives/bytes.js';
import type { Pieces } from '../../scheduling/pieces.js';
import type { Output } from './work.js';

/** Bytes that are hashed in about a millisecond. */
const PIECE_BYTES = 1 << 17;

/** SHA-256 of the input. @source Ethereum Yellow Paper, appendix E.1 */
export const runSha256 = (input: Uint8Array): Pieces<Output> => digest(sha256.create(), input);

/** RIPEMD-160 of the input, padded to 32 bytes. @source Ethereum Yellow Paper, appendix E.1 */
export const runRipemd160 = (input: Uint8Array): Pieces<Output> => digest(ripemd160.create(), input);

interface Hash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

function* digest(hash: Hash, input: Uint8Array): Pieces<Output> {
  for (let at = 0; at < input.length; at += PIECE_BYTES) {
    if (at > 0) yield;
    hash.update(input.subarray(at, at + PIECE_BYTES));
  }
  return padStart(hash.digest(), 32);
}
