import type { DevnetControl, MineTimes } from '../../chain/devnet/mining/control.js';
import { rulesAt } from '../../evm/common.js';
import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { MethodCallOptions } from '../method.js';
import { CHANGES_DEVNET, READS_DEVNET } from '../method-rows.js';
import { optional, parseAddress, parseBoolean, parseHash } from '../parse-params.js';
import { invalidParams, RpcError } from '../rpc-errors.js';
import type { Amount } from '../schema/json.js';
import { devnetMethods, parseAmount, parseCount } from './devnet-method.js';

/** Most blocks of one request. */
const MAX_BLOCKS = 100_000;
/** An interval from here on is in milliseconds: no developer waits that many seconds for a block. */
const MILLISECONDS_FROM = 1000;

export const MINING_METHODS = [
  /** `evm_mine(timestamp?)` or `evm_mine({timestamp?, blocks?})`: seals blocks; times in seconds. */
  ...devnetMethods<[at?: Amount | { readonly timestamp?: Amount; readonly blocks?: Amount }], Hex>(
    ['evm_mine'],
    CHANGES_DEVNET,
    async (devnet, [parameter], call) => {
      const { count, first } = readMining(parameter);
      await devnet.mine(count, { first }, call);
      return '0x0';
    },
  ),

  /** `(blocks?, interval?)`: seconds from each block to the next. They also go by on the clock before the first block. */
  ...devnetMethods<[blocks?: Amount, seconds?: Amount], null>(
    ['anvil_mine'],
    CHANGES_DEVNET,
    async (devnet, [blocks, spacing], call) => {
      const interval = parseInterval(spacing);
      await mine(devnet, blocks, { interval, before: interval }, call);
      return null;
    },
  ),

  /** `(blocks?, interval?)`: seconds from each block to the next. The time of the first block is the clock's. */
  ...devnetMethods<[blocks?: Amount, seconds?: Amount], true>(
    ['hardhat_mine'],
    CHANGES_DEVNET,
    async (devnet, [blocks, spacing], call) => {
      await mine(devnet, blocks, { interval: parseInterval(spacing) }, call);
      return true;
    },
  ),

  /** Switching it off leaves mining by interval as it is. */
  ...devnetMethods<[enabled: boolean], true>(
    ['evm_setAutomine', 'anvil_setAutomine'],
    CHANGES_DEVNET,
    async (devnet, [enabled]) => {
      if (parseBoolean(enabled, 'enabled')) await devnet.setMining('auto');
      else await devnet.endAutomine();
      return true;
    },
  ),

  ...devnetMethods<[], boolean>(
    ['anvil_getAutomine', 'hardhat_getAutomine'],
    READS_DEVNET,
    ({ mining }) => mining === 'auto',
  ),

  /**
   * Anvil counts seconds, and with zero no block is made by itself any more. Hardhat counts milliseconds, and zero ends the
   * interval alone. Under the name that both have, the devnet's tool decides; without a tool zero means what it means in
   * Hardhat, and numbers from 1000 on are milliseconds.
   */
  ...devnetMethods<[count: Amount], true>(
    ['evm_setIntervalMining', 'anvil_setIntervalMining'],
    CHANGES_DEVNET,
    async (devnet, [interval], { name }) => {
      const given = parseCount(interval, 'interval');
      const isAnvil = name.startsWith('anvil') || devnet.tool === 'anvil';
      const inMilliseconds = isAnvil ? false : devnet.tool !== undefined || given >= MILLISECONDS_FROM;
      if (given > 0) await devnet.setMining({ intervalSeconds: inMilliseconds ? given / 1000 : given });
      else if (isAnvil) await devnet.setMining('manual');
      else await devnet.endInterval();
      return true;
    },
  ),

  /** Seconds; null while no interval is set. */
  ...devnetMethods<[], number | null>(['anvil_getIntervalMining'], READS_DEVNET, ({ mining }) =>
    typeof mining === 'object' ? mining.intervalSeconds : null,
  ),
];

async function mine(devnet: DevnetControl, blocks: unknown, times: MineTimes, call: MethodCallOptions): Promise<void> {
  await devnet.mine(countOf(blocks, MAX_BLOCKS), times, call);
}

/** The parameter of `evm_mine`: how many blocks, and the time of the first in seconds. */
export function readMining(parameter: unknown, most = MAX_BLOCKS): { count: number; first: number | undefined } {
  const { timestamp, blocks } =
    typeof parameter === 'object' && parameter !== null
      ? (parameter as { timestamp?: unknown; blocks?: unknown })
      : { timestamp: parameter, blocks: undefined };
  return { count: countOf(blocks, most), first: optional(timestamp, (value) => parseCount(value, 'timestamp')) };
}

function countOf(blocks: unknown, most: number): number {
  const count = optional(blocks, (value) => parseCount(value, 'blocks')) ?? 1;
  if (count > most) throw invalidParams('blocks', `is above ${most}`);
  return count;
}

/** Clients send zero for no interval. */
function parseInterval(value: unknown): number | undefined {
  return optional(value, (present) => parseCount(present, 'interval')) || undefined;
}

/*
 * The clock of a devnet. Names and parameter forms are those of Hardhat Network, Anvil and Ganache; answers too, where those
 * three agree.
 */

