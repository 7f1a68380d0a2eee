import { abiAddress } from '../../ethereum/abi.js';
import { accessListAt } from '../../evm/access-list.js';
import { simulateCallAt } from '../../evm/call.js';
import { RunBudget } from '../../evm/run-budget.js';
import { bigIntToBytes, concatBytes, equalBytes } from '../../primitives/bytes.js';
import type { Hex } from '../../primitives/hex.js';
import { hexToBytes } from '../../primitives/hex.js';
import type { MethodCallOptions } from '../method.js';
import { CHANGES_DEVNET } from '../method-rows.js';
import { parseAddress } from '../parse-params.js';
import { executionPointOf } from '../resolve-block.js';
import { RpcError } from '../rpc-errors.js';
import type { Amount } from '../schema/json.js';
import type { RpcContext } from './context.js';
import { devnetMethods, parseAmount } from './devnet-method.js';

/*
 * Balances and allowances of ERC-20 tokens, set without a transaction. A chunk of its own.
 */

const BALANCE_OF = hexToBytes('0x70a08231');
const ALLOWANCE = hexToBytes('0xdd62ed3e');
/** A value that no slot has by chance. */
const PROBE = bigIntToBytes(0x706c756d626c696e65n << 64n, 32);
const SERVER_ERROR = -32000;

export const TOKEN_METHODS = [
  /** `[holder, token, balance]` */
  ...devnetMethods<[holder: Hex, token: Hex, balance: Amount], null>(
    ['anvil_dealERC20', 'hardhat_dealERC20', 'anvil_setERC20Balance'],
    CHANGES_DEVNET,
    async (devnet, [holder, tokenParam, balance], call) => {
      const token = parseAddress(tokenParam, 'token');
      const data = concatBytes(BALANCE_OF, paddedAddress(holder, 'holder'));
      const value = bigIntToBytes(parseAmount(balance, 'balance'), 32);
      const slot = await slotOf(call.context, token, data, call);
      if (slot === undefined) throw noSlot('balance');
      await devnet.edit({ kind: 'slot', ...slot, value });
      return null;
    },
  ),

  /** `[owner, spender, token, amount]` */
  ...devnetMethods<[owner: Hex, spender: Hex, token: Hex, amount: Amount], null>(
    ['anvil_setERC20Allowance'],
    CHANGES_DEVNET,
    async (devnet, [owner, spender, tokenParam, amount], call) => {
      const token = parseAddress(tokenParam, 'token');
      const data = concatBytes(ALLOWANCE, paddedAddress(owner, 'owner'), paddedAddress(spender, 'spender'));
      const value = bigIntToBytes(parseAmount(amount, 'amount'), 32);
      const slot = await slotOf(call.context, token, data, call);
      if (slot === undefined) throw noSlot('allowance');
      await devnet.edit({ kind: 'slot', ...slot, value });
      return null;
    },
  ),
];

/**
 * The slot that a getter of a token answers with: of those that it reads, the one whose value is its answer.
 *
 * @param data - of the call
 */
async function slotOf(context: RpcContext, token: Uint8Array, data: Uint8Array, options: MethodCallOptions) {
  const call = { to: token, data };
  const { signal, gas } = options;
  const { network } = context.chain;
  const { state, block } = await executionPointOf(context, 'latest', call, undefined, options);
  const limits = { signal, gas, maxAnswerBytes: context.maxAnswerBytes };
  const rules = { network, budget: new RunBudget(limits), ...limits };
  const { accessList } = await accessListAt(state, block, call, rules);
  for (const { address, storageKeys } of accessList) {
    for (const key of storageKeys) {
      const overrides = [{ address, stateDiff: [[key, PROBE]] as const }];
      const { succeeded, returnData } = await simulateCallAt(state, block, call, { ...rules, overrides });
      if (succeeded && equalBytes(returnData, PROBE)) return { address, key };
    }
  }
  return undefined;
}

function paddedAddress(value: unknown, parameter: string): Uint8Array {
  return abiAddress(parseAddress(value, parameter));
}

/** In anvil's words. */
function noSlot(what: string): RpcError {
  const details = { parameter: 'token', reason: `has no slot of its ${what} that can be found` };
  const message = `Unable to set ERC20 ${what}, no slot found`;
  return new RpcError({ code: SERVER_ERROR, message, reason: 'INVALID_PARAMETER', details });
}
