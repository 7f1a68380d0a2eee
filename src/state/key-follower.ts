import { type AccountValue, decodeAccountValue } from '../accumulator/account-value.js';
import { schemeFormat, ZERO_HASH } from '../accumulator/scheme.js';
import { isPlumblineError, PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { copyBytes, equalBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { KeyHashes } from './hash-cache.js';
import { type StateTrace, traceKeyHash, traceValueHash } from './trace.js';
import { stateBefore } from './trace-check.js';
import { learnTrace, trieBefore } from './witness-state.js';
import { conflict, WitnessTrie } from './witness-trie.js';

/** An account to follow, with some of its slots. */
export interface FollowedAccount {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly slots: readonly Uint8Array[];
  /** The known part of its storage trie. If the storage is empty, you may leave it out. */
  readonly storage?: WitnessTrie;
}

interface Followed {
  readonly hkey: Uint8Array;
  /** Hashes of the slot keys. */
  readonly slotKeys: readonly Uint8Array[];
  storage: WitnessTrie | undefined;
  /**
   * Storage root of the account when it was deleted. If it is recreated without slots, it has this root although its
   * storage is empty.
   */
  deletedRoot?: Uint8Array | undefined;
}

/**
 * Follows selected accounts and slots of a state that is too large to hold. It keeps only their branches, and updates them from the
 * traces of each block (docs/spec/state-trie.md 12). It needs all traces of all blocks. It checks every branch against the current
 * root, and computes every new root. So wrong traces can only lead to another root. The caller must compare the root of each block.
 * After an error, the follower can no longer be used.
 */
export class KeyFollower {
  private readonly keys: KeyHashes;
  private readonly followed = new Map<string, Followed>();

  /**
   * @param accounts - the account trie to start from, which must cover the followed accounts: from `witnessFromProofs`,
   *   or an empty trie
   * @throws PlumblineError `WITNESS_MISSING` for an account that the trie does not cover; `INVALID_LENGTH`
   */
  constructor(
    private readonly hasher: Hasher,
    private accounts: WitnessTrie,
    followed: readonly FollowedAccount[],
  ) {
    this.keys = new KeyHashes(hasher);
    for (const { address, slots, storage } of followed) {
      const { hkey } = this.keys.hashedAddress(address);
      accounts.read(hkey);
      this.followed.set(bytesToHex(address), { hkey, slotKeys: this.keys.ofSlots(slots), storage });
    }
  }

  /** State root, 32 bytes. */
  get root(): Uint8Array {
    return this.accounts.topRoot;
  }

  /**
   * Applies the traces of one block.
   *
   * @param traces - all of the block, in order; deletions must have `deletedValue`
   * @returns the state root after it, 32 bytes
   * @throws PlumblineError `WITNESS_CONFLICT` for traces that do not continue from the known state, or without their
   *   storage traces; `WITNESS_MISSING`, `HASH_INPUT_NOT_CANONICAL`
   */
  follow(traces: readonly StateTrace[]): Uint8Array {
    for (const trace of traces) {
      const account = this.followed.get(bytesToHex(trace.location ?? trace.key));
      if (trace.location === undefined) {
        this.step(this.accounts, trace);
        if (account !== undefined && trace.type === 'delete') {
          account.deletedRoot = trace.deletedValue && decodeAccountValue(trace.deletedValue).storageRoot;
          account.storage = WitnessTrie.empty(this.hasher);
        }
      } else if (account !== undefined) {
        account.storage ??= this.storageBefore(account, trace);
        this.step(account.storage, trace);
      }
    }
    this.accounts = this.reduce(
      this.accounts,
      [...this.followed.values()].map(({ hkey }) => hkey),
    );
    for (const account of this.followed.values()) {
      if (account.storage === undefined) continue;
      this.checkStorageRoot(account, account.storage);
      account.storage = this.reduce(account.storage, account.slotKeys);
    }
    return this.root;
  }

  /** Undefined if it does not exist. @throws PlumblineError `WITNESS_MISSING` for an account that is not followed */
  account(address: Uint8Array): AccountValue | undefined {
    return this.held(this.find(address))?.value;
  }

  /** Value of a slot, 32 bytes; zero if it is empty. @throws PlumblineError `WITNESS_MISSING` if it is not known */
  slot(address: Uint8Array, key: Uint8Array): Uint8Array {
    const account = this.find(address);
    const storageRoot = this.held(account)?.value.storageRoot;
    if (storageRoot === undefined || this.isEmpty(storageRoot)) return ZERO_HASH.slice();
    if (account.storage === undefined) throw missing('storage', account.hkey);
    const held = account.storage.read(this.keys.ofSlots([key])[0]!);
    return held.type === 'read' ? copyBytes(held.value) : ZERO_HASH.slice();
  }

  private find(address: Uint8Array): Followed {
    const account = this.followed.get(bytesToHex(address));
    if (account === undefined) throw missing('leaf', address);
    return account;
  }

  /** The account and its leaf position. */
  private held({ hkey }: Followed): { value: AccountValue; position: number } | undefined {
    const held = this.accounts.read(hkey);
    if (held.type === 'read-zero') return undefined;
    return { value: decodeAccountValue(held.value), position: held.proof.leafIndex };
  }

  private isEmpty(storageRoot: Uint8Array): boolean {
    return equalBytes(storageRoot, schemeFormat(this.hasher.scheme).emptyRoot);
  }

  /**
   * The storage trie before its first trace: empty for an account without storage, else with the root in the account's
   * value.
   */
  private storageBefore(account: Followed, trace: StateTrace): WitnessTrie {
    const held = this.held(account);
    if (held === undefined || this.isEmpty(held.value.storageRoot)) return WitnessTrie.empty(this.hasher);
    const storage = trieBefore(this.hasher, trace);
    if (equalBytes(storage.topRoot, held.value.storageRoot)) return storage;
    throw conflict(held.position, 'its storage traces do not start from the storage root of the account');
  }

  private step(trie: WitnessTrie, trace: StateTrace): void {
    const before = stateBefore(trace);
    if (before.nextFreeNode !== trie.nextFreeNode || !equalBytes(before.subRoot, trie.subRoot)) {
      throw conflict(positionOf(trace), 'a trace does not start where the one before ended');
    }
    learnTrace(trie, trace);
    if (trace.type === 'read' || trace.type === 'read-zero') return;
    const hkey = traceKeyHash(this.hasher, trace);
    if (trace.type === 'delete') trie.remove(hkey);
    else {
      const value = trace.type === 'insert' ? trace.value : trace.newValue;
      trie.put({ hkey, hval: traceValueHash(this.hasher, value), value });
    }
    if (equalBytes(trie.subRoot, trace.newSubRoot)) return;
    throw conflict(positionOf(trace), 'the writes of a trace lead to another sub root');
  }

  /** Checks that the known storage has the root in the account's value. */
  private checkStorageRoot(account: Followed, storage: WitnessTrie): void {
    const held = this.held(account);
    if (held === undefined || equalBytes(held.value.storageRoot, storage.topRoot)) return;
    const { deletedRoot } = account;
    const isKept = deletedRoot !== undefined && equalBytes(held.value.storageRoot, deletedRoot);
    if (!isKept || !this.isEmpty(storage.topRoot)) throw conflict(held.position, 'storage traces are missing');
  }

  /** The trie reduced to the known branches of these keys. */
  private reduce(trie: WitnessTrie, hkeys: readonly Uint8Array[]): WitnessTrie {
    const { nextFreeNode, subRoot } = trie;
    if (this.isEmpty(trie.topRoot)) return trie;
    const reduced = WitnessTrie.open(this.hasher, nextFreeNode, subRoot);
    for (const hkey of hkeys) {
      try {
        const held = trie.read(hkey);
        if (held.type === 'read') reduced.learn(held.proof.leafIndex, held.leaf, held.proof.siblings, held.value);
        else {
          reduced.learn(held.leftProof.leafIndex, held.leftLeaf, held.leftProof.siblings);
          reduced.learn(held.rightProof.leafIndex, held.rightLeaf, held.rightProof.siblings);
        }
      } catch (error) {
        // A slot that no trace has shown yet, if the storage was not known at the start.
        if (!isPlumblineError(error, 'WITNESS_MISSING')) throw error;
      }
    }
    return reduced;
  }
}

/** Position of the first leaf in a trace. */
function positionOf(trace: StateTrace): number {
  return ('proof' in trace ? trace.proof : trace.leftProof).leafIndex;
}

function missing(part: 'leaf' | 'storage', key: Uint8Array): PlumblineError<'WITNESS_MISSING'> {
  const hkey = bytesToHex(key);
  return new PlumblineError(
    'WITNESS_MISSING',
    `${part} of ${hkey} is not known; follow this account or slot from the start`,
    { part, hkey },
  );
}
