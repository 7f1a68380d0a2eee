import type { RpcErrorBody } from './fault.js';
import type { Redactor } from './redact.js';

/** Error messages of endpoints are cut to this number of characters. */
const MAX_MESSAGE = 500;
const INTERNAL_ERROR = -32603;

/** @returns undefined for a text that is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a body does not begin like an object or a list: it is a page of text, not part of an answer. */
export function isOtherText(body: string): boolean {
  return /^\s*[^\s{[]/.test(body);
}

/** What is wrong where `isOtherText` holds, or the body is cut off. */
export function notJson(status: number, body: string): string {
  const isPage = /^\s*<(?:!doctype|html)/i.test(body);
  return `status ${status}: ${isPage ? 'HTML instead of' : 'not'} JSON; check the path of its URL`;
}

/** What to do about a refused key, plan or address. */
export const KEY_ADVICE = '; check its API key, plan and allowed origins';

/** Whether a value looks like a JSON-RPC answer. */
export function hasAnswer(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('result' in value || parseError(value) !== undefined);
}

/**
 * The `error` member of a JSON-RPC answer.
 *
 * @returns undefined without one, and for `"error": null`
 */
export function parseError(value: unknown, redactor?: Redactor): RpcErrorBody | undefined {
  if (typeof value !== 'object' || value === null || !('error' in value)) return undefined;
  return errorBody(value.error, redactor);
}

/** An error object of an endpoint or a provider, redacted and cut. @returns undefined if it has neither code nor message */
export function errorBody(error: unknown, redactor?: Redactor): RpcErrorBody | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  if (typeof code !== 'number' && typeof message !== 'string') return undefined;
  const text = typeof message === 'string' ? message : '';
  return {
    code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
    // Redacted before it is cut, so that no part of a key is left at the end.
    message: (redactor?.text(text) ?? text).slice(0, MAX_MESSAGE),
    ...(data !== undefined && { data: redactor?.json(data) ?? data }),
  };
}
