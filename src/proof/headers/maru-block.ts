import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bigIntToBytes, bigIntToMinimalBytes, compareBytes, concatBytes } from '../../primitives/bytes.js';

/** Header of a beacon block of Maru; roots have 32 bytes. */
export interface MaruHeader {
  readonly number: number;
  /** Below 2^32. */
  readonly round: number;
  /** Seconds. */
  readonly timestamp: number;
  /** 20 bytes. */
  readonly proposer: Uint8Array;
  /** Hash of the parent's header. */
  readonly parentRoot: Uint8Array;
  readonly stateRoot: Uint8Array;
  readonly bodyRoot: Uint8Array;
}

/** The execution block inside a beacon block, in the fields of its header; hashes have 32 bytes. */
export interface MaruPayload {
  readonly parentHash: Uint8Array;
  /** 20 bytes. */
  readonly feeRecipient: Uint8Array;
  readonly stateRoot: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  /** 256 bytes. */
  readonly logsBloom: Uint8Array;
  readonly prevRandao: Uint8Array;
  readonly blockNumber: number;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly timestamp: number;
  readonly extraData: Uint8Array;
  readonly baseFeePerGas: bigint;
  readonly blockHash: Uint8Array;
  /** Raw ones. */
  readonly transactions: readonly Uint8Array[];
}

/** A beacon block with the seals that commit to it, 65 bytes each: r, s, recovery id. */
export interface SealedMaruBlock {
  readonly header: MaruHeader;
  /** Seals of the parent block, which the body carries. */
  readonly parentSeals: readonly Uint8Array[];
  readonly payload: MaruPayload;
  /** Seals of this block. */
  readonly commitSeals: readonly Uint8Array[];
}

/** The `u64` of Maru's encodings: fixed width, not minimal. */
function u64(value: number | bigint): Uint8Array {
  return bigIntToBytes(BigInt(value), 8);
}

/** Shortest two's complement of a number that is not negative: a zero byte goes before a high bit, and zero is one byte. */
function signed(value: bigint): Uint8Array {
  const bytes = bigIntToMinimalBytes(value);
  return bytes.length === 0 || bytes[0]! >= 0x80 ? concatBytes(Uint8Array.of(0), bytes) : bytes;
}

function headerItems(header: MaruHeader, stateRoot: Uint8Array) {
  const { number, round, timestamp, proposer, parentRoot, bodyRoot } = header;
  const round32 = bigIntToBytes(BigInt(round), 4);
  return [u64(number), round32, u64(timestamp), [proposer], parentRoot, stateRoot, bodyRoot];
}

/** Hash of a header, 32 bytes: what commit seals sign, and what the next block names as its parent. */
export function maruHeaderHash(header: MaruHeader): Uint8Array {
  return keccak_256(RLP.encode(headerItems(header, header.stateRoot)));
}

/** `bodyRoot` of a header, 32 bytes. */
export function maruBodyRoot({
  parentSeals,
  payload: p,
}: Pick<SealedMaruBlock, 'parentSeals' | 'payload'>): Uint8Array {
  const payload = [
    p.parentHash,
    p.feeRecipient,
    p.stateRoot,
    p.receiptsRoot,
    p.logsBloom,
    p.prevRandao,
    u64(p.blockNumber),
    u64(p.gasLimit),
    u64(p.gasUsed),
    u64(p.timestamp),
    p.extraData,
    signed(p.baseFeePerGas),
    p.blockHash,
    [...p.transactions],
  ];
  return keccak_256(RLP.encode([parentSeals.map((seal) => [seal]), payload]));
}

/**
 * `stateRoot` of a header under a set of validators, 32 bytes.
 *
 * @param validators - addresses of 20 bytes, in any order
 */
export function maruStateRoot(header: MaruHeader, validators: readonly Uint8Array[]): Uint8Array {
  const sorted = [...validators].sort(compareBytes);
  const items = [headerItems(header, new Uint8Array(32)), sorted.map((validator) => [validator])];
  return keccak_256(RLP.encode(items));
}
