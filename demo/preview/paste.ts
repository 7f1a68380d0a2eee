import type { Hex, PreviewCall } from 'plumbline-l2';
import { fieldError } from '../lib/explain.js';

const HEX = /^0x(?:[0-9a-fA-F]{2})+$/;

/**
 * What was pasted: a call as JSON, the bytes of a signed transaction, or a list of either.
 *
 * @throws Error that says what cannot be read
 */
export function readPasted(text: string): readonly (PreviewCall | Hex)[] {
  const trimmed = text.trim();
  if (HEX.test(trimmed)) return [trimmed as Hex];
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    throw fieldError('Transaction', 'it is neither JSON nor hex with an even number of digits');
  }
  const list = (Array.isArray(value) ? value : [value]) as readonly (PreviewCall | Hex)[];
  if (list.length === 0) throw fieldError('Transaction', 'the list is empty');
  return list;
}
