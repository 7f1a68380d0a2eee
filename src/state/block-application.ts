import { keccak_256 } from '@noble/hashes/sha3.js';
import { type AccountValue, accountHashInput, encodeAccountValue } from '../accumulator/account-value.js';
import { schemeFormat, ZERO_HASH } from '../accumulator/scheme.js';
import { encodeCode, encodeFull } from '../accumulator/spread.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import type { Hasher } from '../kernel/contracts.js';
import { equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { checkBefore, compare, type Entry, sortedEntries, type Workshop } from './block-entries.js';
import { hashEach } from './hash-cache.js';
import { commitDrafts, holdsNothing, type Leaf, type Tree, TreeDraft } from './tree.js';
import type { AccountAfter, AccountChange, SlotChange } from './world-state.js';

type CodeFields = Pick<AccountValue, 'zkCodeHash' | 'keccakCodeHash' | 'codeSize'>;

/** An account to be put, its storage root still open. */
interface Plan {
  readonly entry: Entry;
  readonly after: AccountAfter;
  readonly code: CodeFields;
  /** Present when slots were touched. */
  readonly storage: TreeDraft | undefined;
}

/**
 * The account tree after a block (spec/state-trie.md 5.3). Storage trees first, since account values need their roots;
 * in each tree all leaves are written before any is hashed. That leaves the order of operations inside a tree as it has
 * to be, and the roots depend on nothing else.
 *
 * @throws PlumblineError `STATE_MISMATCH`, `INVALID_PARAMETER`, see `WorldState.applyBlock`
 */
export function applyChanges(workshop: Workshop, accounts: Tree, changes: readonly AccountChange[]): Tree {
  const { hasher } = workshop;
  const entries = sortedEntries(workshop, accounts, changes);
  for (const entry of entries) checkBefore(entry);

  const plans = entries.map((entry) => plan(workshop, entry));
  const drafts = plans.flatMap((planned) => planned?.storage ?? []);
  const storageTrees = commitDrafts(hasher, drafts);
  const treeOf = new Map(drafts.map((draft, i) => [draft, storageTrees[i]!]));

  const leaves = plans.map((planned) => planned && accountLeaf(workshop, planned, treeOf));
  const written = leaves.filter((leaf) => leaf !== undefined);
  const values = written.map((leaf) => leaf.value);
  const hvals = hashEach(hasher, values, accountHashInput);
  const hvalOf = new Map(written.map((leaf, i) => [leaf, hvals[i]!]));

  const draft = new TreeDraft(accounts);
  for (const [i, { hkey, change, prior }] of entries.entries()) {
    if (prior !== undefined && (change.after === undefined || change.destroyed)) draft.remove(hkey);
    const leaf = leaves[i];
    if (leaf !== undefined) draft.put({ ...leaf, hkey, hval: hvalOf.get(leaf)! });
  }
  return commitDrafts(hasher, [draft])[0]!;
}

/** Steps D to F3: the account to put and its storage written but not hashed; undefined when nothing is put. */
function plan(workshop: Workshop, entry: Entry): Plan | undefined {
  const { change, prior } = entry;
  const { after } = change;
  if (after === undefined) return undefined;
  const code = codeFields(workshop.hasher, entry, after);
  const recreated = prior !== undefined && change.destroyed;
  if (prior !== undefined && !recreated) {
    const sameAccount = after.nonce === prior.nonce && after.balance === prior.balance && sameCode(code, prior);
    if (sameAccount && change.slots.every((slot) => equalBytes(slot.before, slot.after))) return undefined;
  }
  return { entry, after, code, storage: change.slots.length === 0 ? undefined : draftStorage(workshop, entry) };
}

function codeFields(hasher: Hasher, { change, prior }: Entry, after: AccountAfter): CodeFields {
  let fields: CodeFields;
  if (after.code !== undefined) {
    const zkCodeHash = hasher.hash(encodeCode(hasher.scheme, after.code));
    fields = { zkCodeHash, keccakCodeHash: keccak_256(after.code), codeSize: BigInt(after.code.length) };
  } else {
    fields = prior ?? {
      zkCodeHash: schemeFormat(hasher.scheme).emptyCodeHash,
      keccakCodeHash: EMPTY_CODE_HASH,
      codeSize: 0n,
    };
  }
  const { keccakCodeHash = fields.keccakCodeHash } = after;
  const what = `code hash of ${bytesToHex(change.address)} after the block`;
  compare(what, bytesToHex(fields.keccakCodeHash), bytesToHex(keccakCodeHash));
  return fields;
}

function sameCode(a: CodeFields, b: CodeFields): boolean {
  return (
    a.codeSize === b.codeSize &&
    equalBytes(a.zkCodeHash, b.zkCodeHash) &&
    equalBytes(a.keccakCodeHash, b.keccakCodeHash)
  );
}

/** Slots of a destroyed account count as empty before: a new storage tree is coming. */
function valueBefore(change: AccountChange, slot: SlotChange): Uint8Array {
  return change.destroyed ? ZERO_HASH : slot.before;
}

/** Steps F1 to F3. */
function draftStorage({ hasher, empty }: Workshop, { change, leaf, slots }: Entry): TreeDraft {
  const kept = leaf === undefined || change.destroyed || leaf.storageRestarts ? undefined : leaf.storage;
  const draft = new TreeDraft(kept ?? empty);
  const hvals = hashEach(
    hasher,
    slots.map(({ slot }) => slot.after),
    encodeFull,
  );
  for (const [i, { hkey, slot }] of slots.entries()) {
    const before = valueBefore(change, slot);
    const filled = !isZeroBytes(slot.after);
    if (!isZeroBytes(before) && (!filled || slot.cleared === true)) draft.remove(hkey);
    if (filled && !equalBytes(before, slot.after)) draft.put({ hkey, hval: hvals[i]!, value: slot.after.slice() });
  }
  return draft;
}

type AccountLeaf = Pick<Leaf, 'value' | 'storage' | 'storageRestarts'>;

/** Step G: the account's value with its storage root, and the tree that root is of. */
function accountLeaf(workshop: Workshop, planned: Plan, treeOf: ReadonlyMap<TreeDraft, Tree>): AccountLeaf {
  const { entry, after, code } = planned;
  const { leaf, prior, change } = entry;
  const encode = (storageRoot: Uint8Array) => {
    const { nonce, balance } = after;
    const { zkCodeHash, keccakCodeHash, codeSize } = code;
    return encodeAccountValue({ nonce, balance, storageRoot, zkCodeHash, keccakCodeHash, codeSize });
  };
  if (planned.storage !== undefined) {
    const storage = treeOf.get(planned.storage)!;
    return { value: encode(storage.topRoot), storage };
  }
  if (prior === undefined) return { value: encode(workshop.empty.topRoot) };
  if (change.destroyed && leaf?.storage !== undefined) {
    const held = holdsNothing(leaf.storage) ? 'no slot' : 'slots';
    compare(`storage of the recreated account ${bytesToHex(change.address)}`, held, 'no slot');
  }
  const storageRestarts = change.destroyed || leaf?.storageRestarts === true;
  return { value: encode(prior.storageRoot), storage: leaf?.storage, storageRestarts };
}
