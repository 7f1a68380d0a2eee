import type { DevnetControl, MineTimes } from '../../chain/devnet/mining/control.js';
import { optional } from '../parsing/parse-params.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { developerMethods, parseCount } from './developer.js';

/** Blocks of one request. */
const MAX_BLOCKS = 100_000;

/** `evm_mine(timestamp?)` or `evm_mine({timestamp?, blocks?})`: seals blocks; times in seconds. */
const evm_mine = developerMethods(['evm_mine'], async (devnet, [parameter]) => {
  const { timestamp, blocks } =
    typeof parameter === 'object' && parameter !== null
      ? (parameter as { timestamp?: unknown; blocks?: unknown })
      : { timestamp: parameter, blocks: undefined };
  return mine(devnet, blocks, { first: optional(timestamp, (value) => parseCount(value, 'timestamp')) }, '0x0');
});

/** `(blocks?, interval?)`: every block so many seconds after the one before, the first of them too. */
const anvil_mine = developerMethods(['anvil_mine'], (devnet, [blocks, spacing]) => {
  const interval = parseInterval(spacing);
  const first = interval === undefined ? undefined : devnet.headTimestamp + interval;
  return mine(devnet, blocks, { first, interval }, null);
});

/** `(blocks?, interval?)`: so many seconds from one block to the next; the clock has the first. */
const hardhat_mine = developerMethods(['hardhat_mine'], (devnet, [blocks, spacing]) =>
  mine(devnet, blocks, { interval: parseInterval(spacing) }, true),
);

export const MINE_METHODS = [...evm_mine, ...anvil_mine, ...hardhat_mine];

async function mine<Answer>(devnet: DevnetControl, blocks: unknown, times: MineTimes, answer: Answer): Promise<Answer> {
  const count = optional(blocks, (value) => parseCount(value, 'blocks')) ?? 1;
  if (count > MAX_BLOCKS) throw invalidParams('blocks', `is above ${MAX_BLOCKS}`);
  await devnet.mine(count, times);
  return answer;
}

/** Zero is what clients send for none. */
function parseInterval(value: unknown): number | undefined {
  return optional(value, (present) => parseCount(present, 'interval')) || undefined;
}