export const TIME_METHODS = [
  /** Answers with the seconds that the clock is now ahead of the wall clock. */
  ...devnetMethods<[count: Amount], Hex>(
    ['evm_increaseTime', 'anvil_increaseTime'],
    CHANGES_DEVNET,
    async (devnet, [seconds]) => toQuantity(Math.max(0, await devnet.increaseTime(parseCount(seconds, 'seconds')))),
  ),

  /**
   * Sets the clock, forwards or back; it runs on from there. Anvil counts seconds and Ganache milliseconds: under the name that
   * both have, the devnet's tool decides. Answers with the seconds that the clock went forward.
   */
  ...devnetMethods<[at: Amount], number>(
    ['anvil_setTime', 'evm_setTime'],
    CHANGES_DEVNET,
    async (devnet, [timestamp], { name }) => {
      const given = parseCount(timestamp, 'timestamp');
      const inMilliseconds = name === 'evm_setTime' && devnet.tool === 'ganache';
      return devnet.setTime(inMilliseconds ? Math.floor(given / 1000) : given);
    },
  ),

  ...devnetMethods<[count: Amount], null>(
    ['evm_setNextBlockTimestamp', 'anvil_setNextBlockTimestamp'],
    CHANGES_DEVNET,
    async (devnet, [timestamp]) => {
      await devnet.setNextTimestamp(parseCount(timestamp, 'timestamp'));
      return null;
    },
  ),

  /** Clients of Anvil send seconds, clients of Hardhat milliseconds. */
  ...devnetMethods<[count: Amount], null>(
    ['anvil_setBlockTimestampInterval', 'hardhat_setBlockTimestampInterval'],
    CHANGES_DEVNET,
    async (devnet, [interval], { name }) => {
      const given = parseCount(interval, 'interval');
      await devnet.setTimestampInterval(name.startsWith('hardhat') ? Math.floor(given / 1000) : given);
      return null;
    },
  ),

  ...devnetMethods<[], true>(
    ['anvil_removeBlockTimestampInterval', 'hardhat_removeBlockTimestampInterval'],
    CHANGES_DEVNET,
    async (devnet) => {
      await devnet.setTimestampInterval(undefined);
      return true;
    },
  ),
];

/** Header fields of the next block. */
export const NEXT_BLOCK_METHODS = [
  ...devnetMethods<[count: Amount], true>(
    ['anvil_setNextBlockBaseFeePerGas', 'hardhat_setNextBlockBaseFeePerGas'],
    CHANGES_DEVNET,
    async (devnet, [baseFee]) => {
      await devnet.setNextBlock({ baseFeePerGas: parseAmount(baseFee, 'baseFeePerGas') });
      return true;
    },
  ),

  ...devnetMethods<[value: Hex], true>(['hardhat_setPrevRandao'], CHANGES_DEVNET, async (devnet, [value]) => {
    await devnet.setNextBlock({ prevRandao: parseHash(value, 'prevRandao') });
    return true;
  }),

  ...devnetMethods<[address: Hex], true>(
    ['anvil_setCoinbase', 'hardhat_setCoinbase'],
    CHANGES_DEVNET,
    async (devnet, [address]) => {
      await devnet.setNextBlock({ coinbase: parseAddress(address) });
      return true;
    },
  ),

  ...devnetMethods<[count: Amount], true>(
    ['evm_setBlockGasLimit', 'anvil_setBlockGasLimit'],
    CHANGES_DEVNET,
    async (devnet, [limit]) => {
      await devnet.setNextBlock({ gasLimit: parseAmount(limit, 'gasLimit', 63) });
      return true;
    },
  ),
];

export const SNAPSHOT_METHODS = [
  ...devnetMethods<[], Hex>(['evm_snapshot', 'anvil_snapshot'], CHANGES_DEVNET, async (devnet) =>
    toQuantity(await devnet.snapshot()),
  ),

  /** Answers false for an id of no snapshot, or of one that was reverted to before. */
  ...devnetMethods<[count: Amount], boolean>(['evm_revert', 'anvil_revert'], CHANGES_DEVNET, (devnet, [id]) =>
    devnet.revert(parseCount(id, 'id')),
  ),
];

const INVALID_PARAMS = -32602;

/** Settings of the node itself, and those that this one cannot have. */
export const SETTING_METHODS = [
  /** A devnet prints nothing, so that nothing changes. */
  ...devnetMethods<[enabled: boolean], null>(['anvil_setLoggingEnabled'], CHANGES_DEVNET, (_, [enabled]) => {
    parseBoolean(enabled, 'enabled');
    return null;
  }),
  ...devnetMethods<[enabled: boolean], true>(['hardhat_setLoggingEnabled'], CHANGES_DEVNET, (_, [enabled]) => {
    parseBoolean(enabled, 'enabled');
    return true;
  }),

  /** Refused as anvil and Hardhat do where transactions pay a base fee. */
  ...devnetMethods<[price: Amount], never>(
    ['anvil_setMinGasPrice', 'hardhat_setMinGasPrice'],
    CHANGES_DEVNET,
    async (_, [price], call) => {
      const { name, context } = call;
      parseAmount(price, 'gasPrice');
      const { network } = context.chain;
      const { number, timestamp } = await context.chain.pendingContext(undefined, call);
      const reason = rulesAt(network, number, timestamp).london
        ? 'is not supported when EIP-1559 is active'
        : "is not supported: the least price is the network profile's";
      const details = { parameter: 'gasPrice', reason };
      throw new RpcError({ code: INVALID_PARAMS, message: `${name} ${reason}`, reason: 'INVALID_PARAMETER', details });
    },
  ),

  ...devnetMethods<[chainId: Amount], null>(['anvil_setChainId'], CHANGES_DEVNET, async (devnet, [chainId]) => {
    const id = parseCount(chainId, 'chainId');
    if (id === 0) throw invalidParams('chainId', 'must not be zero');
    await devnet.setChainId(id);
    return null;
  }),
];
