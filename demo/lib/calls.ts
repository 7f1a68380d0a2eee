import { type Hex, TEST_TOKEN } from 'plumbline-l2';
import { fieldError } from './explain.js';
import { parseUnits } from './format.js';

/** A call as `linea_estimateGas` and `eth_sendTransaction` take it. */
export interface CallFields {
  readonly from?: Hex;
  readonly to?: Hex;
  readonly value?: Hex;
  readonly data?: Hex;
}

/** What the form of the estimator holds, as typed. */
export interface CallForm {
  readonly kind: 'token' | 'ether' | 'custom';
  readonly from: string;
  readonly to: string;
  readonly amount: string;
  readonly data: string;
}

/** The form for a link. */
export function callFieldsOf({ kind, from, to, amount, data }: CallForm): Record<string, string> {
  return { kind, from, to, amount, ...(kind === 'custom' && { data }) };
}

/** The form that a link describes. */
export function callFormOf(params: URLSearchParams): CallForm {
  const kind = params.get('kind');
  const text = (name: string) => params.get(name) ?? '';
  return {
    kind: kind === 'ether' || kind === 'custom' ? kind : 'token',
    ...{ from: text('from'), to: text('to'), amount: text('amount'), data: text('data') },
  };
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const DATA = /^0x(?:[0-9a-fA-F]{2})*$/;
const TRANSFER = '0xa9059cbb';

/** @throws Error that names the field */
export function requireAddress(text: string, field: string): Hex {
  const trimmed = text.trim();
  if (!ADDRESS.test(trimmed)) throw fieldError(field, `not an address of 0x and 40 hex digits`);
  return trimmed as Hex;
}

/** 64 hex digits. */
export function word(hex: string): string {
  return hex.padStart(64, '0');
}

/**
 * The call that the form describes.
 *
 * @throws Error that names the field which cannot be used
 */
export function readCall({ kind, from, to, amount, data }: CallForm): CallFields {
  const sender: { from?: Hex } = from.trim() === '' ? {} : { from: requireAddress(from, 'From') };
  if (kind === 'token') {
    const receiver = requireAddress(to, 'To').slice(2).toLowerCase();
    const units = parseUnits(amount, 18, 'Tokens').toString(16);
    return { ...sender, to: TEST_TOKEN, data: `${TRANSFER}${word(receiver)}${word(units)}` as Hex };
  }
  const value = parseUnits(amount.trim() === '' ? '0' : amount, 18, 'Ether');
  const target: { to?: Hex } = kind === 'custom' && to.trim() === '' ? {} : { to: requireAddress(to, 'To') };
  const input = kind === 'custom' ? data.trim() : '';
  if (input !== '' && !DATA.test(input)) throw fieldError('Data', 'not hex with an even number of digits');
  return {
    ...sender,
    ...target,
    ...(value > 0n && { value: `0x${value.toString(16)}` as Hex }),
    ...(input !== '' && input !== '0x' && { data: input as Hex }),
  };
}
