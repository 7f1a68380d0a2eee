import type { Block, TransactionReceipt } from '../../chain/block.js';
import type { Chain, ChainCall } from '../../chain/chain.js';
import { GAS_PER_BLOB } from '../../ethereum/base-fee.js';
import type { BlockHeader } from '../../ethereum/header.js';
import type { BlockContext } from '../../evm/block-context.js';
import { rulesAt } from '../../evm/common.js';
import { isLayerOne } from '../../networks/network.js';
import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { nextTurn } from '../../scheduling/turns.js';
import { COMPUTES } from '../method-rows.js';
import { parseIndex, requireArray } from '../parse-params.js';
import { findBlock } from '../resolve-block.js';
import { invalidParams } from '../rpc-errors.js';
import type { LineaBlockJson } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';

/**
 * The network's minimum from the newest header that has it, but at least the next base fee (docs/spec/json-rpc.md 2.1).
 */
export async function gasPrice({ chain }: RpcContext, call: ChainCall): Promise<{ gasPrice: bigint; baseFee: bigint }> {
  const { baseFeePerGas: baseFee } = await chain.pendingContext(undefined, call);
  const { minGasPriceWei } = (await chain.prices(undefined, call)).prices;
  return { gasPrice: minGasPriceWei > baseFee ? minGasPriceWei : baseFee, baseFee };
}

export const eth_gasPrice = defineMethod<[], Hex>('eth_gasPrice', COMPUTES, async (context, _, call) =>
  toQuantity((await gasPrice(context, call)).gasPrice),
);

/** The gas price minus the base fee. */
export const eth_maxPriorityFeePerGas = defineMethod<[], Hex>(
  'eth_maxPriorityFeePerGas',
  COMPUTES,
  async (context, _, call) => {
    const { gasPrice: price, baseFee } = await gasPrice(context, call);
    return toQuantity(price - baseFee);
  },
);

/** Of the next block, wei. */
export const eth_baseFee = defineMethod<[], Hex>('eth_baseFee', COMPUTES, async ({ chain }, _, call) =>
  toQuantity((await chain.pendingContext(undefined, call)).baseFeePerGas),
);

/** Of the next block, wei per blob gas; 1, the minimum, on networks that refuse blob transactions. */
export const eth_blobBaseFee = defineMethod<[], Hex>('eth_blobBaseFee', COMPUTES, async ({ chain }, _, call) =>
  toQuantity((await chain.pendingContext(undefined, call)).blobBaseFee ?? 1n),
);

const MAX_BLOCKS = 1024;
const MAX_PERCENTILES = 100;
/** Blocks whose receipts are read at the same time. */
const ROWS_AT_ONCE = 16;
const COUNT = 'block count params';
const PERCENTILES = 'reward percentiles params';

/** Wei per gas, and per blob gas; zero for a block before the fork that brought them. */
interface BaseFees {
  readonly baseFee: bigint;
  readonly blobBaseFee: bigint;
}

/** Prices and use of one block. */
interface Row extends BaseFees {
  readonly gasUsedRatio: number;
  readonly blobGasUsedRatio: number;
  /** Wei per gas. */
  readonly rewards: readonly bigint[];
}

/** `[blockCount, newestBlock, rewardPercentiles]`. The last base fee is that of the block after the blocks asked for. */
export const eth_feeHistory = defineMethod<
  [blocks: Hex | number, newest: LineaBlockJson, percentiles?: readonly number[] | null],
  {
    readonly oldestBlock: Hex;
    readonly baseFeePerGas: readonly Hex[];
    readonly baseFeePerBlobGas: readonly Hex[];
    readonly gasUsedRatio: readonly number[];
    readonly blobGasUsedRatio: readonly number[];
    readonly reward?: readonly (readonly Hex[])[];
  }
>('eth_feeHistory', COMPUTES, async (context, [countParam, newestParam, percentilesParam], call) => {
  const count = parseCount(countParam);
  const percentiles = parsePercentiles(percentilesParam);
  const newest = await findBlock(context, newestParam, call);
  if (newest === undefined) throw invalidParams('newestBlock', 'is not a block of this chain', 'block number params');
  const { chain } = context;
  const last = newest.header.number;
  const blocks = await blocksUpTo(chain, newest, count, call);
  const rows: Row[] = [];
  for (let at = 0; at < blocks.length; at += ROWS_AT_ONCE) {
    await nextTurn();
    call.signal?.throwIfAborted();
    const some = blocks.slice(at, at + ROWS_AT_ONCE).map((block) => rowOf(chain, block, percentiles, call));
    rows.push(...(await Promise.all(some)));
  }
  const next = await baseFeesAfter(chain, newest, call);
  return {
    oldestBlock: toQuantity(last + 1 - rows.length),
    baseFeePerGas: [...rows.map(({ baseFee }) => baseFee), next.baseFee].map(toQuantity),
    gasUsedRatio: rows.map(({ gasUsedRatio }) => gasUsedRatio),
    baseFeePerBlobGas: [...rows.map(({ blobBaseFee }) => blobBaseFee), next.blobBaseFee].map(toQuantity),
    blobGasUsedRatio: rows.map(({ blobGasUsedRatio }) => blobGasUsedRatio),
    ...(percentiles.length > 0 && { reward: rows.map(({ rewards }): Hex[] => rewards.map(toQuantity)) }),
  };
});

