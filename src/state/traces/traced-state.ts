import type { AccountValue } from '../../accumulator/account-value.js';
import { schemeFormat } from '../../accumulator/scheme.js';
import { PlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { StepTrie } from '../trace.js';
import { WitnessTrie } from '../witness/witness-trie.js';

/** The tries of a state, for block application step by step. Storage belongs to a leaf position of the account trie. */
export interface TracedState {
  readonly accounts: StepTrie;
  /** Storage of the account at leaf position `position`. @param account - its value */
  storageAt(position: number, account: AccountValue): StepTrie;
  /** Gives the account at `position` an empty storage. */
  startStorage(position: number): StepTrie;
}

/** A state of which only some branches are known. */
export class WitnessState implements TracedState {
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
    this.storages = new Map(storages);
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
