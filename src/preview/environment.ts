import type { BlockContext } from '../evm/block-context.js';
import { keccak256 } from '../kernel/keccak.js';

/** Instructions that read what a simulation could get wrong, by opcode. */
const READS: readonly (readonly [name: string, opcode: number])[] = [
  ['BALANCE', 0x31],
  ['GASPRICE', 0x3a],
  ['BLOCKHASH', 0x40],
  ['COINBASE', 0x41],
  ['TIMESTAMP', 0x42],
  ['NUMBER', 0x43],
  ['DIFFICULTY', 0x44],
  ['GASLIMIT', 0x45],
  ['SELFBALANCE', 0x47],
  ['BASEFEE', 0x48],
  ['BLOBBASEFEE', 0x4a],
  ['GAS', 0x5a],
];

/** Those after which the calls run a second time, in another context. */
const SUSPICIOUS = ['GASPRICE', 'BLOCKHASH', 'COINBASE', 'DIFFICULTY', 'BASEFEE'];

/** Seconds by which the second context is later. */
const LATER = 12;

/** Names of the instructions of a run's record. DIFFICULTY is PREVRANDAO since Paris. */
export function environmentReads(record: bigint): string[] {
  if (record === 0n) return [];
  return READS.filter(([, opcode]) => (record >> BigInt(opcode & 63)) & 1n).map(([name]) => name);
}

/** Whether a contract may have found out that it is simulated. */
export const looksForSimulation = (reads: readonly string[]) => reads.some((name) => SUSPICIOUS.includes(name));

/**
 * Another block that could come next. Its time and prevrandao are different: they are not known before a block is made.
 *
 * @source docs/spec/preview.md 9
 */
export function otherContext(block: BlockContext): BlockContext {
  return { ...block, timestamp: block.timestamp + LATER, prevRandao: keccak256(block.prevRandao) };
}
