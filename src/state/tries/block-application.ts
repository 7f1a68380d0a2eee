import { type AccountValue, accountHashInput, encodeAccountValue } from '../../accumulator/account-value.js';
import { hashCode } from '../../accumulator/keys.js';
import { schemeFormat, ZERO_HASH } from '../../accumulator/scheme.js';
import { encodeFull } from '../../accumulator/spread.js';
import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import type { Hasher } from '../../kernel/contracts.js';
import { keccak256 } from '../../kernel/keccak.js';
import { equalBytes, isZeroBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { hashEach, type KeyHashes } from '../hash-cache.js';
import type { AccountAfter, SlotChange, ZkAccountChange } from '../world-state.js';
import { checkBefore, type Entry, requireSame, sortedEntries } from './block-entries.js';
import type { AccountRecord, SlotTrie, StateTries } from './state-tries.js';

/** Account fields that follow from the code. */
export type CodeFields = Pick<AccountValue, 'zkCodeHash' | 'keccakCodeHash' | 'codeSize'>;

/** An account to write, without its storage root yet. */
interface Plan {
  readonly entry: Entry;
  readonly after: AccountAfter;
  readonly code: CodeFields;
  /** The trie to which its slots were written; undefined if no slots were touched. */
  readonly storage: SlotTrie | undefined;
}

/** Number of accounts written at once to an empty state. */
const CHUNK_ACCOUNTS = 1024;

/**
 * Writes a block into the tries (docs/spec/state-trie.md 5.3). Storage tries come first, because account values contain
 * their roots. In each trie all leaves are written before hashing. The order of operations within a trie stays as
 * specified, and the roots depend on nothing else. Before-values are checked before anything is written. After a later
 * error the caller must undo what was written.
 *
 * @param onProgress - as in `WorldState.applyBlock`
 * @throws PlumblineError `STATE_MISMATCH`, `INVALID_PARAMETER`, see `WorldState.applyBlock`
 */
export function applyChanges(
  tries: StateTries,
  keys: KeyHashes,
  changes: readonly ZkAccountChange[],
  onProgress?: (fraction: number) => void,
): void {
  const entries = sortedEntries(keys, (hkey) => tries.held(hkey), changes);
  for (const entry of entries) checkBefore(entry, (hkey) => entry.held?.slot(hkey) ?? ZERO_HASH);
  // In a state without accounts there are only insertions; they may be done in chunks, in order.
  const size = tries.hasNoAccounts ? CHUNK_ACCOUNTS : entries.length;
  for (let first = 0; first < entries.length; first += size) {
    applyEntries(tries, entries.slice(first, first + size));
    onProgress?.(Math.min(first + size, entries.length) / entries.length);
  }
}

function applyEntries(tries: StateTries, entries: readonly Entry[]): void {
  const plans = entries.map((entry) => plan(tries, entry));
  tries.kernel.commit();
  const records = plans.map((planned) => planned && accountRecord(tries, planned));
  const written = records.filter((record) => record !== undefined);
  const hvals = hashEach(
    tries.hasher,
    written.map(({ value }) => value),
    accountHashInput,
  );
  const hvalOf = new Map(written.map((record, i) => [record, hvals[i]!]));

  for (const [i, { hkey, change, held }] of entries.entries()) {
    const record = records[i];
    const removed = held !== undefined && (change.after === undefined || change.destroyed);
    if (removed) tries.removeAccount(hkey);
    if (held?.record.storage !== record?.storage && (removed || record !== undefined))
      tries.retire(held?.record.storage);
    if (record !== undefined) tries.putAccount(hkey, hvalOf.get(record)!, record);
  }
}

/** Steps D to F3: the account to write, with its storage written but not hashed; undefined if nothing is written. */
function plan(tries: StateTries, entry: Entry): Plan | undefined {
  const { change, prior } = entry;
  const { after } = change;
  if (after === undefined) return undefined;
  const code = codeFields(tries.hasher, entry, after);
  const recreated = prior !== undefined && change.destroyed;
  if (prior !== undefined && !recreated) {
    const sameAccount = after.nonce === prior.nonce && after.balance === prior.balance && sameCode(code, prior);
    if (sameAccount && change.slots.every((slot) => equalBytes(slot.before, slot.after))) return undefined;
  }
  return { entry, after, code, storage: change.slots.length === 0 ? undefined : writeStorage(tries, entry) };
}

/**
 * Code hashes and size of an account after a block.
 *
 * @throws PlumblineError `STATE_MISMATCH` when the change gives another code hash
 */
export function codeFields(
  hasher: Hasher,
  { change, prior }: Pick<Entry, 'change' | 'prior'>,
  after: AccountAfter,
): CodeFields {
  let fields: CodeFields;
  if (after.code !== undefined) {
    const zkCodeHash = hashCode(hasher, after.code);
    fields = { zkCodeHash, keccakCodeHash: keccak256(after.code), codeSize: BigInt(after.code.length) };
  } else {
    fields = prior ?? {
      zkCodeHash: schemeFormat(hasher.scheme).emptyCodeHash,
      keccakCodeHash: EMPTY_CODE_HASH,
      codeSize: 0n,
    };
  }
  const { keccakCodeHash = fields.keccakCodeHash } = after;
  const what = () => `code hash of ${bytesToHex(change.address)} after the block`;
  requireSame(what, fields.keccakCodeHash, keccakCodeHash);
  return fields;
}

export function sameCode(a: CodeFields, b: CodeFields): boolean {
  return (
    a.codeSize === b.codeSize &&
    equalBytes(a.zkCodeHash, b.zkCodeHash) &&
    equalBytes(a.keccakCodeHash, b.keccakCodeHash)
  );
}

/** Slots of a destroyed account count as empty before, because it gets a new storage trie. */
function valueBefore(change: ZkAccountChange, slot: SlotChange): Uint8Array {
  return change.destroyed ? ZERO_HASH : slot.before;
}

/** Steps F1 to F3. */
function writeStorage(tries: StateTries, { change, held, slots }: Entry): SlotTrie {
  const { record } = held ?? {};
  const kept = change.destroyed || record?.storageRestarts ? undefined : record?.storage;
  const storage = kept ?? tries.startStorage();
  const hvals = hashEach(
    tries.hasher,
    slots.map(({ slot }) => slot.after),
    encodeFull,
  );
  for (const [i, { hkey, slot }] of slots.entries()) {
    const before = valueBefore(change, slot);
    const isSet = !isZeroBytes(slot.after);
    if (!isZeroBytes(before) && (!isSet || slot.cleared === true)) tries.removeSlot(storage, hkey);
    if (isSet && !equalBytes(before, slot.after)) tries.putSlot(storage, hkey, hvals[i]!, slot.after);
  }
  return storage;
}

/** Step G: the account's value with its storage root, and the trie with that root. */
function accountRecord(tries: StateTries, planned: Plan): AccountRecord {
  const { entry, after, code, storage } = planned;
  const { held, prior, change } = entry;
  const encode = (storageRoot: Uint8Array) => {
    const { nonce, balance } = after;
    const { zkCodeHash, keccakCodeHash, codeSize } = code;
    return encodeAccountValue({ nonce, balance, storageRoot, zkCodeHash, keccakCodeHash, codeSize });
  };
  if (storage !== undefined) return { value: encode(tries.topRoot(storage)), storage, storageRestarts: false };
  if (prior === undefined) {
    const { emptyRoot } = schemeFormat(tries.hasher.scheme);
    return { value: encode(emptyRoot), storage: undefined, storageRestarts: false };
  }
  const old = held?.record.storage;
  if (change.destroyed && old !== undefined) {
    const content = tries.isEmptyStorage(old) ? 'no slot' : 'slots';
    requireSame(() => `storage of the recreated account ${bytesToHex(change.address)}`, content, 'no slot');
  }
  const storageRestarts = change.destroyed || held?.record.storageRestarts === true;
  return { value: encode(prior.storageRoot), storage: old, storageRestarts };
}
