import { type AccountValue, decodeAccountValue } from '../../src/accumulator/account-value.js';
import { hashAddress, hashWord } from '../../src/accumulator/keys.js';
import type { LineaProofJson } from '../../src/accumulator/proof-shape.js';
import { schemeFormat, ZERO_HASH } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import type { TracedState } from '../../src/state/traced-application.js';
import { PlainTrie } from './plain-trie.js';

/** The twin of a world state: plain tries, copied for every block. It is changed by `applyTraced`. */
export class PlainState implements TracedState {
  readonly accounts: PlainTrie;
  readonly hasher: Hasher;
  /** By leaf position of the account. */
  private readonly storages: Map<number, PlainTrie>;

  /** @param traced - whether traces come with branches and sub roots */
  constructor(
    hasher: Hasher,
    traced: boolean,
    accounts = new PlainTrie(hasher, traced),
    storages?: [number, PlainTrie][],
  ) {
    this.hasher = hasher;
    this.accounts = accounts;
    this.storages = new Map(storages);
  }

  copy(): PlainState {
    const storages = [...this.storages].map(([position, trie]): [number, PlainTrie] => [position, trie.copy()]);
    return new PlainState(this.hasher, this.accounts.traced, this.accounts.copy(), storages);
  }

  storageAt(position: number): PlainTrie {
    return this.storages.get(position) ?? this.startStorage(position);
  }

  startStorage(position: number): PlainTrie {
    const empty = new PlainTrie(this.hasher, this.accounts.traced);
    this.storages.set(position, empty);
    return empty;
  }

  /** Keys inserted, changed and removed since the state was empty. */
  get operations(): number {
    let count = this.accounts.operations;
    for (const { operations } of this.storages.values()) count += operations;
    return count;
  }

  account(address: Uint8Array): AccountValue | undefined {
    const value = this.accounts.value(hashAddress(this.hasher, address));
    return value && decodeAccountValue(value);
  }

  slot(address: Uint8Array, key: Uint8Array): Uint8Array {
    return this.storageOf(address)?.value(hashWord(this.hasher, key)) ?? ZERO_HASH;
  }

  prove(address: Uint8Array, keys: readonly Uint8Array[]): LineaProofJson {
    const storage = this.storageOf(address);
    const accountProof = this.accounts.prove(hashAddress(this.hasher, address), address);
    if (storage === undefined) return { accountProof, storageProofs: [] };
    return { accountProof, storageProofs: keys.map((key) => storage.prove(hashWord(this.hasher, key), key)) };
  }

  /**
   * Whether the storage root of an account is that of the storage of its own position. An account that was destroyed and
   * recreated without a slot keeps the root of its old storage (docs/spec/state-trie.md 5.3, below the table).
   */
  ownsStorage(address: Uint8Array): boolean {
    const account = this.account(address);
    if (account === undefined) return true;
    const own = this.storages.get(this.accounts.positionOf(hashAddress(this.hasher, address)));
    const root = own?.topRoot ?? schemeFormat(this.hasher.scheme).emptyRoot;
    return bytesToHex(root) === bytesToHex(account.storageRoot);
  }

  /** The trie of which the account's storage root is; undefined when that is the empty root. */
  private storageOf(address: Uint8Array): PlainTrie | undefined {
    const account = this.account(address);
    const root = account && bytesToHex(account.storageRoot);
    if (root === undefined || root === bytesToHex(schemeFormat(this.hasher.scheme).emptyRoot)) return undefined;
    const own = this.storages.get(this.accounts.positionOf(hashAddress(this.hasher, address)));
    if (own !== undefined && bytesToHex(own.topRoot) === root) return own;
    // Recreated without a slot: the root is still that of the storage before, which stands at the old position.
    return [...this.storages.values()].find((trie) => bytesToHex(trie.topRoot) === root)!;
  }
}
