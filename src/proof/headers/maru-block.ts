import { RLP } from '@ethereumjs/rlp';
import { keccak256 } from '../../kernel/keccak.js';
import { bigIntToBytes, bigIntToMinimalBytes, compareBytes, concatBytes } from '../../primitives/bytes.js';

/** Header of a Maru beacon block. Roots have 32 bytes. */
export interface MaruHeader {
  readonly number: number;
  /** Below 2^32. */
  readonly round: number;
  /** Seconds. */
  readonly timestamp: number;
  /** 20 bytes. */
  readonly proposer: Uint8Array;
  /** Hash of the parent header. */
  readonly parentRoot: Uint8Array;
  readonly stateRoot: Uint8Array;
  readonly bodyRoot: Uint8Array;
}

/** The execution block in a beacon block. Hashes have 32 bytes. */
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
  /** Raw transactions. */
  readonly transactions: readonly Uint8Array[];
}

/** A beacon block with its seals, 65 bytes each: r, s, recovery id. */
export interface SealedMaruBlock {
  readonly header: MaruHeader;
  /** Seals of the parent block, contained in the body. */
  readonly parentSeals: readonly Uint8Array[];
  readonly payload: MaruPayload;
  /** Seals of this block. */
  readonly commitSeals: readonly Uint8Array[];
}

/** `u64` in Maru's encodings: 8 bytes, big-endian. */
function u64(value: number | bigint): Uint8Array {
  return bigIntToBytes(BigInt(value), 8);
}

/** Shortest two's complement of a number of at least zero: with a zero byte before a set high bit; zero is one byte. */
function signed(value: bigint): Uint8Array {
  const bytes = bigIntToMinimalBytes(value);
  return bytes.length === 0 || bytes[0]! >= 0x80 ? concatBytes(Uint8Array.of(0), bytes) : bytes;
}

function headerItems(header: MaruHeader, stateRoot: Uint8Array) {
  const { number, round, timestamp, proposer, parentRoot, bodyRoot } = header;
  const round32 = bigIntToBytes(BigInt(round), 4);
  return [u64(number), round32, u64(timestamp), [proposer], parentRoot, stateRoot, bodyRoot];
}

/** Hash of a header, 32 bytes. Commit seals sign it, and the next block has it as its parent root. */
export function maruHeaderHash(header: MaruHeader): Uint8Array {
  return keccak256(RLP.encode(headerItems(header, header.stateRoot)));
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
  return keccak256(RLP.encode([parentSeals.map((seal) => [seal]), payload]));
}

/**
 * `stateRoot` of a header with a set of validators, 32 bytes.
 *
 * @param validators - addresses of 20 bytes, in any order
 */
export function maruStateRoot(header: MaruHeader, validators: readonly Uint8Array[]): Uint8Array {
  const sorted = [...validators].sort(compareBytes);
  const items = [headerItems(header, new Uint8Array(32)), sorted.map((validator) => [validator])];
  return keccak256(RLP.encode(items));
}
