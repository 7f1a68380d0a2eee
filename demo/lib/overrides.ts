import type { Hex } from 'plumbline-l2';
import { requireAddress } from './calls.js';
import { fieldError } from './explain.js';
import { parseUnits } from './format.js';

export type OverrideKind = 'balance' | 'nonce' | 'code' | 'slot';

/** One line of the form: what of which account is taken to be otherwise. */
export interface OverrideRow {
  readonly id: number;
  readonly address: string;
  readonly kind: OverrideKind;
  /** Of a slot: its key. */
  readonly slot: string;
  readonly value: string;
}

interface AccountOverride {
  balance?: Hex;
  nonce?: Hex;
  code?: Hex;
  stateDiff?: Record<string, Hex>;
}

export type StateOverride = Record<string, AccountOverride>;

const HEX = /^0x[0-9a-fA-F]*$/;

function requireHex(text: string, field: string, bytes?: number): Hex {
  const trimmed = text.trim();
  const length = trimmed.length - 2;
  if (!HEX.test(trimmed) || length % 2 !== 0) throw fieldError(field, 'not hex with an even number of digits');
  if (bytes === undefined) return trimmed as Hex;
  if (length > 2 * bytes) throw fieldError(field, `more than ${bytes} bytes`);
  return `0x${trimmed.slice(2).padStart(2 * bytes, '0')}`;
}

/**
 * The state override set of some lines; undefined for none.
 *
 * @throws Error that names line and field
 */
export function readOverrides(rows: readonly OverrideRow[]): StateOverride | undefined {
  if (rows.length === 0) return undefined;
  const set: StateOverride = {};
  for (const [i, row] of rows.entries()) {
    const field = (name: string) => `Override ${i + 1}, ${name}`;
    const address = requireAddress(row.address, field('account'));
    const account = set[address] ?? {};
    set[address] = account;
    if (row.kind === 'balance') account.balance = `0x${parseUnits(row.value, 18, field('balance')).toString(16)}`;
    else if (row.kind === 'nonce') account.nonce = quantity(row.value, field('nonce'));
    else if (row.kind === 'code') account.code = requireHex(row.value, field('code'));
    else {
      const slots = account.stateDiff ?? {};
      account.stateDiff = slots;
      slots[requireHex(row.slot, field('slot'), 32)] = requireHex(row.value, field('value'), 32);
    }
  }
  return set;
}

function quantity(text: string, field: string): Hex {
  if (!/^\d{1,18}$/.test(text.trim())) throw fieldError(field, 'not a whole number');
  return `0x${BigInt(text.trim()).toString(16)}`;
}