/** At most `count` blocks, the newest last. */
async function blocksUpTo(chain: Chain, newest: Block, count: number, call: ChainCall): Promise<readonly Block[]> {
  const last = newest.header.number;
  const first = Math.max(0, last + 1 - count);
  return first < last ? chain.blocks(first, last, call) : count > 0 ? [newest] : [];
}

async function rowOf(chain: Chain, block: Block, percentiles: readonly number[], call: ChainCall): Promise<Row> {
  const { header } = block;
  const blobLimit = BigInt(rulesAt(chain.network, header.number, header.timestamp).blobs?.max ?? 0) * GAS_PER_BLOB;
  const receipts = percentiles.length === 0 ? [] : await chain.receipts(block, call);
  const floor = percentiles.length === 0 || isLayerOne(chain.network) ? 0n : await leastReward(chain, block, call);
  return {
    ...baseFees(chain, chain.contextOf(block)),
    gasUsedRatio: Number(header.gasUsed) / Number(header.gasLimit),
    blobGasUsedRatio: blobLimit === 0n ? 0 : Number(header.blobGasUsed ?? 0n) / Number(blobLimit),
    rewards: rewardsOf(receipts, header, percentiles).map((tip) => (tip < floor ? floor : tip)),
  };
}

/** The minimum gas price of the header minus the base fee, so that a wallet is never shown a tip that the pool refuses. */
async function leastReward(chain: Chain, block: Block, call: ChainCall): Promise<bigint> {
  const { prices, sourceBlock } = await chain.prices(block, call);
  const rest = prices.minGasPriceWei - (block.header.baseFeePerGas ?? 0n);
  return sourceBlock === undefined || rest < 0n ? 0n : rest;
}

/**
 * For each percentile, the highest tip per gas in that share of the block's gas; zeros for a block without transactions. From Amsterdam on
 * receipts do not add up to the block's gas, which counts, as in geth.
 */
export function rewardsOf(
  receipts: readonly Pick<TransactionReceipt, 'gasUsed' | 'effectiveGasPrice'>[],
  { gasUsed: total, baseFeePerGas: baseFee = 0n }: Pick<BlockHeader, 'gasUsed' | 'baseFeePerGas'>,
  percentiles: readonly number[],
): bigint[] {
  const tips = receipts.map(({ gasUsed, effectiveGasPrice }) => ({ gasUsed, tip: effectiveGasPrice - baseFee }));
  tips.sort((a, b) => (a.tip < b.tip ? -1 : a.tip > b.tip ? 1 : 0));
  let at = 0;
  let sum = Number(tips[0]?.gasUsed ?? 0n);
  return percentiles.map((percentile) => {
    const wanted = Math.floor((Number(total) * percentile) / 100);
    while (sum < wanted && at < tips.length - 1) sum += Number(tips[++at]!.gasUsed);
    return tips[at]?.tip ?? 0n;
  });
}

/** Base fees of the block after `block`, or of the simulated next block if there is none. */
async function baseFeesAfter(chain: Chain, block: Block, call: ChainCall): Promise<BaseFees> {
  const next = await chain.block({ number: block.header.number + 1 }, call);
  return baseFees(chain, next === undefined ? await chain.pendingContext(block, call) : chain.contextOf(next));
}

/** Blobs cost nothing before Cancun, and at least 1 wei from then on, even where the network refuses them. */
function baseFees({ network }: Chain, { number, timestamp, baseFeePerGas, blobBaseFee }: BlockContext): BaseFees {
  const least = rulesAt(network, number, timestamp).cancun ? 1n : 0n;
  return { baseFee: baseFeePerGas, blobBaseFee: blobBaseFee ?? least };
}

/** A quantity; some clients send a number. */
function parseCount(value: unknown): number {
  // Hex or decimal digits, as in geth.
  const isDecimal = typeof value === 'string' && /^[0-9]{1,4}$/.test(value);
  const count = typeof value === 'number' || isDecimal ? Number(value) : parseIndex(value, 'blockCount', COUNT);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_BLOCKS) return count;
  throw invalidParams('blockCount', `is not between 1 and ${MAX_BLOCKS}`, COUNT);
}

function parsePercentiles(value: unknown): readonly number[] {
  const items = requireArray(value ?? [], 'rewardPercentiles', PERCENTILES);
  if (items.length > MAX_PERCENTILES) {
    throw invalidParams('rewardPercentiles', `has more than ${MAX_PERCENTILES} items`, PERCENTILES);
  }
  let last = 0;
  return items.map((item, i) => {
    if (typeof item !== 'number' || !(item >= last && item <= 100)) {
      throw invalidParams(`rewardPercentiles[${i}]`, `is not a number between ${last} and 100`, PERCENTILES);
    }
    last = item;
    return item;
  });
}
