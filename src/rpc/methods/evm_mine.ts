import { PlumblineError } from '../../errors.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';
import { optional, parseIndex } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';

const MAX_BLOCKS = 1000;

/** `evm_mine(timestamp?)` or `evm_mine({timestamp?, blocks?})`: seals blocks on a devnet; times in seconds. */
export const evm_mine: Method<RpcContext> = {
  name: 'evm_mine',
  async handle({ devnet }, [parameter]) {
    if (devnet === undefined) throw new PlumblineError('METHOD_NOT_ENABLED', 'not a devnet', { method: 'evm_mine' });
    const { timestamp, blocks } = readParameter(parameter);
    await devnet.mine(blocks, timestamp);
    return '0x0';
  },
};

function readParameter(parameter: unknown): { timestamp: number | undefined; blocks: number } {
  const { timestamp, blocks } =
    typeof parameter === 'object' && parameter !== null
      ? (parameter as { timestamp?: unknown; blocks?: unknown })
      : { timestamp: parameter, blocks: undefined };
  const count = optional(blocks, (value) => parseCount(value, 'blocks')) ?? 1;
  if (count < 1 || count > MAX_BLOCKS) throw invalidParams('blocks', `is not between 1 and ${MAX_BLOCKS}`);
  return { timestamp: optional(timestamp, (value) => parseCount(value, 'timestamp')), blocks: count };
}

/** Developer tools send plain numbers here as well as quantities. */
function parseCount(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  return parseIndex(value, name);
}
