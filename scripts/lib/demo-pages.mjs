import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright';
import { buildDemo } from '../build.mjs';
import { BROWSER_ARGS, findBrowser } from './browser.mjs';
import { root } from './run.mjs';

/** Starts the command, and resolves with the address of the demo page when it prints it. */
async function serveDemo() {
  const command = [`${root}/cli/dist/cli.js`, 'serve', '--port', '0', '--demo', `${root}/dist/demo`];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^\s*demo\s+(\S+)/.exec(line)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error('the server stopped before it printed the address of the demo page');
}

/**
 * Builds the demo page, serves it on a free port of loopback, and does some work with it in Chromium.
 *
 * @param work - is given the browser, and the address of the page with a devnet of its own
 */
export async function withDemo(work, args = []) {
  await buildDemo();
  const executablePath = await findBrowser();
  const launch = { args: [...BROWSER_ARGS, ...args], ...(executablePath !== undefined && { executablePath }) };
  const browser = await chromium.launch(launch);
  const { child, url } = await serveDemo();
  try {
    await work(browser, new URL('./', url).href);
  } finally {
    await browser.close();
    child.kill();
    await once(child, 'exit');
  }
}
