import type { AccountAccesses } from '../../ethereum/block-access-list.js';
import { callFailureOf } from '../../evm/call.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { nextTurn } from '../../scheduling/turns.js';
import { COMPUTES, READS } from '../method-rows.js';
import { findBlock } from '../resolve-block.js';
import { RpcError } from '../rpc-errors.js';
import type { AccountAccessesJson, BlockJson, OfCall } from '../schema/json.js';
import { readSimulation } from './calls.js';
import { defineMethod } from './context.js';

const loadAccessLists = loadOnce(() => import('../../evm/access-list.js'));

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

/**
 * What a block accessed and changed, by account (EIP-7928). Null for a block that is not known.
 *
 * @throws RpcError 4445 for a block before Amsterdam
 * @source ethereum/execution-apis@513ecb1c src/schemas/block-access-list.yaml, tests/eth_getBlockAccessList
 */
export const eth_getBlockAccessList = defineMethod<[block: BlockJson], readonly AccountAccessesJson[] | null>(
  'eth_getBlockAccessList',
  READS,
  async (context, [blockParam], call) => {
    const block = await findBlock(context, blockParam, call);
    if (block === undefined) return null;
    if (block.header.blockAccessListHash === undefined) throw beforeAmsterdam(block.header.number);
    const accounts: AccountAccessesJson[] = [];
    for (const account of await context.chain.accessList(block, call)) {
      await nextTurn();
      accounts.push(formatAccount(account));
    }
    return accounts;
  },
);

function beforeAmsterdam(block: number): RpcError {
  const message = 'Block access list not available for pre-Amsterdam blocks';
  return new RpcError({ code: 4445, message, reason: 'BLOCK_INCOMPLETE', details: { block, reason: message } });
}

function formatAccount(account: AccountAccesses): AccountAccessesJson {
  return {
    address: bytesToHex(account.address),
    storageChanges: account.storageChanges.map(({ key, changes }) => ({
      key: bytesToHex(key),
      changes: changes.map(({ index, value }) => ({ index: toQuantity(index), value: bytesToHex(value) })),
    })),
    storageReads: account.storageReads.map(bytesToHex),
    balanceChanges: account.balanceChanges.map(({ index, value }) => ({
      index: toQuantity(index),
      value: toQuantity(value),
    })),
    nonceChanges: account.nonceChanges.map(({ index, value }) => ({
      index: toQuantity(index),
      value: toQuantity(value),
    })),
    codeChanges: account.codeChanges.map(({ index, value }) => ({ index: toQuantity(index), code: bytesToHex(value) })),
  };
}
