/**
 * What a devnet did before, kept small, for ratios within one run. "Before" is commit b9d6299.
 */
import { Common, Mainnet } from '@ethereumjs/common';
import { createEVM } from '@ethereumjs/evm';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Block } from '../src/chain/block.js';
import type { Ledger } from '../src/chain/devnet/records/ledger.js';
import { bloomTest, type LogFilter } from '../src/chain/log-filter.js';

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Hex of less than 256 bytes: a string joined from its digits. */
export function joinedHex(bytes: Uint8Array): string {
  let text = '0x';
  for (const byte of bytes) text += DIGITS[byte];
  return text;
}

/** Blocks of a range that a filter may match: each block was read for its bloom. */
export async function searchByBlocks(ledger: Ledger, to: number, filter: LogFilter): Promise<Block[]> {
  const mayMatch = bloomTest(filter);
  const found: Block[] = [];
  for (let number = 1; number <= to; number++) {
    const block = await Promise.resolve(ledger.blockByNumber(number));
    if (block !== undefined && mayMatch(block.header.logsBloom)) found.push(block);
  }
  return found;
}

const NODE = new Uint8Array(532).fill(7);
const NODES = 64;

/**
 * A fixed amount of the work that a block was made of: an interpreter of @ethereumjs/evm with its rules, and 64 keccak256 of
 * @noble/hashes over 532 bytes, the size of a full branch of a trie. The devnet does neither any more.
 */
export async function blockYardstick(): Promise<void> {
  await createEVM({ common: new Common({ chain: Mainnet, hardfork: 'osaka' }) });
  for (let i = 0; i < NODES; i++) keccak_256(NODE);
}
