import { PlumblineError } from '../errors.js';
import type { RpcResponse } from './envelope.js';
import { wireError } from './rpc-errors.js';

/** A result or error of so many bytes always fits, so that the hash of a sent transaction is not lost. Errors are no longer. */
const ALWAYS_FITS = 256;
/** Bytes of a response beside its id, its result or error: `{"jsonrpc":"2.0","id":,"result":},`. */
const ENVELOPE = 36;
/** Only characters that are one byte each in JSON text: ASCII without controls, quote and backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;

const encoder = new TextEncoder();

/**
 * Counts the answers of one payload as bytes of JSON text in UTF-8.
 *
 * @param limit - bytes of all answers together; no limit when left out
 * @returns a function that takes an answer, or returns false for one that does not fit
 */
export function answerRoom(limit = Number.POSITIVE_INFINITY): (response: RpcResponse) => boolean {
  let left = limit;
  return (response) => {
    if (limit === Number.POSITIVE_INFINITY) return true;
    const body = 'error' in response ? wireError(response.error) : response.result;
    const size = jsonSize(body, Math.max(left, ALWAYS_FITS));
    if (size > Math.max(left, ALWAYS_FITS)) return false;
    left -= size + ENVELOPE + jsonSize(response.id, limit);
    return true;
  };
}

/** The error for an answer that does not fit. @param limit - bytes */
export function answerTooLarge(limit: number): PlumblineError<'ANSWER_TOO_LARGE'> {
  const advice = 'ask for less, in several requests, or allow more with maxAnswerBytes';
  return new PlumblineError('ANSWER_TOO_LARGE', `the answer has more than ${limit} bytes; ${advice}`, { limit });
}

/**
 * Length of a value as JSON text in UTF-8, bytes. A value that JSON cannot express counts as nothing: writing it fails.
 *
 * @param most - counting ends above it
 */
export function jsonSize(value: unknown, most: number): number {
  switch (typeof value) {
    case 'string':
      return textSize(value, most);
    case 'number':
      return Number.isFinite(value) ? String(value).length : 4;
    case 'boolean':
      return value ? 4 : 5;
    case 'object':
      break;
    default:
      return value === undefined ? 4 : 0;
  }
  if (value === null) return 4;
  // The brackets, and a comma before each member but the first.
  let size = 2;
  let separator = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      size += separator + jsonSize(item, most - size);
      separator = 1;
      if (size > most) break;
    }
    return size;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || typeof member === 'function') continue;
    size += separator + textSize(name, most) + 1 + jsonSize(member, most - size);
    separator = 1;
    if (size > most) break;
  }
  return size;
}

function textSize(text: string, most: number): number {
  const least = text.length + 2;
  return least > most || PLAIN.test(text) ? least : encoder.encode(JSON.stringify(text)).length;
}
