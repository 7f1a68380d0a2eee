import { fileURLToPath } from 'node:url';
import { type BrowserContext, expect, type Frame, type Page, test } from '@playwright/test';
import { bundlePage } from '../support/bundle-page.js';
import { openSite, type Site } from '../support/proxy-site.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** `start(options)`: what a node made with them estimates, or the error. `trusted` names the policy that makes the worker's URL. */
const PAGE = `
  import { createNode, DEV_ACCOUNTS, registerRpcProxy } from '${root}/dist/index.js';
  import { createInlineNode } from '${root}/dist/hosts/opening/inline.js';
  const [{ address: from }, { address: to }] = DEV_ACCOUNTS;
  const policies = {};
  const trustedUrl = (name, url) => {
    policies[name] ??= trustedTypes.createPolicy(name, { createScriptURL: (text) => text });
    return policies[name].createScriptURL(url);
  };
  const outcome = (work) => work().catch(({ code, message, details }) => ({ code, message, details }));
  const estimate = async (node) => {
    const { gasLimit } = await node.request({ method: 'linea_estimateGas', params: [{ from, to, value: '0x1' }] });
    await node.close();
    return gasLimit;
  };
  export const start = ({ trusted, ...options }) => outcome(async () => {
    const worker = trusted === undefined ? options.worker : trustedUrl(trusted, options.worker);
    return estimate(await createNode({ ...options, ...(worker !== undefined && { worker }) }));
  });
  export const startInline = () => outcome(async () => estimate(await createInlineNode()));
  export const startGiven = (url) => outcome(async () => estimate(await createNode({ worker: new Worker(url, { type: 'module' }) })));
  export const startProxy = (scriptUrl, trusted) => outcome(async () => {
    const proxy = await registerRpcProxy({ scriptUrl: trusted === undefined ? scriptUrl : trustedUrl(trusted, scriptUrl) });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'linea_estimateGas', params: [{ from, to, value: '0x1' }] });
    const { result } = await (await fetch('/rpc', { method: 'POST', body })).json();
    await proxy.stop();
    return result.gasLimit;
  });`;

const WORKER = "import '/dist/hosts/worker/worker.js';";
const TRANSFER = '0x5208';

let site: Site;
test.beforeEach(async () => {
  site = await openSite();
  site.scripts.set('/app/page.js', await pageScript());
});
test.afterEach(() => site.close());

let bundled: Promise<string> | undefined;
const pageScript = () => (bundled ??= bundlePage(PAGE));

/** A page of the site that is answered with these headers. */
async function openPage(context: BrowserContext, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
  site.headers.set('/', headers);
  const page = await context.newPage();
  await page.goto(site.origin);
  return page;
}

/** Calls a function of the page's script. */
const ask = (frame: Page | Frame, name: string, ...args: readonly unknown[]): Promise<unknown> =>
  frame.evaluate(
    async ([url, called, given]) => {
      const script = (await import(url)) as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
      return script[called]!(...given);
    },
    [`${site.origin}/app/page.js`, name, args] as const,
  );

/** The error of a worker, by its message and the details that it has besides. */
const failure = (reason: string, details: object = {}) => ({
  code: 'WORKER_FAILED',
  message: `the node's worker failed: ${reason}`,
  details: { reason, ...details },
});

test.describe('a worker that does not start is named with what stands at its URL', () => {
  test('nothing', async ({ context }) => {
    const page = await openPage(context);
    site.headers.set('/app/worker.js', { 'x-status': '404' });
    const url = `${site.origin}/app/worker.js`;
    expect(await ask(page, 'start', {})).toEqual(failure(`its script ${url} has status 404`, { url, status: 404 }));
  });

  test('a page, as sites answer that know only one', async ({ context }) => {
    const page = await openPage(context);
    const url = `${site.origin}/app/worker.js`;
    const reason = `its script ${url} is text/html, not JavaScript`;
    expect(await ask(page, 'start', {})).toEqual(failure(reason, { url, status: 200 }));
    const other = `${site.origin}/elsewhere.js`;
    expect(await ask(page, 'start', { worker: '/elsewhere.js' })).toEqual(
      failure(`its script ${other} is text/html, not JavaScript`, { url: other, status: 200 }),
    );
  });

  test('a script that imports what is not there', async ({ context }) => {
    const page = await openPage(context);
    site.scripts.set('/app/worker.js', "import './gone.js';");
    site.headers.set('/app/gone.js', { 'x-status': '404' });
    const url = `${site.origin}/app/worker.js`;
    const reason = `its script ${url} imports what does not load: ${site.origin}/app/gone.js (status 404)`;
    expect(await ask(page, 'start', {})).toEqual(failure(reason, { url, status: 200 }));
  });

  test('a script that says nothing in time', async ({ context }) => {
    const page = await openPage(context);
    site.scripts.set('/app/silent.js', '');
    const url = `${site.origin}/app/silent.js`;
    const reason = 'its script did not start within 100 ms; check its URL, or raise loadTimeoutMs';
    expect(await ask(page, 'start', { worker: '/app/silent.js', loadTimeoutMs: 100 })).toEqual(
      failure(reason, { url }),
    );
  });
});

