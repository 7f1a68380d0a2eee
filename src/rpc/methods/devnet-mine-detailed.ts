import type { Executed } from '../../chain/devnet/mining/block-execution.js';
import { solidityReason } from '../../evm/tracing/solidity-reason.js';
import { bytesToHex } from '../../primitives/hex.js';
import { CHANGES_DEVNET } from '../method-rows.js';
import { formatBlock, formatTransaction } from '../schema/format.js';
import type { Amount, BlockResultJson } from '../schema/json.js';
import { devnetMethods } from './devnet-method.js';
import { readMining } from './devnet-mining.js';

/** Most blocks of one answer. */
const MAX_DETAILED = 1000;

/** As `evm_mine`. The answer is the blocks with their transactions, each with what it returned and why it reverted. */
export const MINE_DETAILED_METHODS = devnetMethods<
  [at?: Amount | { readonly timestamp?: Amount; readonly blocks?: Amount }],
  readonly BlockResultJson[]
>(['evm_mine_detailed', 'anvil_mine_detailed'], CHANGES_DEVNET, async (devnet, [parameter], call) => {
  const { count, first } = readMining(parameter, MAX_DETAILED);
  const outputs: (readonly Executed[])[] = [];
  const blocks = await devnet.mine(count, { first }, call, (executed) => outputs.push(executed));
  return blocks.map((block, at) => ({
    ...formatBlock(block, false),
    transactions: block.transactions.map((transaction, index) => ({
      ...formatTransaction({ transaction, block, index }),
      ...whatItDid(outputs[at]![index]!),
    })),
  }));
});

function whatItDid({ outcome: { succeeded, returnData } }: Executed) {
  const reason = succeeded ? undefined : solidityReason(returnData);
  return { output: bytesToHex(returnData), ...(reason !== undefined && { revertReason: reason }) };
}
