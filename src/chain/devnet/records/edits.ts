import { RLP } from '@ethereumjs/rlp';
import { messageOf, PlumblineError } from '../../../errors.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { StateOverlay } from '../../../evm/state/state-overlay.js';
import type { Account } from '../../../evm/state/state-reader.js';
import { NO_ACCOUNT } from '../../../evm/state/state-reader.js';
import { bigIntToMinimalBytes, bytesToBigInt, equalBytes } from '../../../primitives/bytes.js';
import { nextTurn } from '../../../scheduling/turns.js';

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

/** Applies edits in order. An account that does not exist is created, unless it would be empty. */
export async function applyEdits(overlay: StateOverlay, edits: readonly StateEdit[]): Promise<void> {
  for (const edit of edits) {
    await nextTurn();
    const held = await overlay.account(edit.address);
    const after = edited(overlay, held ?? NO_ACCOUNT, edit);
    const empty = after.nonce === 0n && after.balance === 0n && equalBytes(after.codeHash, EMPTY_CODE_HASH);
    if (held === undefined && empty && edit.kind !== 'slot') continue;
    overlay.setAccount(edit.address, after);
    if (edit.kind === 'slot') overlay.setSlot(edit.address, edit.key, edit.value);
  }
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

/** Encodes edits for the store. */
export function encodeEdits(edits: readonly StateEdit[]): Uint8Array {
  return RLP.encode(edits.map((edit) => [Uint8Array.of(KINDS.indexOf(edit.kind) + 1), edit.address, ...values(edit)]));
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

/** @throws PlumblineError `STORE_CORRUPT` if the bytes are not a list of edits */
export function decodeEdits(bytes: Uint8Array): StateEdit[] {
  try {
    return (RLP.decode(bytes) as Uint8Array[][]).map(parseEdit);
  } catch (cause) {
    const reason = messageOf(cause);
    const text = `the stored edits of the state do not decode: ${reason}`;
    throw new PlumblineError('STORE_CORRUPT', text, { table: 'meta', reason }, { cause });
  }
}

function parseEdit([kind, address, value, key]: Uint8Array[]): StateEdit {
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
