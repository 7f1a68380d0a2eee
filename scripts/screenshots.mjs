/**
 * `npm run screenshots`: makes the pictures of the demo page that README.md shows, light and dark, in docs/images. It builds
 * the demo, serves it on a free port of loopback, and estimates a token transfer there as a visitor would.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright';
import { buildDemo } from './build.mjs';
import { BROWSER_ARGS, findBrowser } from './lib/browser.mjs';
import { root } from './lib/run.mjs';

const DIRECTORY = `${root}/docs/images`;
const SIZE = { width: 1120, height: 790 };

/** Starts the command, and resolves with the address of the demo page when it prints it. */
async function serveDemo() {
  const command = [`${root}/dist/node/cli.js`, 'serve', '--port', '0', '--demo', `${root}/dist/demo`];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^\s*demo\s+(\S+)/.exec(line)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error('the server stopped before it printed the address of the demo page');
}

/** Estimates the token transfer that the page proposes. */
async function picture(browser, url, colorScheme) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme, deviceScaleFactor: 1 });
  await page.goto(`${url}#fees`);
  await page.getByRole('button', { name: 'Estimate', exact: true }).click();
  await page.getByText('Costs at most', { exact: true }).waitFor();
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.screenshot({ path: `${DIRECTORY}/demo-${colorScheme}.png` });
  await page.close();
}

await buildDemo();
await mkdir(DIRECTORY, { recursive: true });
const executablePath = await findBrowser();
const browser = await chromium.launch({ args: BROWSER_ARGS, ...(executablePath !== undefined && { executablePath }) });
const { child, url } = await serveDemo();
try {
  for (const colorScheme of ['light', 'dark']) await picture(browser, url, colorScheme);
} finally {
  await browser.close();
  child.kill();
  await once(child, 'exit');
}
