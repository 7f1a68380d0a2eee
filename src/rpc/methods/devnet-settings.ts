import { rulesAt } from '../../evm/common.js';
import { parseBoolean } from '../parsing/parse-params.js';
import { CHANGES_DEVNET } from '../protocol/method-rows.js';
import { invalidParams, RpcError } from '../protocol/rpc-errors.js';
import type { Amount } from '../schema/json.js';
import { devnetMethods, parseAmount, parseCount } from './devnet-method.js';

const INVALID_PARAMS = -32602;

/** Settings of the node itself, and those that this one cannot have. */
export const SETTING_METHODS = [
  /** A devnet prints nothing, so that nothing changes. */
  ...devnetMethods<[enabled: boolean], null>(['anvil_setLoggingEnabled'], CHANGES_DEVNET, (_, [enabled]) => {
    parseBoolean(enabled, 'enabled');
    return null;
  }),
  ...devnetMethods<[enabled: boolean], true>(['hardhat_setLoggingEnabled'], CHANGES_DEVNET, (_, [enabled]) => {
    parseBoolean(enabled, 'enabled');
    return true;
  }),

  /** Refused as anvil and Hardhat do where transactions pay a base fee. */
  ...devnetMethods<[price: Amount], never>(
    ['anvil_setMinGasPrice', 'hardhat_setMinGasPrice'],
    CHANGES_DEVNET,
    async (_, [price], call) => {
      const { name, context } = call;
      parseAmount(price, 'gasPrice');
      const { network } = context.chain;
      const { number, timestamp } = await context.chain.pendingContext(undefined, call);
      const reason = rulesAt(network, number, timestamp).london
        ? 'is not supported when EIP-1559 is active'
        : "is not supported: the least price is the network profile's";
      const details = { parameter: 'gasPrice', reason };
      throw new RpcError({ code: INVALID_PARAMS, message: `${name} ${reason}`, reason: 'INVALID_PARAMETER', details });
    },
  ),

  ...devnetMethods<[chainId: Amount], null>(['anvil_setChainId'], CHANGES_DEVNET, async (devnet, [chainId]) => {
    const id = parseCount(chainId, 'chainId');
    if (id === 0) throw invalidParams('chainId', 'must not be zero');
    await devnet.setChainId(id);
    return null;
  }),
];
