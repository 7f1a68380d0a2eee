/** Why the script of a worker does not start. Browsers tell the page nothing, so the page looks for itself. */

import { type ErrorDetails, messageOf } from '../../errors.js';
import { trustedTypesDirective } from '../options/script-url.js';

type Failure = ErrorDetails['WORKER_FAILED'];

const LOOK_MS = 5_000;
const JAVASCRIPT = /^(text|application)\/(x-)?(java|ecma)script\b/i;

/**
 * The URL that this function gives to `new Worker`. Bundlers replace that URL where it stands, so only the call itself has it.
 *
 * @param create - called with a `Worker` that only notes the URL
 */
export function urlGivenBy(create: () => Worker): string | undefined {
  const { Worker: real } = globalThis;
  let url: string | undefined;
  try {
    globalThis.Worker = class {
      constructor(given: unknown) {
        url = new URL(String(given), globalThis.document?.baseURI ?? globalThis.location?.href).href;
      }
    } as unknown as typeof Worker;
    create();
  } catch {
    // A global object that cannot be changed, or no URL.
  } finally {
    if (globalThis.Worker !== real) globalThis.Worker = real;
  }
  return url;
}

/** Why `new Worker` threw. */
export function whyRefused(cause: unknown, url: string | undefined): Failure {
  const reason = messageOf(cause);
  const directive = trustedTypesDirective(cause);
  const at = url === undefined ? {} : { url };
  if (directive !== undefined)
    return { reason: `${directive} forbids its script ${url}; give a TrustedScriptURL of it as worker`, ...at };
  const isOrigin = (cause as Error | undefined)?.name === 'SecurityError';
  return { reason: isOrigin ? `${reason.replace(/\.$/, '')}; ${ofItsOrigin()}` : reason, ...at };
}

/** What to do where the origin of a script is not that of the page. */
function ofItsOrigin(): string {
  return globalThis.origin === 'null'
    ? 'this frame has no origin of its own (sandbox without allow-same-origin); use createInlineNode of plumbline-l2/inline'
    : "serve its script from the page's origin, and give the URL as worker";
}

/**
 * Why a script did not start.
 *
 * @param url - undefined for a worker that the caller has made
 * @param sinceMs - when it was asked for, on the page's clock
 * @returns undefined if nothing can be said
 */
export async function whyNotStarted(url: string | undefined, sinceMs: number): Promise<Failure | undefined> {
  const header = 'cross-origin-embedder-policy';
  const isIsolated = async () => (await request(globalThis.location?.href).catch(() => undefined))?.headers.has(header);
  if (url === undefined) {
    if (!(await isIsolated())) return undefined;
    return { reason: `its script does not load; check its URL, and that it has the header ${header}, as this page` };
  }
  // Some browsers throw for it, others only do not start it.
  if (!['null', globalThis.origin].includes(new URL(url).origin))
    return { reason: `its script ${url} is of another origin than the page; ${ofItsOrigin()}`, url };
  let response: Response;
  try {
    response = await request(url);
  } catch (error) {
    return { reason: `its script ${url} does not load (${messageOf(error)}); check its URL`, url };
  }
  const { status, headers } = response;
  const failure = (reason: string) => ({ reason: `its script ${url} ${reason}`, url, status });
  if (!response.ok) return failure(`has status ${status}`);
  const type = headers.get('content-type')?.split(';')[0] ?? 'of no type';
  if (!JAVASCRIPT.test(type)) return failure(`is ${type}, not JavaScript`);
  if (!headers.has(header) && (await isIsolated()))
    return failure(
      `is blocked by the page's Cross-Origin-Embedder-Policy; send the header ${header}: require-corp with it`,
    );
  const missing = importsThatFailed(sinceMs);
  if (missing.length > 0) return failure(`imports what does not load: ${missing.join(', ')}`);
  return failure(
    'loads, but does not start; the console may name an error in it, or a file that it imports and that is missing',
  );
}

/** The answer of this origin for a URL, without its body. */
async function request(url: string): Promise<Response> {
  const response = await fetch(url, { mode: 'same-origin', signal: AbortSignal.timeout(LOOK_MS) });
  void response.body?.cancel().catch(() => {});
  return response;
}

/** Files that the browser looked for since then as imports, and did not find. Not all browsers list them. */
function importsThatFailed(sinceMs: number): string[] {
  return (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
    .filter(({ initiatorType, startTime }) => initiatorType === 'script' && startTime >= sinceMs)
    .filter(({ responseStatus }) => responseStatus >= 400)
    .map(({ name, responseStatus }) => `${name} (status ${responseStatus})`);
}
