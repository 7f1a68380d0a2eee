import { blobBaseFee } from '../src/ethereum/base-fee.js';
import type { BlockContext } from '../src/evm/block-context.js';
import { rulesAt } from '../src/evm/common.js';
import type { Network } from '../src/networks/network.js';
import { bigIntToBytes } from '../src/primitives/bytes.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';

/** A block as files of tests describe it: numbers in decimal or hex text. What is left out is zero. */
interface FixtureBlock {
  readonly number: string;
  readonly timestamp: string;
  readonly slotNumber?: string | undefined;
  readonly gasLimit: string;
  readonly coinbase: Hex;
  readonly baseFeePerGas: string | undefined;
  readonly prevRandao: string | undefined;
  readonly difficulty: string | undefined;
  readonly excessBlobGas: string | undefined;
}

/** The environment of a described block: difficulty, base fee and blob base fee only under forks that have them. */
export function contextOfFixture(
  network: Pick<Network, 'chainId' | 'forks'>,
  block: FixtureBlock,
  blockHash: BlockContext['blockHash'],
): BlockContext {
  const [number, timestamp] = [Number(block.number), Number(block.timestamp)];
  const { london, paris, blobs } = rulesAt(network, number, timestamp);
  return {
    number,
    timestamp,
    slotNumber: BigInt(block.slotNumber ?? 0),
    gasLimit: BigInt(block.gasLimit),
    baseFeePerGas: london ? BigInt(block.baseFeePerGas ?? 0) : 0n,
    coinbase: hexToBytes(block.coinbase, 20),
    prevRandao: bigIntToBytes(BigInt(block.prevRandao ?? 0), 32),
    ...(!paris && { difficulty: BigInt(block.difficulty ?? 0) }),
    ...(blobs !== undefined && { blobBaseFee: blobBaseFee(BigInt(block.excessBlobGas ?? 0), blobs) }),
    blockHash,
  };
}
