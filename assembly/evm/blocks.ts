import { allocate } from './allocator';
import { ENV_BLOB_COUNT, ENV_NUMBER, GO_ON } from './regions';
import { wantBlockHash } from './wants';
import { fromBytes, zero } from './word';

/** Hashes of the 256 blocks before this one: number u64 and hash, 40 bytes each, at the place of the number modulo 256. */
const HASHES: usize = memory.data(256 * 40, 16);
const REACH: u64 = 256;

function placeOf(number: u64): usize {
  return HASHES + <usize>(number & 255) * 40;
}

export function forgetBlocks(): void {
  memory.fill(HASHES, 0xff, 256 * 40);
}

/** @param hash - 32 bytes */
export function loadHash(number: u64, hash: usize): void {
  store<u64>(placeOf(number), number);
  memory.copy(placeOf(number) + 8, hash, 32);
}

/** Replaces a block number by the block's hash; zero for blocks out of reach. @returns `GO_ON` or `WANTED` */
export function hashOfBlock(word: usize): i32 {
  const number = load<u64>(word);
  const current = load<u64>(ENV_NUMBER);
  const isFar = (load<u64>(word, 8) | load<u64>(word, 16) | load<u64>(word, 24)) !== 0;
  if (isFar || number >= current || current - number > REACH) {
    zero(word);
    return GO_ON;
  }
  if (load<u64>(placeOf(number)) !== number) return wantBlockHash(number);
  fromBytes(placeOf(number) + 8, word);
  return GO_ON;
}

let blobs: usize = 0;
let blobPlaces: u32 = 0;

/** Region for that many blob hashes of 32 bytes. */
export function blobHashes(count: u32): usize {
  if (count > blobPlaces) {
    blobs = allocate((<usize>count) << 5);
    blobPlaces = count;
  }
  store<u32>(ENV_BLOB_COUNT, count);
  return blobs;
}

/** Replaces an index by the blob hash; zero past the last. */
export function blobHashAt(word: usize): void {
  const isFar = (load<u64>(word, 8) | load<u64>(word, 16) | load<u64>(word, 24)) !== 0;
  const index = load<u64>(word);
  if (isFar || index >= <u64>load<u32>(ENV_BLOB_COUNT)) zero(word);
  else fromBytes(blobs + ((<usize>index) << 5), word);
}
