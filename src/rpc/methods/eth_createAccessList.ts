import { callFailureOf } from '../../evm/calls/revert-reason.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { defineMethod } from './context.js';
import { readSimulation } from './simulation.js';

/**
 * `[call, block, stateOverride, blockOverrides]`; without a block it is the newest. A call that fails has a list too, with
 * the failure beside it.
 *
 * @source execution-apis, go-ethereum
 */
export const eth_createAccessList = defineMethod('eth_createAccessList', async (context, params, options) => {
  const [{ state, block, call, ...rest }, { accessListAt }] = await Promise.all([
    readSimulation(context, params, options),
    import('../../evm/calls/access-list.js'),
  ]);
  const { accessList, outcome } = await accessListAt(state, block, call, rest);
  return {
    accessList: accessList.map(({ address, storageKeys }) => ({
      address: bytesToHex(address),
      storageKeys: storageKeys.map((key) => bytesToHex(key)),
    })),
    ...(!outcome.succeeded && { error: callFailureOf(outcome).message }),
    gasUsed: toQuantity(outcome.gasUsed),
  };
});
