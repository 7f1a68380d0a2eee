import type { DevnetControl, MineTimes } from '../../chain/devnet/mining/control.js';
import { optional, parseBoolean } from '../parsing/parse-params.js';
import type { MethodCallOptions } from '../protocol/method.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { devnetMethods, parseCount } from './devnet-method.js';

/** Most blocks of one request. */
const MAX_BLOCKS = 100_000;
/** An interval from here on is in milliseconds: no developer waits that many seconds for a block. */
const MILLISECONDS_FROM = 1000;

export const MINING_METHODS = {
  /** `evm_mine(timestamp?)` or `evm_mine({timestamp?, blocks?})`: seals blocks; times in seconds. */
  ...devnetMethods(['evm_mine'], async (devnet, [parameter], call) => {
    const { count, first } = readMining(parameter);
    await devnet.mine(count, { first }, call);
    return '0x0';
  }),

  /** `(blocks?, interval?)`: seconds from each block to the next, and from the head to the first block. */
  ...devnetMethods(['anvil_mine'], async (devnet, [blocks, spacing], call) => {
    const interval = parseInterval(spacing);
    const first = interval === undefined ? undefined : devnet.headTimestamp + interval;
    await mine(devnet, blocks, { first, interval }, call);
    return null;
  }),

  /** `(blocks?, interval?)`: seconds from each block to the next. The time of the first block is the clock's. */
  ...devnetMethods(['hardhat_mine'], async (devnet, [blocks, spacing], call) => {
    await mine(devnet, blocks, { interval: parseInterval(spacing) }, call);
    return true;
  }),

  /** Switching it off leaves mining by interval as it is. */
  ...devnetMethods(['evm_setAutomine', 'anvil_setAutomine'], async (devnet, [enabled]) => {
    if (parseBoolean(enabled, 'enabled')) await devnet.setMining('auto');
    else if (devnet.mining === 'auto') await devnet.setMining('manual');
    return true;
  }),

  ...devnetMethods(['anvil_getAutomine', 'hardhat_getAutomine'], ({ mining }) => mining === 'auto'),

  /**
   * Anvil counts seconds, and with zero no block is made by itself any more. Hardhat counts milliseconds, and zero ends the
   * interval alone. Under the name that both have, the devnet's tool decides; without a tool zero means what it means in
   * Hardhat, and numbers from 1000 on are milliseconds.
   */
  ...devnetMethods(['evm_setIntervalMining', 'anvil_setIntervalMining'], async (devnet, [interval], { name }) => {
    const given = parseCount(interval, 'interval');
    const isAnvil = name.startsWith('anvil') || devnet.tool === 'anvil';
    const inMilliseconds = isAnvil ? false : devnet.tool !== undefined || given >= MILLISECONDS_FROM;
    if (given > 0) await devnet.setMining({ intervalSeconds: inMilliseconds ? given / 1000 : given });
    else if (isAnvil) await devnet.setMining('manual');
    else await devnet.endInterval();
    return true;
  }),

  /** Seconds; null while no interval is set. */
  ...devnetMethods(['anvil_getIntervalMining'], ({ mining }) =>
    typeof mining === 'object' ? mining.intervalSeconds : null,
  ),
};

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
