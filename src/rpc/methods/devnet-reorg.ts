import type { DevnetControl, ReorgTransaction } from '../../chain/devnet/mining/control.js';
import { TRANSACTION_GAS_CAP } from '../../evm/common.js';
import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { MethodCallOptions } from '../method.js';
import { CHANGES_DEVNET, RESETS_DEVNET } from '../method-rows.js';
import { optional, parseBytes, requireArray, requireObject } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';
import type { SentCallJson } from '../schema/json.js';
import type { RpcContext } from './context.js';
import { devnetMethods, parseCount } from './devnet-method.js';
import { readSentTransaction } from './eth_sendTransaction.js';

/*
 * Blocks that leave the chain, and what a fork begins with. A chunk of its own.
 */

const SUBJECT = 'reorg params';

export const REORG_METHODS = [
  /** `[depth]`, 1 when left out: removes the newest blocks. */
  ...devnetMethods<[depth?: number], null>(['anvil_rollback'], CHANGES_DEVNET, async (devnet, [depth]) => {
    await devnet.rollback(optional(depth, (value) => parseCount(value, 'depth')) ?? 1);
    return null;
  }),

  /**
   * `[depth, [[transaction, block], …]]`, or one object with `depth` and `tx_block_pairs`: replaces the newest blocks. A
   * transaction is raw, or an object as of `eth_sendTransaction`; `block` counts the new blocks from 0.
   */
  ...devnetMethods<
    [depth: number, pairs?: readonly (readonly [transaction: Hex | SentCallJson, block: number])[]],
    null
  >(['anvil_reorg'], CHANGES_DEVNET, async (devnet, params, call) => {
    const [depthParam, pairsParam] = optionsOf(params);
    const depth = parseCount(depthParam, 'depth');
    const pairs = requireArray(pairsParam ?? [], 'tx_block_pairs', SUBJECT);
    const transactions: ReorgTransaction[] = [];
    for (const [i, pair] of pairs.entries()) {
      const at = `tx_block_pairs[${i}]`;
      const [transaction, blockParam] = requireArray(pair, at, SUBJECT);
      const block = parseCount(blockParam, `${at}[1]`);
      if (block >= depth) throw invalidParams(`${at}[1]`, `must not exceed ${depth - 1}, the last new block`, SUBJECT);
      if (typeof transaction === 'string')
        transactions.push({ transaction: parseBytes(transaction, at, SUBJECT), block });
      else transactions.push({ transaction: await sent(transaction, devnet, call.context, call), block });
    }
    await devnet.reorg(depth, transactions, call);
    return null;
  }),

  ...devnetMethods<[url: string], never>(['anvil_setRpcUrl'], CHANGES_DEVNET, ({ forkedFrom }) => {
    const reason =
      forkedFrom === undefined
        ? 'this devnet is not a fork of a network, so that there is no URL to change'
        : 'cannot be changed: the endpoints of a fork are options of the node';
    throw invalidParams('url', reason);
  }),

  /** Back to genesis, or to the block of a fork: pool, clock, snapshots and impersonated accounts too. */
  ...devnetMethods<[options?: object | null], null>(['anvil_reset'], RESETS_DEVNET, async (devnet, [options], call) => {
    await reset(devnet, options, call.context);
    return null;
  }),
  ...devnetMethods<[options?: object | null], true>(
    ['hardhat_reset'],
    RESETS_DEVNET,
    async (devnet, [options], call) => {
      await reset(devnet, options, call.context);
      return true;
    },
  ),
];

async function reset({ forkedFrom }: DevnetControl, options: unknown, { storage }: RpcContext): Promise<void> {
  const { forking } = requireObject(options ?? {}, 'options', SUBJECT);
  if (forking !== undefined && forking !== null) {
    const { jsonRpcUrl, blockNumber } = requireObject(forking, 'options.forking', SUBJECT);
    if (jsonRpcUrl !== undefined && jsonRpcUrl !== null) {
      const reason =
        forkedFrom === undefined
          ? 'this devnet is not a fork of a network and cannot become one; leave it out'
          : 'cannot be changed: the endpoints of a fork are options of the node; leave it out';
      throw invalidParams('options.forking.jsonRpcUrl', reason, SUBJECT);
    }
    if (forkedFrom !== undefined && blockNumber !== undefined && blockNumber !== null) {
      const at = 'options.forking.blockNumber';
      const reason = `this fork begins with block ${forkedFrom.number}; open another node for another block`;
      if (parseCount(blockNumber, at) !== forkedFrom.number) throw invalidParams(at, reason, SUBJECT);
    }
  }
  await storage!.clear();
}

function optionsOf(params: readonly unknown[]): readonly unknown[] {
  const [first] = params;
  if (typeof first !== 'object' || first === null || Array.isArray(first)) return params;
  const { depth, tx_block_pairs } = first as Record<string, unknown>;
  return [depth, tx_block_pairs];
}

/** The gas cannot be estimated before the reorg: without a limit, it is the largest that the network allows. */
function sent(value: unknown, { impersonation }: DevnetControl, context: RpcContext, call: MethodCallOptions) {
  const { txGasLimit } = context.chain.network;
  const gas = toQuantity(txGasLimit < TRANSACTION_GAS_CAP ? txGasLimit : TRANSACTION_GAS_CAP);
  const given = requireObject(value, 'transaction', SUBJECT);
  const whole = { ...given, gas: given.gas ?? gas };
  return readSentTransaction(context, whole, call, (from) => impersonation.requireSender(from));
}
