import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright';
import { expect } from 'vitest';
import { BROWSER_ARGS, findBrowser } from '../../scripts/lib/browser.mjs';
import { ANSWERS } from './project.js';

export const executablePath: string | undefined = await findBrowser();
if (executablePath === undefined) console.warn('packaging: no Chromium was found, consumers in pages are not tried');

/** Nothing but this machine is found: a page that asks for more has its request fail. */
const LOOPBACK_ONLY = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost';

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: executablePath!, args: [...BROWSER_ARGS, LOOPBACK_ONLY] });

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** How long a page may take to estimate, on a busy machine. */
const OUTCOME_TIMEOUT_MS = 240_000;

/** The strictest policy a page with a node in a worker can have, as docs/browsers.md says it. */
export const STRICT_CSP =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; base-uri 'none'";

/** The same for a page with inline scripts, such as an import map: the policy has their hashes. */
export function policyWithHashes(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = inline.map(([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`);
  return STRICT_CSP.replace("script-src 'self'", ["script-src 'self'", ...hashes].join(' '));
}

/** Where a server that was started says that it is. */
export function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const note = (data: Buffer): void => {
      printed += data.toString();
      const [, port] = /http:\/\/[\w.]+:(\d+)/.exec(printed) ?? [];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}/`);
    };
    child.stdout!.on('data', note);
    child.stderr!.on('data', note);
    child.on('exit', () => reject(new Error(printed)));
  });
}

export interface StaticServer {
  readonly url: string;
  /** The files that were sent, in order. */
  readonly sent: readonly string[];
  close(): Promise<void>;
}

/** Serves the files of a directory on loopback, each under the same policy. */
export async function serveFiles(directory: string, policy?: string): Promise<StaticServer> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    let file = join(directory, normalize(decodeURIComponent(pathname)));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, 'index.html');
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    sent.push(file);
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    if (policy !== undefined) response.setHeader('content-security-policy', policy);
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    sent,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Everything that goes wrong in a page, as it comes. */
export function troublesOf(page: Page): string[] {
  const troubles: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      troubles.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => troubles.push(`failed: ${request.url()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()}: ${response.url()}`);
  });
  return troubles;
}

/** Runs a page until its script has set `window.outcome`; what that is, with everything that went wrong on the way. */
export async function outcomeOf(
  browser: Pick<Browser, 'newPage'>,
  url: string,
): Promise<{ outcome: unknown; troubles: string[] }> {
  const page = await browser.newPage();
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  const troubles = troublesOf(page);
  try {
    await page.goto(url);
    // Not `waitForFunction`: it needs an `eval` that the policy of the page forbids.
    const until = Date.now() + OUTCOME_TIMEOUT_MS;
    while (Date.now() < until) {
      const outcome = await page.evaluate(() => (globalThis as { outcome?: unknown }).outcome);
      if (outcome !== undefined) return { outcome, troubles };
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('it did not come in time');
  } catch (error) {
    throw new Error(`no outcome of ${url}\n${troubles.join('\n')}`, { cause: error });
  } finally {
    await page.close();
  }
}

/** Opens what was built under a policy, and expects these answers of its program. */
export async function expectAnswers(
  browser: Browser,
  directory: string,
  policy: string = STRICT_CSP,
  answers: object = ANSWERS,
): Promise<void> {
  const server = await serveFiles(directory, policy);
  try {
    expect(await outcomeOf(browser, server.url)).toEqual({ outcome: answers, troubles: [] });
  } finally {
    await server.close();
  }
}
