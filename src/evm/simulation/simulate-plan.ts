import { PlumblineError, type SimulationRule } from '../../errors.js';
import type { BlockRequest } from './simulation.js';

/** Maximum number of blocks of one simulation, including those that fill gaps. */
const MAX_SIMULATED_BLOCKS = 256;
/** Maximum number of calls of one block, and of all together. */
const MAX_CALLS_OF_BLOCK = 5_000;
const MAX_CALLS = 10_000;

/** A block with its number and time in the simulated chain. */
export interface PlannedBlock extends BlockRequest {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
}

/**
 * Gives each block its number and time, in ascending order, and fills gaps between numbers with empty blocks.
 *
 * @param base - the block before the first
 * @param slotSeconds - time between two blocks, if the request gives none
 * @throws PlumblineError `SIMULATION_REFUSED` for numbers or times out of order, for more than 256 blocks, 5 000 calls of a
 *   block or 10 000 calls in all
 * @source ethereum/execution-apis@033ca6e6 tests/eth_simulateV1;
 *   ethereum/go-ethereum@02b73d4ea7 internal/ethapi/simulate.go
 */
export function planBlocks(
  requests: readonly BlockRequest[],
  base: { readonly number: number; readonly timestamp: number },
  slotSeconds: number,
): PlannedBlock[] {
  if (requests.length > MAX_SIMULATED_BLOCKS) throw tooMany();
  requireFewCalls(requests);
  const planned: PlannedBlock[] = [];
  let { number, timestamp } = base;
  for (const request of requests) {
    const { number: wanted = number + 1, time } = request.overrides;
    if (wanted <= number) {
      throw simulationRefused('block-number', `block numbers must be in order: ${wanted} <= ${number}`);
    }
    if (wanted - base.number > MAX_SIMULATED_BLOCKS) throw tooMany();
    while (number + 1 < wanted) {
      number++;
      timestamp += slotSeconds;
      planned.push({ number, timestamp, overrides: {}, stateOverrides: [], calls: [] });
    }
    if (time !== undefined && time <= timestamp) {
      throw simulationRefused('timestamp', `block timestamps must be in order: ${time} <= ${timestamp}`);
    }
    number = wanted;
    timestamp = time ?? timestamp + slotSeconds;
    planned.push({ ...request, number, timestamp });
  }
  return planned;
}

function requireFewCalls(requests: readonly BlockRequest[]): void {
  let total = 0;
  for (const { calls } of requests) {
    total += calls.length;
    if (calls.length > MAX_CALLS_OF_BLOCK)
      throw tooManyCalls(`${calls.length} in a block, at most ${MAX_CALLS_OF_BLOCK}`);
  }
  if (total > MAX_CALLS) throw tooManyCalls(`${total} in all blocks, at most ${MAX_CALLS}`);
}

function tooManyCalls(counts: string): PlumblineError<'SIMULATION_REFUSED'> {
  return simulationRefused('too-many-calls', `too many calls: ${counts}`);
}

/** Error that refuses a simulation as a whole. */
export function simulationRefused(
  rule: SimulationRule,
  reason: string,
  cause?: unknown,
): PlumblineError<'SIMULATION_REFUSED'> {
  return new PlumblineError('SIMULATION_REFUSED', reason, { rule, reason }, { cause });
}

function tooMany(): PlumblineError<'SIMULATION_REFUSED'> {
  return simulationRefused('too-many-blocks', 'too many blocks');
}
