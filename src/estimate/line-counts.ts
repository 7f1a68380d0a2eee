import { PlumblineError } from '../errors.js';
import type { Log } from '../ethereum/receipt.js';
import { keccakBlocks, type ModuleCounts } from '../evm/interpreter/counters.js';
import type { CountedModule } from '../networks/module-limits.js';
import type { Network } from '../networks/network.js';
import { equalBytes } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';

/** One limit of the sequencer's line counter, and the count of one transaction alone. */
export interface LineCount {
  readonly module: CountedModule;
  readonly count: number;
  readonly limit: number;
}

/** What is counted of a transaction outside the interpreter, with the counts of its execution. */
export interface CountedTransaction {
  /** Length of the signed transaction, bytes. */
  readonly signedBytes: number;
  readonly logs: readonly Log[];
  /** Counts of its execution. */
  readonly counts: ModuleCounts;
}

const SENDER_BYTES = 20;
/** Of a block: timestamp, hash and number of transactions. */
const BLOCK_BYTES = 38;
/** Keccak-256 of `MessageSent(address,address,uint256,uint256,uint256,bytes,bytes32)`. */
const MESSAGE_SENT = hexToBytes('0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c', 32);

/**
 * Counts of a transaction alone in a block, for every module that has a limit.
 *
 * @source docs/spec/fees.md 7
 */
export function lineCounts(
  { signedBytes, logs, counts }: CountedTransaction,
  { moduleLimits = {}, messageService }: Pick<Network, 'moduleLimits' | 'messageService'>,
): LineCount[] {
  const messages = messageService === undefined || logs.length === 0 ? 0 : messagesTo(hexToBytes(messageService), logs);
  // One hash of the transaction, one for its sender's address, and one for each address that ECRECOVER returns.
  const hashes = keccakBlocks(signedBytes) + 1 + (counts.PRECOMPILE_ECRECOVER_EFFECTIVE_CALLS ?? 0);
  const found: Partial<Record<CountedModule, number>> = {
    BLOCK_TRANSACTIONS: 1,
    BLOCK_L1_SIZE: signedBytes + SENDER_BYTES + BLOCK_BYTES,
    BLOCK_L2_L1_LOGS: messages,
    BLOCK_KECCAK: (counts.BLOCK_KECCAK ?? 0) + hashes,
  };
  const lines: LineCount[] = [];
  for (const [module, limit] of Object.entries(moduleLimits) as [CountedModule, number][])
    lines.push({ module, count: found[module] ?? counts[module] ?? 0, limit });
  return lines;
}

/** @throws PlumblineError `MODULE_LIMIT_EXCEEDED` with the first limit that is exceeded */
export function requireWithinLimits(lines: readonly LineCount[]): void {
  for (const { module, count, limit } of lines) {
    if (count <= limit) continue;
    const text = `the transaction counts ${count} of ${module}, a block may have ${limit}; split it into smaller ones`;
    throw new PlumblineError('MODULE_LIMIT_EXCEEDED', text, { module, count, limit });
  }
}

function messagesTo(service: Uint8Array, logs: readonly Log[]): number {
  return logs.filter(
    ({ address, topics }) =>
      equalBytes(address, service) && topics[0] !== undefined && equalBytes(topics[0], MESSAGE_SENT),
  ).length;
}
