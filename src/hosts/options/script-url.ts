import { messageOf } from '../../errors.js';

/**
 * URL of a script. If the page's Content-Security-Policy has `require-trusted-types-for 'script'`, pass a `TrustedScriptURL`. Its type
 * is not named here, because older type definitions of browsers do not have it.
 */
export type ScriptUrl = string | URL | { toJSON(): string };

export function isScriptUrl(given: unknown): given is ScriptUrl {
  return typeof given === 'string' || given instanceof URL || isTrusted(given);
}

/** Whether a value is a `TrustedScriptURL`. It cannot be changed: another URL needs a policy of the page. */
export function isTrusted(given: unknown): given is { toJSON(): string } {
  return Object.prototype.toString.call(given) === '[object TrustedScriptURL]';
}

/** @returns the directive that refused a script because its URL is no `TrustedScriptURL`; undefined for another error */
export function trustedTypesDirective(error: unknown): string | undefined {
  const isRefusal = 'trustedTypes' in globalThis && /trusted|sink type/i.test(messageOf(error));
  return isRefusal ? "require-trusted-types-for of the page's Content-Security-Policy" : undefined;
}
