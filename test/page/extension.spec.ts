import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BrowserContext, chromium, expect, type Page, test, type Worker } from '@playwright/test';
import { BROWSER_ARGS, findBrowser } from '../../scripts/lib/browser.mjs';
import { stopWorkers } from '../support/stop-workers.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TOKEN = '0x7e57c0de00000000000000000000000000007e57';

interface ExampleBuild {
  buildExtension(options: { outdir: string; alias: Record<string, string> }): Promise<void>;
}

let context: BrowserContext;
let profile: string;
let background: Worker;
let id: string;

test.beforeAll(async () => {
  const folder = `${root}build/extension`;
  const script = pathToFileURL(`${root}examples/extension/build.mjs`).href;
  const { buildExtension } = (await import(script)) as ExampleBuild;
  await buildExtension({ outdir: folder, alias: { 'plumbline-l2/inline': `${root}dist/hosts/opening/inline.js` } });
  profile = await mkdtemp(join(tmpdir(), 'plumbline-extension-'));
  const executablePath = await findBrowser();
  context = await chromium.launchPersistentContext(profile, {
    ...(executablePath !== undefined && { executablePath }),
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [
      ...BROWSER_ARGS,
      `--disable-extensions-except=${folder}`,
      `--load-extension=${folder}`,
      '--disable-features=DisableLoadExtensionCommandLineSwitch',
    ],
  });
  background = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  id = new URL(background.url()).host;
});
test.afterAll(async () => {
  await context?.close();
  if (profile !== undefined) await rm(profile, { recursive: true, force: true });
});

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number };
}

/** As any page of the extension asks. */
function ask(page: Page, method: string, params: unknown[] = []): Promise<Answer> {
  return page.evaluate(
    (rpc) => {
      const { chrome } = globalThis as unknown as {
        chrome: { runtime: { sendMessage(message: object): Promise<Answer> } };
      };
      return chrome.runtime.sendMessage({ rpc });
    },
    { method, params },
  );
}

async function popup(): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`chrome-extension://${id}/popup.html`);
  return page;
}

test('both methods are answered from the background worker, with no network', async () => {
  const reached: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith('chrome-extension:')) reached.push(request.url());
  });
  const page = await popup();
  const [from, to] = (await ask(page, 'eth_accounts')).result as string[];
  const data = `0xa9059cbb${to!.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
  expect((await ask(page, 'linea_estimateGas', [{ from, to: TOKEN, data }])).result).toEqual({
    gasLimit: expect.stringMatching(/^0x[1-9a-f]/),
    baseFeePerGas: '0x7',
    priorityFeePerGas: expect.stringMatching(/^0x[1-9a-f]/),
  });
  expect((await ask(page, 'linea_getProof', [TOKEN, ['0x2'], 'latest'])).result).toMatchObject({
    accountProof: { key: TOKEN },
    storageProofs: [{ key: `0x${'2'.padStart(64, '0')}` }],
  });
  const tooMuch = `0xa9059cbb${to!.slice(2).padStart(64, '0')}${'f'.repeat(64)}`;
  expect((await ask(page, 'linea_estimateGas', [{ from, to: TOKEN, data: tooMuch }])).error?.code).toBe(3);
  expect((await ask(page, 'evm_mine')).error?.code).toBe(-32601);
  expect(reached).toEqual([]);
  await page.close();
});

test('it goes on after the browser ended the worker', async () => {
  const page = await popup();
  const prove = async () => (await ask(page, 'linea_getProof', [TOKEN, ['0x2'], 'latest'])).result;
  const before = await prove();
  expect(before).toMatchObject({ accountProof: { key: TOKEN } });
  for (let stop = 0; stop < 3; stop++) {
    await stopWorkers(context, page);
    expect(await prove()).toEqual(before);
  }
  await page.close();
});

test('the popup works by mouse and keyboard', async () => {
  const page = await popup();
  await page.setViewportSize({ width: 352, height: 420 });
  await page.getByRole('button', { name: 'Estimate a transfer' }).click();
  await expect(page.getByRole('status')).toContainText('Answered');
  await expect(page.getByText('7 wei per gas', { exact: true })).toBeVisible();
  await page.screenshot({ path: 'build/results/extension-light.png' });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('button', { name: 'Prove the token' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('the test token')).toBeVisible();
  await expect(page.getByRole('status')).toContainText('Answered');
  await page.screenshot({ path: 'build/results/extension-dark.png' });
  await page.close();
});
