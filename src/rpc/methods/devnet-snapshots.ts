import { toQuantity } from '../../primitives/quantity.js';
import { devnetMethods, parseCount } from './devnet-method.js';

export const SNAPSHOT_METHODS = {
  ...devnetMethods(['evm_snapshot', 'anvil_snapshot'], async (devnet) => toQuantity(await devnet.snapshot())),

  /** Answers false for an id of no snapshot, or of one that was reverted to before. */
  ...devnetMethods(['evm_revert', 'anvil_revert'], (devnet, [id]) => devnet.revert(parseCount(id, 'id'))),
};
