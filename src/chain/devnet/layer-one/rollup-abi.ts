import type { Log } from '../../../ethereum/receipt.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { bigIntToBytes, concatBytes } from '../../../primitives/bytes.js';
import { hexToBytes } from '../../../primitives/hex.js';

/** One finalization: the layer-2 blocks `first` to `last`, and the zk state roots before and after. */
export interface Finalization {
  readonly first: number;
  readonly last: number;
  readonly parentRoot: Uint8Array;
  readonly finalRoot: Uint8Array;
  /** Seconds. */
  readonly timestamp: number;
}

/** Selectors of the rollup contract's getters (docs/spec/json-rpc.md 6). */
export const SELECTORS = {
  currentL2BlockNumber: '0x695378f5',
  stateRootHashes: '0x8be745d1',
} as const;

/** Topic of `DataFinalizedV3(uint256,uint256,bytes32,bytes32,bytes32)`. */
const DATA_FINALIZED_TOPIC: Uint8Array = hexToBytes(
  '0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb',
);

const word = (value: number) => bigIntToBytes(BigInt(value), 32);

/** The event of a finalization. The simulated shnarf is a hash of the two roots and the block range only. */
export function dataFinalizedLog(rollup: Uint8Array, finalization: Finalization): Log {
  const { first, last, parentRoot, finalRoot } = finalization;
  const shnarf = keccak256(concatBytes(word(first), word(last), parentRoot, finalRoot));
  return {
    address: rollup,
    topics: [DATA_FINALIZED_TOPIC, word(first), word(last), shnarf],
    data: concatBytes(parentRoot, finalRoot),
  };
}
