import { effectiveGasPrice } from '../../ethereum/base-fee.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { Block } from '../block.js';

/** Blocks whose tips count. go-ethereum takes 20; here the transactions of each are fetched and verified. */
const TIP_BLOCKS = 3;
/** Of each block, its transactions with the least tips. */
const LEAST_OF_BLOCK = 3;
const PERCENTILE = 60;
const IGNORED_BELOW = 2n;
const GWEI = 1_000_000_000n;
const MOST = 500n * GWEI;
/** Where no block has a tip. */
const DEFAULT = GWEI / 1000n;

/**
 * A priority fee for the next block of a layer 1, wei per gas: from what was paid in the newest blocks, by the rules of go-ethereum over
 * fewer blocks.
 *
 * @param newest - blocks with their transactions
 * @source ethereum/go-ethereum@v1.17.10 eth/gasprice/gasprice.go, SuggestTipCap
 */
function tipOf(newest: readonly Block[]): bigint {
  const tips = newest.flatMap(({ header, transactions }) => {
    const { baseFeePerGas = 0n, miner } = header;
    return transactions
      .filter(({ from }) => !equalBytes(from, miner))
      .map((transaction) => effectiveGasPrice(transaction, baseFeePerGas) - baseFeePerGas)
      .filter((tip) => tip >= IGNORED_BELOW)
      .sort(ascending)
      .slice(0, LEAST_OF_BLOCK);
  });
  const tip = tips.sort(ascending)[Math.floor(((tips.length - 1) * PERCENTILE) / 100)] ?? DEFAULT;
  return tip > MOST ? MOST : tip;
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

/** As `tipOf`, over the newest blocks up to `head`. @param read - a block with its transactions */
export async function suggestedTip(head: number, read: (number: number) => Promise<Block>): Promise<bigint> {
  const numbers = Array.from({ length: Math.min(TIP_BLOCKS, head) }, (_, i) => head - i);
  return tipOf(await Promise.all(numbers.map(read)));
}
