import type { AccountValue } from '../accumulator/account-value.js';
import type { LineaProofJson } from '../accumulator/proof-shape.js';
import type { HashScheme } from '../kernel/contracts.js';
import type { PageChanges } from './page-source.js';
import type { StateTrace } from './trace.js';

/** An account before a block, as the caller believes it to be. It is compared with what is held. */
export interface AccountBefore {
  readonly nonce: bigint;
  /** Wei. */
  readonly balance: bigint;
  /** 32 bytes; compared when given. */
  readonly keccakCodeHash?: Uint8Array;
}

/** An account after a block. Its storage root follows from the slots. */
export interface AccountAfter {
  readonly nonce: bigint;
  /** Wei. */
  readonly balance: bigint;
  /**
   * The account's byte code, only when the block set it; code hashes and size follow from it. Left out: the code it had
   * before, none for a new account. Code set to nothing is not left out but empty: the reference state manager then
   * hashes an input of no bytes, which gives a zkCodeHash of 32 zero bytes (docs/spec/state-trie.md 3, corner).
   */
  readonly code?: Uint8Array;
  /** 32 bytes; compared with the resulting one when given. */
  readonly keccakCodeHash?: Uint8Array;
}

/** A slot the block touched. A value of 32 zero bytes is an empty slot. */
export interface SlotChange {
  /** 32 bytes, as the EVM knows it (not hashed). */
  readonly key: Uint8Array;
  /** 32 bytes; compared with what is held, unless the account was destroyed. */
  readonly before: Uint8Array;
  /** 32 bytes. */
  readonly after: Uint8Array;
  /** The slot was emptied in between. Only trie logs say so; a value written then takes a new leaf position. */
  readonly cleared?: boolean;
}

/**
 * What one block did to one account (docs/spec/state-trie.md 5.2). Touched but unchanged accounts and slots may be named.
 */
export interface ZkAccountChange {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Left out for an account that did not exist. */
  readonly before?: AccountBefore;
  /** Left out for an account that does not exist any more. */
  readonly after?: AccountAfter;
  /** The account existed and was destroyed in the block, whether or not it was created again. */
  readonly destroyed: boolean;
  /** In any order, no key twice. */
  readonly slots: readonly SlotChange[];
}

/** A block applied with traces. */
export interface TracedBlock {
  /** State root after it, 32 bytes. */
  readonly root: Uint8Array;
  readonly traces: readonly StateTrace[];
}

/**
 * The zk state of a chain: the account tree and the storage trees, for the newest block and as many before it as have
 * not been released. Every held block can be read and proved; an engine behind this contract may be swapped for another.
 *
 * Methods throw `STATE_NOT_HELD` for a block that is not held, `INVALID_LENGTH` for an address without 20 bytes or a key
 * or value without 32.
 *
 * @source docs/spec/state-trie.md 2 to 5 and 7
 */
export interface WorldState {
  readonly scheme: HashScheme;
  /** Newest block applied; undefined for the empty state before the first. */
  readonly head: number | undefined;
  /** Oldest block held. */
  readonly oldest: number | undefined;

  /** State root (32 bytes) after a block, the newest when left out; the empty root before the first block. */
  root(block?: number): Uint8Array;

  /** `nextFreeNode` of the account tree after a block, the newest when left out. */
  nextFreeNode(block?: number): number;

  /**
   * Applies one block. All of it or, when something is thrown, nothing.
   *
   * @param block - `head + 1`; any number for the first one
   * @param changes - in any order, no address twice
   * @param onProgress - told the share that is done, 0 to 1: often when there was no account before, else once
   * @returns the new state root, 32 bytes
   * @throws PlumblineError `STATE_MISMATCH` when a before-value is not what is held, or the block is not the next one;
   *   `INVALID_PARAMETER` for an address or slot named twice; `OUT_OF_RANGE`, `HASH_INPUT_NOT_CANONICAL` for a number
   *   the tree cannot hold
   */
  applyBlock(block: number, changes: readonly ZkAccountChange[], onProgress?: (fraction: number) => void): Uint8Array;

  /**
   * Applies one block as `applyBlock` does, one operation at a time, which takes longer and shows each of them. Blocks with
   * and without traces may follow each other in any order.
   *
   * @returns the new state root, 32 bytes, and the block's state traces in the order of the reference state manager
   * @throws PlumblineError as `applyBlock`
   * @source docs/spec/state-trie.md 5.3 and 10
   */
  applyBlockTraced(block: number, changes: readonly ZkAccountChange[]): TracedBlock;

  /** Goes back: `block` is the newest again, exactly as it was. */
  revertTo(block: number): void;

  /** Lets go of the states before `block`. The newest always stays. */
  releaseBefore(block: number): void;

  /**
   * Pages of the newest state that changed since the last call, whether by blocks or by going back: one set, to be stored
   * in one commit. Together with the sets before it, it is all that `openPagedState` and `loadWorldState` need. Blocks
   * before the newest are not in it. Nothing before the first block.
   *
   * @throws PlumblineError `INVALID_PARAMETER` when the state was opened without the option `pages`
   */
  takePages(): PageChanges;

  /** The account after a block; undefined when it does not exist. */
  account(block: number, address: Uint8Array): AccountValue | undefined;

  /** Value of a slot after a block, 32 bytes, zero for an empty slot or a missing account. */
  slot(block: number, address: Uint8Array, key: Uint8Array): Uint8Array;

  /**
   * Answer of `linea_getProof` for the state after a block.
   *
   * @param storageKeys - 32 bytes each; duplicates are answered as often as asked
   */
  prove(block: number, address: Uint8Array, storageKeys: readonly Uint8Array[]): LineaProofJson;
}
