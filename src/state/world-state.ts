import type { AccountValue } from '../accumulator/account-value.js';
import type { LineaProofJson } from '../accumulator/proof-shape.js';
import type { HashScheme } from '../kernel/contracts.js';
import type { PageChanges } from './page-format.js';
import type { StateTrace } from './trace.js';

/** An account before a block, according to the caller. It is compared with the state. */
export interface AccountBefore {
  readonly nonce: bigint;
  /** Wei. */
  readonly balance: bigint;
  /** 32 bytes; compared if present. */
  readonly keccakCodeHash?: Uint8Array;
}

/** An account after a block. Its storage root follows from the slots. */
export interface AccountAfter {
  readonly nonce: bigint;
  /** Wei. */
  readonly balance: bigint;
  /**
   * The account's byte code, only if the block set it. Code hashes and size follow from it. If left out, the code
   * stays; a new account has none. For code that was set to zero bytes, pass an empty array: the reference state
   * manager then hashes an empty input, which gives a zkCodeHash of 32 zero bytes (docs/spec/state-trie.md 3, corner).
   */
  readonly code?: Uint8Array;
  /** 32 bytes; compared with the result if present. */
  readonly keccakCodeHash?: Uint8Array;
}

/** A slot that the block touched. A value of 32 zero bytes means empty. */
export interface SlotChange {
  /** 32 bytes, the EVM's slot key (not hashed). */
  readonly key: Uint8Array;
  /** 32 bytes; compared with the state, unless the account was destroyed. */
  readonly before: Uint8Array;
  /** 32 bytes. */
  readonly after: Uint8Array;
  /**
   * The slot was cleared in between. Only trie logs report this. A value written afterwards gets a new leaf position.
   */
  readonly cleared?: boolean;
}

/**
 * The changes of one account in one block (docs/spec/state-trie.md 5.2). Touched but unchanged accounts and slots may be
 * included.
 */
export interface ZkAccountChange {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Left out if the account did not exist. */
  readonly before?: AccountBefore;
  /** Left out if the account no longer exists. */
  readonly after?: AccountAfter;
  /** The account existed and was destroyed in the block, whether or not it was recreated. */
  readonly destroyed: boolean;
  /** In any order, each key once. */
  readonly slots: readonly SlotChange[];
}

/** Result of a block applied with traces. */
export interface TracedBlock {
  /** State root after it, 32 bytes. */
  readonly root: Uint8Array;
  readonly traces: readonly StateTrace[];
}

/**
 * The zk state of a chain: the account trie and the storage tries, for the newest block and all earlier blocks that
 * were not released. Every held block can be read and proved.
 *
 * Methods throw `STATE_NOT_HELD` for a block that is not held, and `INVALID_LENGTH` for an address that is not 20 bytes
 * or a key or value that is not 32.
 *
 * @source docs/spec/state-trie.md 2 to 5 and 7
 */
export interface WorldState {
  readonly scheme: HashScheme;
  /** Newest applied block; undefined before the first. */
  readonly head: number | undefined;
  /** Oldest block held. */
  readonly oldest: number | undefined;

  /** State root (32 bytes) after a block, by default the newest; the empty root before the first block. */
  root(block?: number): Uint8Array;

  /** `nextFreeNode` of the account trie after a block, by default the newest. */
  nextFreeNode(block?: number): number;

  /**
   * Applies one block atomically.
   *
   * @param block - `head + 1`; any number for the first block
   * @param changes - in any order, each address once
   * @param onProgress - called with the part that is done, 0 to 1. It is called often if there was no account before, otherwise once
   * @returns the new state root, 32 bytes
   * @throws PlumblineError `STATE_MISMATCH` when a before-value differs from the state, or the block is not the next
   *   one; `INVALID_PARAMETER` for an address or slot that occurs twice; `OUT_OF_RANGE`, `HASH_INPUT_NOT_CANONICAL` for
   *   a number that the trie cannot hold
   */
  applyBlock(block: number, changes: readonly ZkAccountChange[], onProgress?: (fraction: number) => void): Uint8Array;

  /**
   * Applies one block like `applyBlock`, but one operation at a time, with a trace for each; this takes longer. Blocks
   * with and without traces can be mixed.
   *
   * @returns the new state root, 32 bytes, and the block's state traces in the order of the reference state manager
   * @throws PlumblineError as `applyBlock`
   * @source docs/spec/state-trie.md 5.3 and 10
   */
  applyBlockTraced(block: number, changes: readonly ZkAccountChange[]): TracedBlock;

  /** Reverts to `block`, which becomes the newest again. */
  revertTo(block: number): void;

  /** Releases the states before `block`. The newest state is always held. */
  releaseBefore(block: number): void;

  /**
   * The pages of the newest state that changed since the last call, because of blocks or reverts. Store them in one commit.
   * `openPagedState` and `openState` need these pages together with all earlier ones. Earlier blocks are not included. Empty before
   * the first block.
   *
   * @throws PlumblineError `INVALID_PARAMETER` if the state was opened without the option `pages`
   */
  takePages(): PageChanges;

  /** The account after a block; undefined if it does not exist. */
  account(block: number, address: Uint8Array): AccountValue | undefined;

  /** Value of a slot after a block, 32 bytes; zero for an empty slot or a missing account. */
  slot(block: number, address: Uint8Array, key: Uint8Array): Uint8Array;

  /**
   * Answer of `linea_getProof` for the state after a block.
   *
   * @param storageKeys - 32 bytes each. A key that you give twice is answered twice
   */
  prove(block: number, address: Uint8Array, storageKeys: readonly Uint8Array[]): LineaProofJson;
}
