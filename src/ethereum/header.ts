import { RLP } from '@ethereumjs/rlp';
import { PlumblineError } from '../errors.js';
import { keccak256 } from '../kernel/keccak.js';
import { bigIntToMinimalBytes, bytesToBigInt } from '../primitives/bytes.js';

/** A block header of any fork up to Amsterdam; hashes are 32 bytes, addresses 20, the bloom 256, the nonce 8. */
export interface BlockHeader {
  readonly parentHash: Uint8Array;
  readonly sha3Uncles: Uint8Array;
  readonly miner: Uint8Array;
  /** Root of the ordinary Merkle-Patricia state trie, not of the zk state. */
  readonly stateRoot: Uint8Array;
  readonly transactionsRoot: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  readonly logsBloom: Uint8Array;
  readonly difficulty: bigint;
  readonly number: number;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Seconds. */
  readonly timestamp: number;
  readonly extraData: Uint8Array;
  readonly mixHash: Uint8Array;
  readonly nonce: Uint8Array;
  /** From London on. */
  readonly baseFeePerGas?: bigint;
  /** From Shanghai on. */
  readonly withdrawalsRoot?: Uint8Array;
  /** From Cancun on, like the next two. */
  readonly blobGasUsed?: bigint;
  readonly excessBlobGas?: bigint;
  readonly parentBeaconBlockRoot?: Uint8Array;
  /** From Prague on. */
  readonly requestsHash?: Uint8Array;
  /** Keccak-256 of the block access list (EIP-7928). From Amsterdam on, like the next. */
  readonly blockAccessListHash?: Uint8Array;
  /** Slot of the beacon chain, below 2^64 (EIP-7843). */
  readonly slotNumber?: bigint;
}

/** Number of header fields: initially, and from London, Shanghai, Cancun, Prague and Amsterdam on. */
const FIELD_COUNTS = [15, 16, 17, 20, 21, 23];
/** Lengths of fixed-length fields in bytes, by index. */
const FIXED_LENGTHS: Readonly<Record<number, number>> = {
  0: 32,
  1: 32,
  2: 20,
  3: 32,
  4: 32,
  5: 32,
  6: 256,
  13: 32,
  14: 8,
  16: 32,
  19: 32,
  20: 32,
  21: 32,
};
/** Most bytes of the slot number. */
const SLOT_BYTES = 8;

/** The items of a header's RLP list. Fields of later forks are included only if present (docs/spec/json-rpc.md 5.1). */
export function headerFields(header: BlockHeader): Uint8Array[] {
  const int = (value: bigint | number) => bigIntToMinimalBytes(BigInt(value));
  const fields = [
    header.parentHash,
    header.sha3Uncles,
    header.miner,
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    header.logsBloom,
    int(header.difficulty),
    int(header.number),
    int(header.gasLimit),
    int(header.gasUsed),
    int(header.timestamp),
    header.extraData,
    header.mixHash,
    header.nonce,
  ];
  if (header.baseFeePerGas !== undefined) fields.push(int(header.baseFeePerGas));
  if (header.withdrawalsRoot !== undefined) fields.push(header.withdrawalsRoot);
  if (header.blobGasUsed !== undefined && header.excessBlobGas !== undefined) {
    fields.push(int(header.blobGasUsed), int(header.excessBlobGas));
  }
  if (header.parentBeaconBlockRoot !== undefined) fields.push(header.parentBeaconBlockRoot);
  if (header.requestsHash !== undefined) fields.push(header.requestsHash);
  if (header.blockAccessListHash !== undefined && header.slotNumber !== undefined) {
    fields.push(header.blockAccessListHash, int(header.slotNumber));
  }
  return fields;
}

/** Block hash, 32 bytes. */
export function headerHash(header: BlockHeader): Uint8Array {
  return keccak256(RLP.encode(headerFields(header)));
}

/**
 * Decodes the items of a header's RLP list.
 *
 * @throws PlumblineError `INVALID_LENGTH` for a number of items that no fork has, or an item of the wrong length;
 *   `OUT_OF_RANGE` for a number or timestamp above 2^53 - 1
 */
export function headerFromFields(items: readonly Uint8Array[]): BlockHeader {
  if (!FIELD_COUNTS.includes(items.length)) {
    throw new PlumblineError(
      'INVALID_LENGTH',
      `a header must have ${FIELD_COUNTS.join(', ')} fields, got ${items.length}`,
      {
        what: 'header fields',
        expected: FIELD_COUNTS.join(', '),
        actual: items.length,
      },
    );
  }
  const bytes = (i: number) => {
    const [item, expected] = [items[i]!, FIXED_LENGTHS[i]];
    if (expected === undefined || item.length === expected) return item;
    const what = `header field ${i}`;
    const text = `${what} must have ${expected} bytes, got ${item.length}`;
    throw new PlumblineError('INVALID_LENGTH', text, { what, expected: String(expected), actual: item.length });
  };
  const int = (i: number) => bytesToBigInt(items[i]!);
  const slot = items[22];
  if (slot !== undefined && slot.length > SLOT_BYTES) {
    const text = `the slot number of a header must have at most ${SLOT_BYTES} bytes, got ${slot.length}`;
    throw new PlumblineError('INVALID_LENGTH', text, {
      what: 'header field 22',
      expected: `at most ${SLOT_BYTES}`,
      actual: slot.length,
    });
  }
  return {
    parentHash: bytes(0),
    sha3Uncles: bytes(1),
    miner: bytes(2),
    stateRoot: bytes(3),
    transactionsRoot: bytes(4),
    receiptsRoot: bytes(5),
    logsBloom: bytes(6),
    difficulty: int(7),
    number: index('number', int(8)),
    gasLimit: int(9),
    gasUsed: int(10),
    timestamp: index('timestamp', int(11)),
    extraData: bytes(12),
    mixHash: bytes(13),
    nonce: bytes(14),
    ...(items.length > 15 && { baseFeePerGas: int(15) }),
    ...(items.length > 16 && { withdrawalsRoot: bytes(16) }),
    ...(items.length > 17 && { blobGasUsed: int(17), excessBlobGas: int(18), parentBeaconBlockRoot: bytes(19) }),
    ...(items.length > 20 && { requestsHash: bytes(20) }),
    ...(items.length > 21 && { blockAccessListHash: bytes(21), slotNumber: int(22) }),
  };
}

function index(what: string, value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  const details = { what, value: value.toString(), limit: '2^53 - 1' };
  throw new PlumblineError('OUT_OF_RANGE', `the ${what} of a header must be at most 2^53 - 1`, details);
}
