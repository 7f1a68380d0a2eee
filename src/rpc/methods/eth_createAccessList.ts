import { callFailureOf } from '../../evm/calls/revert-reason.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';
import { readSimulation } from './simulation.js';

/**
 * `[call, block, stateOverride, blockOverrides]`; without a block it is the newest. A call that fails has a list too, with
 * the failure beside it.
 *
 * @source ethereum/execution-apis@033ca6e6 tests/eth_createAccessList;
 *   ethereum/go-ethereum@02b73d4ea7 internal/ethapi/api.go
 */
export const eth_createAccessList: Method<RpcContext> = {
  name: 'eth_createAccessList',
  async handle(context, params, options) {
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
  },
};
