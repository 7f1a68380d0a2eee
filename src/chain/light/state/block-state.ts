import { toQuantity } from '../../../primitives/quantity.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import type { Block } from '../../chain.js';
import { isNotThereYet } from '../refused.js';
import { LightState } from './light-state.js';
import type { ProvedStates } from './proved-state.js';
import { stateBatch } from './state-batch.js';

/**
 * State after a block: what is not proved yet is asked of the endpoints and proved when it is read.
 *
 * @param signal - ends what is being fetched
 */
export function blockState(
  group: EndpointGroup,
  states: ProvedStates,
  { header }: Pick<Block, 'header'>,
  signal?: AbortSignal,
): LightState {
  const state = states.at(header.stateRoot);
  return new LightState(state, async (wants) => {
    const batch = stateBatch(wants, toQuantity(header.number));
    await group.requestMany(batch.calls, {
      ...(signal !== undefined && { signal }),
      mayCome: isNotThereYet,
      accept: (answers, from) => batch.read(state, answers, from),
    });
  });
}
