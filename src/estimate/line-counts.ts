import { keccak_256 } from '@noble/hashes/sha3.js';
import { PlumblineError } from '../errors.js';
import type { Log } from '../ethereum/receipt.js';
import { keccakBlocks, type ModuleCounts } from '../evm/interpreter/counters.js';
import type { CountedModule } from '../networks/module-limits.js';
import type { Network } from '../networks/network.js';
import { equalBytes } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';

/** One limit of the sequencer's line counter, and what a transaction comes to by itself. */
export interface LineCount {
  readonly module: CountedModule;
  readonly count: number;
  readonly limit: number;
}

/** A transaction as far as it is counted outside the interpreter. */
export interface CountedTransaction {
  /** Bytes of it, signed. */
  readonly signedBytes: number;
  readonly logs: readonly Log[];
  /** What its run came to. */
  readonly counts: ModuleCounts;
}

const SENDER_BYTES = 20;
/** Of a block: time, hash and number of transactions. */
const BLOCK_BYTES = 38;
const MESSAGE_SENT = keccak_256(
  new TextEncoder().encode('MessageSent(address,address,uint256,uint256,uint256,bytes,bytes32)'),
);

/**
 * What a transaction comes to, alone in a block, of everything that has a limit.
 *
 * @source docs/spec/fees.md 7
 */
export function lineCounts(
  { signedBytes, logs, counts }: CountedTransaction,
  { moduleLimits = {}, messageService }: Pick<Network, 'moduleLimits' | 'messageService'>,
): LineCount[] {
  const ofTransaction: ModuleCounts = {
    BLOCK_TRANSACTIONS: 1,
    BLOCK_L1_SIZE: signedBytes + SENDER_BYTES + BLOCK_BYTES,
    BLOCK_L2_L1_LOGS: messageService === undefined ? 0 : messagesTo(hexToBytes(messageService), logs),
    // The transaction is hashed, its sender is derived from a key, and so is whoever ECRECOVER finds.
    BLOCK_KECCAK:
      (counts.BLOCK_KECCAK ?? 0) + keccakBlocks(signedBytes) + 1 + (counts.PRECOMPILE_ECRECOVER_EFFECTIVE_CALLS ?? 0),
  };
  const all = { ...counts, ...ofTransaction };
  return (Object.entries(moduleLimits) as [CountedModule, number][]).map(([module, limit]) => ({
    module,
    count: all[module] ?? 0,
    limit,
  }));
}

/** @throws PlumblineError `MODULE_LIMIT_EXCEEDED` with the first limit that does not hold */
export function requireWithinLimits(lines: readonly LineCount[]): void {
  for (const { module, count, limit } of lines) {
    if (count <= limit) continue;
    const text = `${module} is ${count}, limit ${limit}`;
    throw new PlumblineError('MODULE_LIMIT_EXCEEDED', text, { module, count, limit });
  }
}

function messagesTo(service: Uint8Array, logs: readonly Log[]): number {
  return logs.filter(
    ({ address, topics }) =>
      equalBytes(address, service) && topics[0] !== undefined && equalBytes(topics[0], MESSAGE_SENT),
  ).length;
}
