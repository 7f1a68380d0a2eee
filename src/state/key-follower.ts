import { type AccountValue, decodeAccountValue } from '../accumulator/account-value.js';
import { schemeFormat, ZERO_HASH } from '../accumulator/scheme.js';
import { isPlumblineError, PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { equalBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { KeyHashes } from './hash-cache.js';
import { type StateTrace, traceKeyHash, traceValueHash } from './trace.js';
import { stateBefore } from './traces/trace-check-trie.js';
import { learnTrace, trieBefore } from './traces/traced-witness.js';
import { conflict } from './witness/witness-nodes.js';
import { WitnessTrie } from './witness/witness-trie.js';

/** An account that is followed, with slots of it. */
export interface FollowedAccount {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly slots: readonly Uint8Array[];
  /** What is known of its storage; left out for none, which is enough where the storage is empty. */
  readonly storage?: WitnessTrie;
}

interface Followed {
  readonly hkey: Uint8Array;
  /** Hashed. */
  readonly slotKeys: readonly Uint8Array[];
  storage: WitnessTrie | undefined;
  /** Storage root of the account when it was deleted: recreated without a slot it has that root, and no slot. */
  deletedRoot?: Uint8Array | undefined;
}

/**
 * Selected accounts and slots of a state too large to be held, kept through the traces of each block: their branches, and
 * nothing else (docs/spec/state-trie.md 12). It needs all traces of all blocks. Each of their branches is checked against
 * the root so far and each new root is computed, so wrong traces can do nothing but lead to another root: that the root of
 * a block is the right one is for the caller to compare. After an error a follower is of no more use.
 */
export class KeyFollower {
  private readonly keys: KeyHashes;
  private readonly followed = new Map<string, Followed>();

  /**
   * @param accounts - the account trie to begin with, in which the followed accounts are known: from `witnessFromProofs`,
   *   or a whole empty one
   * @throws PlumblineError `WITNESS_MISSING` for an account of which it is not known what it is; `INVALID_LENGTH`
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
   * Goes on by a block.
   *
   * @param traces - all of it, in their order; deletions tell what value was deleted
   * @returns the state root after it, 32 bytes
   * @throws PlumblineError `WITNESS_CONFLICT` for traces that do not start from what is known, or leave storage traces out;
   *   `WITNESS_MISSING`, `HASH_INPUT_NOT_CANONICAL`
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
    this.accounts = this.pruned(
      this.accounts,
      [...this.followed.values()].map(({ hkey }) => hkey),
    );
    for (const account of this.followed.values()) {
      if (account.storage === undefined) continue;
      this.mustAgree(account, account.storage);
      account.storage = this.pruned(account.storage, account.slotKeys);
    }
    return this.root;
  }

  /** Undefined when it does not exist. @throws PlumblineError `WITNESS_MISSING` for an account that is not followed */
  account(address: Uint8Array): AccountValue | undefined {
    return this.held(this.find(address))?.value;
  }

  /** Value of a slot, 32 bytes, zero when it is empty. @throws PlumblineError `WITNESS_MISSING` when it is not known */
  slot(address: Uint8Array, key: Uint8Array): Uint8Array {
    const account = this.find(address);
    const storageRoot = this.held(account)?.value.storageRoot;
    if (storageRoot === undefined || this.isEmpty(storageRoot)) return ZERO_HASH.slice();
    if (account.storage === undefined) throw missing('storage', account.hkey);
    const held = account.storage.read(this.keys.ofSlots([key])[0]!);
    return held.type === 'read' ? held.value.slice() : ZERO_HASH.slice();
  }

  private find(address: Uint8Array): Followed {
    const account = this.followed.get(bytesToHex(address));
    if (account === undefined) throw missing('leaf', address);
    return account;
  }

  /** The account, and its leaf position. */
  private held({ hkey }: Followed): { value: AccountValue; position: number } | undefined {
    const held = this.accounts.read(hkey);
    if (held.type === 'read-zero') return undefined;
    return { value: decodeAccountValue(held.value), position: held.proof.leafIndex };
  }

  private isEmpty(storageRoot: Uint8Array): boolean {
    return equalBytes(storageRoot, schemeFormat(this.hasher.scheme).emptyRoot);
  }

  /** Storage of which the first trace is met: empty for an account that has none, else what the account's value says. */
  private storageBefore(account: Followed, trace: StateTrace): WitnessTrie {
    const held = this.held(account);
    if (held === undefined || this.isEmpty(held.value.storageRoot)) return WitnessTrie.empty(this.hasher);
    const storage = trieBefore(this.hasher, trace);
    if (equalBytes(storage.topRoot, held.value.storageRoot)) return storage;
    throw conflict(held.position, 'storage traces that do not start from the storage root of the account');
  }

  private step(trie: WitnessTrie, trace: StateTrace): void {
    const before = stateBefore(trace);
    if (before.nextFreeNode !== trie.nextFreeNode || !equalBytes(before.subRoot, trie.subRoot)) {
      throw conflict(positionOf(trace), 'a trace that does not start where the one before ended');
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
    throw conflict(positionOf(trace), 'a trace whose writes lead to another sub root');
  }

  /** Storage that is known has the root that the account's value names. */
  private mustAgree(account: Followed, storage: WitnessTrie): void {
    const held = this.held(account);
    if (held === undefined || equalBytes(held.value.storageRoot, storage.topRoot)) return;
    const { deletedRoot } = account;
    const isKept = deletedRoot !== undefined && equalBytes(held.value.storageRoot, deletedRoot);
    if (!isKept || !this.isEmpty(storage.topRoot)) throw conflict(held.position, 'storage traces that were left out');
  }

  /** The same trie with the branches of some keys only, as far as they are known. */
  private pruned(trie: WitnessTrie, hkeys: readonly Uint8Array[]): WitnessTrie {
    const { nextFreeNode, subRoot } = trie;
    if (this.isEmpty(trie.topRoot)) return trie;
    const kept = WitnessTrie.open(this.hasher, nextFreeNode, subRoot);
    for (const hkey of hkeys) {
      try {
        const held = trie.read(hkey);
        if (held.type === 'read') kept.learn(held.proof.leafIndex, held.leaf, held.proof.siblings, held.value);
        else {
          kept.learn(held.leftProof.leafIndex, held.leftLeaf, held.leftProof.siblings);
          kept.learn(held.rightProof.leafIndex, held.rightLeaf, held.rightProof.siblings);
        }
      } catch (error) {
        // Of storage whose beginning was not given, what no trace has shown yet.
        if (!isPlumblineError(error, 'WITNESS_MISSING')) throw error;
      }
    }
    return kept;
  }
}

/** The first leaf that a trace is about. */
function positionOf(trace: StateTrace): number {
  return ('proof' in trace ? trace.proof : trace.leftProof).leafIndex;
}

function missing(part: 'leaf' | 'storage', key: Uint8Array): PlumblineError<'WITNESS_MISSING'> {
  const hkey = bytesToHex(key);
  return new PlumblineError('WITNESS_MISSING', `${part} of ${hkey} is not known`, { part, hkey });
}
