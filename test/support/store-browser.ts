import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright';
import { type RolldownOutput, rolldown } from 'rolldown';
import { BROWSER_ARGS, findBrowser } from '../../scripts/lib/browser.mjs';
import type { Acknowledged } from './store-page.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };
const START_MS = 120_000;
/** Longest wait for the processes of a killed browser: where no process collects the ended ones, they stay listed. */
const GONE_MS = 5_000;

/** Workers in surroundings that keep nothing, as private windows of some browsers do, and one that tells of lost rejections. */
const WORKERS = {
  'worker-watched':
    "addEventListener('unhandledrejection', ({ reason }) => postMessage({ unhandled: String(reason) }));",
  'worker-without': "Object.defineProperty(self, 'indexedDB', { value: undefined });",
  'worker-mortal': `const databases = [];
  const open = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (...args) {
    const request = open.apply(this, args);
    request.addEventListener('success', () => databases.push(request.result));
    return request;
  };
  addEventListener('message', ({ data }) => {
    if (data.kill) for (const database of databases) database.close();
  });`,
  'worker-insecure': `Object.defineProperty(self, 'indexedDB', {
    get: () => { throw new DOMException('the operation is insecure', 'SecurityError'); },
  });`,
  'worker-denied': `IDBFactory.prototype.open = () => {
    throw new DOMException('the user denied permission', 'SecurityError');
  };`,
} as const;

/** What runs in pages, by name: bundled once in a process. */
const bundles = new Map<string, Promise<RolldownOutput>>();

function bundled(script: string): Promise<RolldownOutput> {
  const known = bundles.get(script) ?? bundle(script);
  bundles.set(script, known);
  return known;
}

async function bundle(script: string): Promise<RolldownOutput> {
  const build = await rolldown({ input: fileURLToPath(new URL(`./${script}`, import.meta.url)) });
  return build.generate({ format: 'es' });
}

/** The built package on a port of its own, and a page that runs `store-page.ts`. */
export class StoreServer {
  /** Blocks that pages were told of. */
  readonly acknowledged: Acknowledged[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param script - what runs in the page, in this folder */
  static async start(script = 'store-page.ts'): Promise<StoreServer> {
    const { output } = await bundled(script);
    const chunks = new Map(output.map((chunk) => [`/${chunk.fileName}`, 'code' in chunk ? chunk.code : chunk.source]));
    const main = output[0].fileName;
    const html = `<!doctype html><title>store</title><body>store<script type=module src=/${main}></script>`;
    for (const [name, code] of Object.entries(WORKERS)) {
      chunks.set(`/${name}.js`, `${code}\nawait import('/dist/hosts/worker/worker.js');`);
    }
    const server = createServer(async (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      if (pathname === '/acknowledged') {
        const parts: Buffer[] = [];
        for await (const part of request) parts.push(part as Buffer);
        started.acknowledged.push(JSON.parse(Buffer.concat(parts).toString()) as Acknowledged);
        response.writeHead(204).end();
        return;
      }
      try {
        const isOurs = pathname === '/' || chunks.has(pathname);
        const body = pathname === '/' ? html : (chunks.get(pathname) ?? (await readFile(join(root, pathname))));
        response.writeHead(200, {
          'content-type': TYPES[isOurs && pathname === '/' ? '.html' : extname(pathname)] ?? '',
        });
        response.end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new StoreServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return started;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** A Chromium with a profile that outlives it, in a process that can be killed. */
export class StoreBrowser {
  private constructor(
    private readonly child: ChildProcess,
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  static async start(profile: string, url: string): Promise<StoreBrowser> {
    const portFile = join(profile, 'DevToolsActivePort');
    await rm(portFile, { force: true });
    const switches = [
      ...BROWSER_ARGS,
      '--headless=new',
      `--user-data-dir=${profile}`,
      '--remote-debugging-port=0',
      '--no-default-browser-check',
      '--password-store=basic',
      '--use-mock-keychain',
      'about:blank',
    ];
    // In a group of its own, so that all its processes can be killed at once.
    const child = spawn((await findBrowser())!, switches, { detached: true, stdio: 'ignore' });
    for (const end = Date.now() + START_MS; ; await sleep(50)) {
      const [port, path] = (await readFile(portFile, 'utf8').catch(() => '')).split('\n');
      if (path !== undefined) {
        const browser = await chromium.connectOverCDP(`ws://127.0.0.1:${port}${path}`);
        return new StoreBrowser(child, browser, url);
      }
      if (child.exitCode !== null || Date.now() > end) throw new Error('the browser does not start');
    }
  }

  /** A page with the store tests' functions. @param name - what its script puts them under */
  async page(name = 'storePage'): Promise<Page> {
    const page = await this.browser.contexts()[0]!.newPage();
    await page.goto(this.url);
    await page.waitForFunction((global) => global in globalThis, name);
    return page;
  }

  session(page: Page): Promise<CDPSession> {
    return this.browser.contexts()[0]!.newCDPSession(page);
  }

  /** Ends all processes of the browser at once, and waits until they are gone: the next one opens their files. */
  async kill(): Promise<void> {
    const ended = once(this.child, 'exit');
    process.kill(-this.child.pid!, 'SIGKILL');
    await ended;
    for (const end = Date.now() + GONE_MS; isRunning(-this.child.pid!) && Date.now() < end; await sleep(10));
    await this.browser.close().catch(() => {});
  }
}

/** @param pid - of a process; negative, of a group of them */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A folder for a profile, removed by the function that comes with it. */
export async function temporaryProfile(): Promise<{ profile: string; remove: () => Promise<void> }> {
  const profile = await mkdtemp(join(tmpdir(), 'plumbline-store-'));
  return { profile, remove: () => rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }) };
}
