import { PlumblineError, type SimulationRule } from '../../errors.js';
import type { BlockRequest } from './simulation.js';

/** Most blocks of one simulation, those that fill gaps counted. */
const MOST_SIMULATED_BLOCKS = 256;

/** A block with its place in the simulated chain. */
export interface PlannedBlock extends BlockRequest {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
}

/**
 * Gives each block its number and its time, in ascending order, and fills gaps between numbers with empty blocks.
 *
 * @param base - the block before the first
 * @param slotSeconds - how much later a block is than the one before it, when it does not say
 * @throws PlumblineError `SIMULATION_REFUSED` for numbers or times out of order, or more than 256 blocks
 * @source ethereum/execution-apis@033ca6e6 tests/eth_simulateV1;
 *   ethereum/go-ethereum@02b73d4ea7 internal/ethapi/simulate.go
 */
export function planBlocks(
  requests: readonly BlockRequest[],
  base: { readonly number: number; readonly timestamp: number },
  slotSeconds: number,
): PlannedBlock[] {
  if (requests.length > MOST_SIMULATED_BLOCKS) throw tooMany();
  const planned: PlannedBlock[] = [];
  let { number, timestamp } = base;
  for (const request of requests) {
    const { number: wanted = number + 1, time } = request.overrides;
    if (wanted <= number) {
      throw simulationRefused('block-number', `block numbers must be in order: ${wanted} <= ${number}`);
    }
    if (wanted - base.number > MOST_SIMULATED_BLOCKS) throw tooMany();
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

/** The error of a simulation that is refused as a whole. */
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
