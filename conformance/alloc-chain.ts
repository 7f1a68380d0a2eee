import type { Block } from '../src/chain/block.js';
import type { Chain } from '../src/chain/chain.js';
import type { BlockHeader } from '../src/ethereum/header.js';
import type { BlockContext } from '../src/evm/block-context.js';
import type { StateReader } from '../src/evm/state-reader.js';
import type { Prices } from '../src/fees/prices.js';
import type { Network } from '../src/networks/network.js';

/** What stands behind estimates on fixtures: one state, one context to run in, one set of prices. */
export interface AllocChainParts {
  readonly network: Network;
  readonly state: StateReader;
  readonly context: BlockContext;
  readonly prices: Prices;
}

/** As much of a chain as estimates and calls ask for. Anything else is not there, and throws. */
export function allocChain({ network, state, context, prices }: AllocChainParts): Chain {
  const header = { number: context.number } as BlockHeader;
  const head: Block = { header, hash: new Uint8Array(32), transactions: [], size: 0 };
  const chain: Pick<
    Chain,
    | 'kind'
    | 'network'
    | 'head'
    | 'block'
    | 'stateAt'
    | 'accountsAt'
    | 'prepare'
    | 'trust'
    | 'contextOf'
    | 'pendingContext'
    | 'prices'
  > = {
    kind: 'devnet',
    network,
    head: async () => head,
    block: async () => head,
    stateAt: async () => state,
    accountsAt: async () => state,
    prepare: async ({ block = head }) => ({ block, state }),
    trust: async () => 'held',
    contextOf: () => context,
    pendingContext: async () => context,
    prices: async () => ({ prices, sourceBlock: context.number }),
  };
  return chain as Chain;
}
