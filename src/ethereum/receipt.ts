import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bigIntToMinimalBytes, concatBytes } from '../primitives/bytes.js';

/** One event log: address of 20 bytes, up to four topics of 32 bytes. */
export interface Log {
  readonly address: Uint8Array;
  readonly topics: readonly Uint8Array[];
  readonly data: Uint8Array;
}

/** What a transaction did, as the receipts root commits to it. */
export interface Receipt {
  readonly type: number;
  readonly succeeded: boolean;
  /** Gas of this transaction and all before it in the block. */
  readonly cumulativeGasUsed: bigint;
  readonly logs: readonly Log[];
}

/** The 2048-bit bloom of logs, 256 bytes: three bits for each address and topic (yellow paper 4.3.1). */
export function logsBloom(logs: readonly Log[]): Uint8Array {
  const bloom = new Uint8Array(256);
  const add = (item: Uint8Array) => {
    const hash = keccak_256(item);
    for (let i = 0; i < 6; i += 2) {
      const bit = ((hash[i]! << 8) | hash[i + 1]!) & 2047;
      bloom[255 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  };
  for (const log of logs) {
    add(log.address);
    for (const topic of log.topics) add(topic);
  }
  return bloom;
}

/** Consensus encoding of a receipt: RLP, with the type in front of typed ones (EIP-2718). */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  const body = RLP.encode([
    receipt.succeeded ? Uint8Array.of(1) : new Uint8Array(0),
    bigIntToMinimalBytes(receipt.cumulativeGasUsed),
    logsBloom(receipt.logs),
    receipt.logs.map((log) => [log.address, [...log.topics], log.data]),
  ]);
  return receipt.type === 0 ? body : concatBytes(Uint8Array.of(receipt.type), body);
}
