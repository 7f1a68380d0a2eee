import { abiWord } from '../../../ethereum/abi.js';
import type { Log } from '../../../ethereum/receipt.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { concatBytes } from '../../../primitives/bytes.js';
import { hexToBytes } from '../../../primitives/hex.js';

/** One finalization of the layer-2 blocks `first` to `last`. */
export interface Finalization {
  readonly first: number;
  readonly last: number;
  /** What the contract stores of a block: the zk state root after it, or its hash. */
  readonly kind: 'stateRoot' | 'blockHash';
  /** Of the block before `first`, 32 bytes; zero in the first finalization that stores a hash. */
  readonly parent: Uint8Array;
  /** Of `last`, 32 bytes. */
  readonly final: Uint8Array;
  /** Seconds. */
  readonly timestamp: number;
}

/** Selectors of the rollup contract's getters (docs/spec/json-rpc.md 6, docs/spec/rollup-versions.md 2). */
export const SELECTORS = {
  currentL2BlockNumber: '0x695378f5',
  stateRootHashes: '0x8be745d1',
  blockHashes: '0x34cdf78d',
} as const;

/** Topics of `DataFinalizedV3(uint256,uint256,bytes32,bytes32,bytes32)` and `DataFinalizedV4(uint256,uint256,bytes32,uint256,bytes32,bytes32)`. */
const TOPICS = {
  stateRoot: hexToBytes('0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb'),
  blockHash: hexToBytes('0x86710ea04c20fbcfc0b7200362c5174c71b7183bbc324b36a83f61824be0cdef'),
} as const;

/** The event of a finalization. The simulated shnarf, or data rolling hash, is a hash of the two words and the block range only. */
export function dataFinalizedLog(rollup: Uint8Array, finalization: Finalization): Log {
  const { first, last, kind, parent, final } = finalization;
  const shnarf = keccak256(concatBytes(abiWord(first), abiWord(last), parent, final));
  const offset = kind === 'blockHash' ? [abiWord(0)] : [];
  return {
    address: rollup,
    topics: [TOPICS[kind], abiWord(first), abiWord(last), shnarf],
    data: concatBytes(...offset, parent, final),
  };
}
