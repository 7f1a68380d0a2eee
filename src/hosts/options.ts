import type { FinalityOptions } from '../chain/devnet/finality.js';
import type { GenesisAlloc } from '../chain/devnet/genesis.js';
import type { Prices } from '../fees/prices.js';
import type { HashScheme, KernelBuild } from '../kernel/contracts.js';
import type { Network } from '../networks/network.js';
import type { Hex } from '../primitives/hex.js';

/** The chain a node runs. The embedded devnet is the default; every member has a default. */
export interface DevnetChainOptions {
  readonly kind: 'devnet';
  /** Profile to run; `devnet()` when left out. */
  readonly network?: Network;
  /** Hash scheme of the zk state, where the profile is the default one. */
  readonly scheme?: HashScheme;
  /** Accounts besides the dev accounts and the test token, by address. */
  readonly alloc?: GenesisAlloc;
  /** `auto` seals a block when a transaction arrives, `manual` waits for `evm_mine`. Default `auto`. */
  readonly mining?: 'auto' | 'manual';
  readonly finality?: FinalityOptions;
  /** Prices that headers carry. */
  readonly prices?: Prices;
}

/** Where the compression dictionary of estimates comes from. */
export type DictionarySource =
  /** plumbline's own general dictionary, for devnets. */
  | { readonly kind: 'general' }
  /** The network's own, from bytes; checked against the profile's length and sha256 where it names them. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'url'; readonly url: string };

/** Options of every host; plain data, so that they travel to a worker. */
export interface NodeOptions {
  readonly chain?: DevnetChainOptions;
  /** Keep the chain in IndexedDB under this name; in memory when left out. */
  readonly storeName?: string;
  readonly dictionary?: DictionarySource;
  /** Kernel build; `auto` when left out. */
  readonly kernelBuild?: KernelBuild;
  /** Time a single request may take, in ms. Default 60 000. */
  readonly requestTimeoutMs?: number;
}

/** What a node tells while it opens. */
export interface OpenProgress {
  readonly stage: 'kernels' | 'dictionary' | 'store' | 'genesis' | 'blocks' | 'ready';
  /** Between 0 and 1, within the stage. */
  readonly fraction: number;
}

/** What is known of a node once it is open. */
export interface NodeInfo {
  readonly chainId: number;
  readonly networkName: string;
  /** Of the zk state after the newest block. */
  readonly hashScheme: HashScheme;
  /** Rollup contract on layer 1. */
  readonly rollupAddress: Hex;
  readonly kernelBuild: 'simd' | 'scalar';
}
