import type { Prices } from '../../fees/prices.js';
import type { HashScheme } from '../../kernel/contracts.js';
import type { Network } from '../../networks/network.js';
import type { TableOf } from '../../primitives/option-table.js';
import type { DevAccount } from './state/dev-accounts.js';
import type { GenesisAlloc } from './state/genesis.js';
import type { GenesisJson } from './state/genesis-json.js';

/**
 * When blocks are sealed. `auto`: when a transaction arrives that can run. `manual`: on request. `intervalSeconds`: at
 * that interval, including empty blocks.
 */
export type MiningMode = 'auto' | 'manual' | { readonly intervalSeconds: number };

/** Development tools whose methods differ under one name. */
export const TOOLS = ['anvil', 'hardhat', 'ganache'] as const;

/** The tool that a devnet follows if tools differ. */
export type Tool = (typeof TOOLS)[number];

/** When devnet blocks become final on the simulated layer 1. */
export interface FinalityOptions {
  /** A block is finalized after this many further blocks. Default 2. */
  readonly delayBlocks?: number;
  /** Blocks of one finalization. Only the last one has a state root on layer 1. Default 1. */
  readonly batchBlocks?: number;
  /**
   * Number of newest finalizations whose states can be proved, as in the reference state manager. Default 128. If a devnet is opened
   * from its store, it starts with the newest finalized block of its checkpoint, and adds each later finalization.
   */
  readonly heldFinalizations?: number;
  /**
   * From this block on, finalizations store the block hash and not the state root, as the next rollup contract does
   * (docs/spec/rollup-versions.md). The profile must have `rollup.blockHashesSlot`. Default: none.
   */
  readonly blockHashesFrom?: number;
}

/** What each option of finality is. */
export const FINALITY_OPTIONS = {
  delayBlocks: { is: 'count', or: 2 },
  batchBlocks: { is: 'wholeAboveZero', or: 1 },
  heldFinalizations: { is: 'wholeAboveZero', or: 128 },
  blockHashesFrom: { is: 'count', or: Number.POSITIVE_INFINITY },
} as const satisfies TableOf<FinalityOptions>;

/** An embedded devnet, the default chain of a node. All members but `kind` are optional. */
export interface DevnetChainOptions {
  readonly kind: 'devnet';
  /** The network profile. Default: `devnet()`. */
  readonly network?: Network;
  /** Hash scheme of the zk state, if you give no profile. */
  readonly scheme?: HashScheme;
  /**
   * A genesis file in geth's format, parsed from JSON. Its accounts, header and forks replace the devnet's own. If you give it, leave
   * out `network`.
   */
  readonly genesis?: GenesisJson;
  /** Blocks to import on top of genesis: concatenated RLP. Blocks that the chain already has are skipped. */
  readonly importBlocks?: Uint8Array;
  /**
   * The accounts of `eth_accounts`, also on layer 1. The devnet holds their keys. Default: `DEV_ACCOUNTS`. Each has 10 000 ether and
   * the same test tokens at genesis as these, unless you give a `genesis`. Never give keys that hold anything on a public network.
   */
  readonly accounts?: readonly DevAccount[];
  /** More accounts, by address, in addition to those of `genesis`, or to the dev accounts and the test token. */
  readonly alloc?: GenesisAlloc;
  /** When blocks are sealed: for each transaction (`auto`, the default), only by `evm_mine` (`manual`), or at an interval. */
  readonly mining?: MiningMode;
  /** The tool that the devnet follows: for methods that differ between tools, and in `web3_clientVersion`. */
  readonly tool?: Tool;
  readonly finality?: FinalityOptions;
  /** Prices in the block headers. */
  readonly prices?: Prices;
  /** Only in `ForkChainOptions`: the network that the devnet is a fork of. */
  readonly fork?: never;
}

/** What each option of a devnet is; `fork` is for `ForkChainOptions`. */
export const DEVNET_OPTIONS = {
  kind: { is: 'text', needed: true },
  network: { is: 'profile' },
  scheme: { is: ['poseidon2', 'mimc'] },
  // geth's format, which has members that this library does not read.
  genesis: { is: 'object' },
  importBlocks: { is: 'bytes' },
  accounts: { is: 'keys' },
  alloc: { is: 'accounts' },
  mining: { is: 'mining', or: 'auto' },
  tool: { is: TOOLS },
  finality: { is: FINALITY_OPTIONS, or: {} },
  prices: { is: 'prices' },
  fork: { is: 'fork' },
} as const satisfies TableOf<DevnetChainOptions>;
