import type { BlockHeader } from '../src/ethereum/header.js';
import { type BlockContext, contextOfHeader } from '../src/evm/block-context.js';
import type { Hardfork } from '../src/networks/network.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import type { Alloc } from './alloc-state.js';

/** What changed, in the form of `postStateChanges`. */
export type StateDiff = Record<Hex, { nonce?: Hex; balance?: Hex; code?: Hex; storage?: Record<Hex, Hex> }>;

/** A transaction of a recorded block, and what it did. */
export interface RecordedTransaction {
  raw: Hex;
  hash: Hex;
  from: Hex;
  status: Hex;
  gasUsed: Hex;
  gasUsedBeforeRefund: Hex;
  cumulativeGasUsed: Hex;
  returnData: Hex;
  logs: { address: Hex; topics: Hex[]; data: Hex }[];
  estimateGas?: { geth: Hex; besu: Hex; exactSearch: Hex };
}

/** A block of the folder `blocks`. */
export interface RecordedBlock {
  chainId: Hex;
  hardfork: Hardfork;
  header: Record<string, Hex>;
  blockHashesUsed: Record<Hex, Hex>;
  transactions: RecordedTransaction[];
  preState: Alloc;
  postStateChanges: StateDiff;
}

/** Cap of the nodes that the recorded estimates are of. */
export const RPC_GAS_CAP = 50_000_000;

/** What execution takes of a network that has one fork. */
export function rulesFor(hardfork: Hardfork, chainId: Hex, rpcGasCap: Hex | number) {
  return { chainId: Number(chainId), forks: [{ hardfork, block: 0 }], rpcGasCap: BigInt(rpcGasCap) };
}

/** The context a recorded block was executed in. */
export function recordedContext(block: RecordedBlock): BlockContext {
  const field = (name: string) => block.header[name]!;
  const header = {
    miner: hexToBytes(field('miner'), 20),
    number: Number(field('number')),
    timestamp: Number(field('timestamp')),
    gasLimit: BigInt(field('gasLimit')),
    baseFeePerGas: BigInt(field('baseFeePerGas')),
    mixHash: hexToBytes(field('mixHash'), 32),
    difficulty: BigInt(field('difficulty')),
  } as BlockHeader;
  const hashes = block.blockHashesUsed;
  return contextOfHeader(header, async (number) => hexToBytes(hashes[toQuantity(number)]!, 32));
}