test.describe('a policy that blocks the worker is named', () => {
  test('a script of another origin, and a frame without an origin', async ({ context }) => {
    const page = await openPage(context);
    const url = 'https://elsewhere.example/worker.js';
    expect(await ask(page, 'start', { worker: url })).toMatchObject({
      code: 'WORKER_FAILED',
      message: expect.stringMatching(/elsewhere\.example\/worker\.js.*; serve its script from the page's origin/),
      details: { url },
    });
    site.headers.set('/app/page.js', { 'access-control-allow-origin': '*' });
    await page.setContent(`<iframe sandbox="allow-scripts" src="${site.origin}/frame"></iframe>`);
    await expect.poll(() => page.frames()[1]?.url()).toBe(`${site.origin}/frame`);
    const frame = page.frames()[1]!;
    expect(await ask(frame, 'start', {})).toMatchObject({
      code: 'WORKER_FAILED',
      message: expect.stringMatching(/app\/worker-devnet\.js.*sandbox without allow-same-origin.*createInlineNode/),
    });
    expect(await ask(frame, 'startInline')).toBe(TRANSFER);
    expect(await ask(frame, 'startProxy', '/service-worker.js')).toMatchObject({
      code: 'WORKER_FAILED',
      message: expect.stringMatching(/cannot use service workers .*allow-same-origin/),
    });
  });

  test('worker-src', async ({ context }) => {
    const page = await openPage(context, { 'content-security-policy': "worker-src 'none'" });
    const url = `${site.origin}/app/worker.js`;
    const reason = `worker-src of the page's Content-Security-Policy forbids its script ${url}`;
    expect(await ask(page, 'start', {})).toEqual(failure(reason, { url }));
  });

  for (const policy of ['require-corp', 'credentialless'])
    test(`a Cross-Origin-Embedder-Policy of ${policy}`, async ({ context }) => {
      const page = await openPage(context, { 'cross-origin-embedder-policy': policy });
      site.scripts.set('/app/worker.js', WORKER);
      const url = `${site.origin}/app/worker.js`;
      const policies =
        "the page's Cross-Origin-Embedder-Policy; send the header cross-origin-embedder-policy: require-corp";
      const reason = `its script ${url} is blocked by ${policies} with it`;
      expect(await ask(page, 'start', {})).toEqual(failure(reason, { url, status: 200 }));
      const unknown =
        'its script does not load; check its URL, and that it has the header cross-origin-embedder-policy';
      expect(await ask(page, 'startGiven', '/app/worker.js')).toEqual(failure(`${unknown}, as this page`));
      expect(await ask(page, 'startInline')).toBe(TRANSFER);
      site.headers.set('/app/worker.js', { 'cross-origin-embedder-policy': 'require-corp' });
      expect(await ask(page, 'start', {})).toBe(TRANSFER);
    });

  test("'wasm-unsafe-eval', in the page and in its worker", async ({ context }) => {
    const page = await openPage(context, { 'content-security-policy': "script-src 'self'" });
    site.scripts.set('/app/worker.js', WORKER);
    const refused = {
      code: 'KERNEL_UNAVAILABLE',
      message: expect.stringMatching(/add 'wasm-unsafe-eval' to script-src of the Content-Security-Policy/),
    };
    expect(await ask(page, 'startInline')).toMatchObject(refused);
    // A worker has the policy of its own answer.
    site.headers.set('/app/worker.js', { 'content-security-policy': "script-src 'self'" });
    expect(await ask(page, 'start', {})).toMatchObject(refused);
  });
});

test.describe('Trusted Types', () => {
  const forbidden = (url: string, option: string) =>
    `require-trusted-types-for of the page's Content-Security-Policy forbids its script ${url}; give a TrustedScriptURL of it as ${option}`;

  for (const name of ['plumbline', 'of-the-app'])
    test(`a page with the policy ${name} gives URLs that it trusts`, async ({ context }) => {
      const policy = `require-trusted-types-for 'script'; trusted-types ${name}`;
      const page = await openPage(context, { 'content-security-policy': policy });
      site.scripts.set('/app/worker.js', WORKER);
      expect(await ask(page, 'start', { worker: '/app/worker.js', trusted: name })).toBe(TRANSFER);
      const url = '/service-worker.js?plumbline-chain=devnet';
      expect(await ask(page, 'startProxy', url, name)).toBe(TRANSFER);
    });

  test('a page that gives none is told the directive', async ({ context }) => {
    const policy = "require-trusted-types-for 'script'; trusted-types plumbline";
    const page = await openPage(context, { 'content-security-policy': policy });
    const url = `${site.origin}/app/worker-devnet.js`;
    expect(await ask(page, 'start', {})).toEqual(failure(forbidden(url, 'worker'), { url }));
    const script = `${site.origin}/service-worker.js?plumbline-chain=devnet`;
    expect(await ask(page, 'startProxy', '/service-worker.js')).toMatchObject({
      code: 'WORKER_FAILED',
      message: `the service worker failed: ${forbidden(script, 'scriptUrl')}`,
    });
    expect(await ask(page, 'startProxy', '/service-worker.js', 'plumbline')).toMatchObject({
      code: 'INVALID_PARAMETER',
      details: { parameter: 'scriptUrl', reason: expect.stringMatching(/plumbline-chain=devnet/) },
    });
  });

  test('scripts of the worker and of the service worker are under the same policy', async ({ context }) => {
    const csp = "require-trusted-types-for 'script'; trusted-types plumbline";
    const policy = { 'content-security-policy': csp };
    const page = await openPage(context, policy);
    site.scripts.set('/app/worker.js', WORKER);
    site.headers.set('/app/worker.js', policy).set('/service-worker.js', policy);
    expect(await ask(page, 'start', { worker: '/app/worker.js', trusted: 'plumbline' })).toBe(TRANSFER);
    const url = '/service-worker.js?plumbline-chain=devnet';
    expect(await ask(page, 'startProxy', url, 'plumbline')).toBe(TRANSFER);
  });
});
