import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import type { StateOverlay } from '../evm/state-overlay.js';
import { type Account, NO_ACCOUNT } from '../evm/state-reader.js';
import {
  bigIntToMinimalBytes,
  bytesToBigInt,
  bytesToKey,
  equalBytes,
  isZeroBytes,
  keyToBytes,
} from '../primitives/bytes.js';
import { nextTurn } from '../scheduling/turns.js';

/** A developer's change to the state, made without a transaction. Addresses are 20 bytes. */
export type StateEdit =
  /** Wei. */
  | { readonly kind: 'balance'; readonly address: Uint8Array; readonly balance: bigint }
  | { readonly kind: 'nonce'; readonly address: Uint8Array; readonly nonce: bigint }
  /** Empty code removes the account's code. */
  | { readonly kind: 'code'; readonly address: Uint8Array; readonly code: Uint8Array }
  /** Key and value are 32 bytes. */
  | { readonly kind: 'slot'; readonly address: Uint8Array; readonly key: Uint8Array; readonly value: Uint8Array };

const KINDS = ['balance', 'nonce', 'code', 'slot'] as const;

/**
 * Applies edits in order.
 *
 * @param usedSlots - keys of the slots that an account has before, 32 bytes each, if `overlay` does not lie over a network's state.
 *   With it, an account that is empty after all edits and has no slot goes (EIP-161)
 */
export async function applyEdits(
  overlay: StateOverlay,
  edits: readonly StateEdit[],
  usedSlots?: (address: Uint8Array) => readonly Uint8Array[],
): Promise<void> {
  for (const edit of edits) {
    await nextTurn();
    const held = await overlay.account(edit.address);
    overlay.setAccount(edit.address, edited(overlay, held ?? NO_ACCOUNT, edit));
    if (edit.kind === 'slot') overlay.setSlot(edit.address, edit.key, edit.value);
  }
  if (usedSlots === undefined) return;
  const written = new Map<string, Uint8Array[]>();
  for (const edit of edits) {
    const name = bytesToKey(edit.address);
    const keys = written.get(name) ?? [];
    if (edit.kind === 'slot') keys.push(edit.key);
    written.set(name, keys);
  }
  for (const [name, keys] of written) {
    await nextTurn();
    const address = keyToBytes(name);
    const account = await overlay.account(address);
    if (account === undefined || !isEmpty(account)) continue;
    if (!(await hasSlot(overlay, address, [...usedSlots(address), ...keys]))) overlay.destroy(address);
  }
}

async function hasSlot(overlay: StateOverlay, address: Uint8Array, keys: readonly Uint8Array[]): Promise<boolean> {
  for (const key of keys) {
    await nextTurn();
    if (!isZeroBytes(await overlay.slot(address, key))) return true;
  }
  return false;
}

function isEmpty({ nonce, balance, codeHash }: Account): boolean {
  return nonce === 0n && balance === 0n && equalBytes(codeHash, EMPTY_CODE_HASH);
}

function edited(overlay: StateOverlay, account: Account, edit: StateEdit): Account {
  switch (edit.kind) {
    case 'balance':
      return { ...account, balance: edit.balance };
    case 'nonce':
      return { ...account, nonce: edit.nonce };
    case 'code':
      return { ...account, codeHash: edit.code.length === 0 ? EMPTY_CODE_HASH : overlay.addCode(edit.code) };
    case 'slot':
      return account;
  }
}

/** Edits for the store, to be encoded as RLP. */
export function editItems(edits: readonly StateEdit[]): Uint8Array[][] {
  return edits.map((edit) => [Uint8Array.of(KINDS.indexOf(edit.kind) + 1), edit.address, ...values(edit)]);
}

function values(edit: StateEdit): Uint8Array[] {
  switch (edit.kind) {
    case 'balance':
      return [bigIntToMinimalBytes(edit.balance)];
    case 'nonce':
      return [bigIntToMinimalBytes(edit.nonce)];
    case 'code':
      return [edit.code];
    case 'slot':
      return [edit.value, edit.key];
  }
}

/** Edits as `editItems` gives them. @throws Error if the item is not a list of edits */
export function editsFromItems(items: unknown): StateEdit[] {
  return (items as Uint8Array[][]).map(editFromItems);
}

/** One edit. @throws Error if the item is not an edit */
export function editFromItems(item: unknown): StateEdit {
  const [kind, address, value, key] = item as Uint8Array[];
  if (address?.length !== 20 || value === undefined) throw new Error('an edit has no address or no value');
  switch (KINDS[(kind?.[0] ?? 0) - 1]) {
    case 'balance':
      return { kind: 'balance', address, balance: bytesToBigInt(value) };
    case 'nonce':
      return { kind: 'nonce', address, nonce: bytesToBigInt(value) };
    case 'code':
      return { kind: 'code', address, code: value };
    case 'slot':
      if (key?.length !== 32 || value.length !== 32) throw new Error('key and value of a slot edit must be 32 bytes');
      return { kind: 'slot', address, key, value };
    default:
      throw new Error('an edit is of unknown kind');
  }
}
