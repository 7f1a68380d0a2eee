import type { Hex, PreviewCall, SignatureToPreview } from 'plumbline-l2';
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

/**
 * What is to be signed: typed data or calls as JSON, an authorization, or a message as text or hex.
 */
export function readToSign(text: string): SignatureToPreview {
  const trimmed = text.trim();
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    const bytes = [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0'));
    return { message: HEX.test(trimmed) ? (trimmed as Hex) : `0x${bytes.join('')}` };
  }
  if (typeof value !== 'object' || value === null) throw fieldError('To sign', 'it is neither an object nor a text');
  if ('types' in value) return { typedData: value as never };
  if ('nonce' in value && 'address' in value) return { authorization: value as never };
  return value as SignatureToPreview;
}
