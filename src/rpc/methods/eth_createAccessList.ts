import { callFailureOf } from '../../evm/calls/revert-reason.js';
import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { COMPUTES } from '../protocol/method-rows.js';
import type { OfCall } from '../schema/json.js';
import { defineMethod } from './context.js';
import { readSimulation } from './simulation.js';

const loadAccessLists = loadOnce(() => import('../../evm/calls/access-list.js'));

/**
 * `[call, block, stateOverride, blockOverrides]`; without a block it is the newest. For a failing call the answer has
 * both the list and the error.
 *
 * @source ethereum/execution-apis@033ca6e6 tests/eth_createAccessList;
 *   ethereum/go-ethereum@02b73d4ea7 internal/ethapi/api.go
 */
export const eth_createAccessList = defineMethod<
  OfCall,
  {
    readonly accessList: readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[];
    readonly error?: string;
    readonly gasUsed: Hex;
  }
>('eth_createAccessList', COMPUTES, async (context, params, options) => {
  const [{ state, block, call, ...rest }, { accessListAt }] = await Promise.all([
    readSimulation(context, params, options),
    loadAccessLists(),
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
