import type { AccountValue } from '../../accumulator/account-value.js';
import { schemeFormat } from '../../accumulator/scheme.js';
import { PlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import { equalBytes } from '../../primitives/bytes.js';
import { KeyHashes } from '../hash-cache.js';
import type { StateTrace } from '../trace.js';
import { WitnessTrie } from '../witness/witness-trie.js';
import { applyTraced, type TracedChange, type TracedState } from './traced-application.js';

/**
 * A state of which only some branches are known, from proofs or traces. Blocks that touch nothing else can be applied to it.
 *
 * @example
 * const before = witnessBefore(hasher, traces)!;
 * const made = before.copy().apply(changes); // the same traces again
 */
export class WitnessState implements TracedState {
  private readonly keys: KeyHashes;
  private readonly storages: Map<number, WitnessTrie>;

  /**
   * @param accounts - default: an empty trie, the state before the first block
   * @param storages - by leaf position of the account
   */
  constructor(
    private readonly hasher: Hasher,
    readonly accounts: WitnessTrie = WitnessTrie.empty(hasher),
    storages: Iterable<readonly [number, WitnessTrie]> = [],
  ) {
    this.keys = new KeyHashes(hasher);
    this.storages = new Map(storages);
  }

  /**
   * Applies one block, one operation at a time. After an error the state cannot be used any more: apply to a copy if an
   * error is possible. This does not check that the storage of an account is empty if the account is destroyed and
   * recreated without slots.
   *
   * @param changes - in any order, each address once
   * @returns the state traces, in the order of the reference state manager; the state root after them is `accounts.topRoot`
   * @throws PlumblineError `WITNESS_MISSING` for an unknown branch; `STATE_MISMATCH` when a before-value differs from the
   *   state; `INVALID_PARAMETER`, `INVALID_LENGTH`; `OUT_OF_RANGE`, `HASH_INPUT_NOT_CANONICAL` for a number that the trie
   *   cannot hold
   */
  apply(changes: readonly TracedChange[]): StateTrace[] {
    return applyTraced({ hasher: this.hasher, keys: this.keys }, this, changes);
  }

  /** A copy with the same known branches, to try a block on. */
  copy(): WitnessState {
    const storages = [...this.storages].map(([position, trie]) => [position, trie.copy()] as const);
    return new WitnessState(this.hasher, this.accounts.copy(), storages);
  }

  /** @throws PlumblineError `WITNESS_MISSING` if nothing of it is known and it is not empty */
  storageAt(position: number, account: AccountValue): WitnessTrie {
    const known = this.storages.get(position);
    if (known !== undefined) return known;
    if (equalBytes(account.storageRoot, schemeFormat(this.hasher.scheme).emptyRoot)) return this.startStorage(position);
    const message = `the storage of the account at leaf position ${position} is not known`;
    throw new PlumblineError('WITNESS_MISSING', message, { part: 'storage', position });
  }

  startStorage(position: number): WitnessTrie {
    const empty = WitnessTrie.empty(this.hasher);
    this.storages.set(position, empty);
    return empty;
  }
}
