import { defineConfig } from '@playwright/test';
import { BROWSER_ARGS, findBrowser } from './scripts/lib/browser.mjs';

/** Of the server under test, on loopback. PLUMBLINE_TEST_PORT names another, for two runs at a time. */
const PORT = Number(process.env.PLUMBLINE_TEST_PORT ?? 18_545);

const executablePath = await findBrowser();

export default defineConfig({
  testDir: 'test/page',
  // Patience for a busy machine; no test is about these times.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // Each file has servers, stores and pages of its own; the one that all read, below, keeps nothing of theirs.
  workers: 2,
  reporter: [['list'], ['json', { outputFile: process.env.PLUMBLINE_RESULTS ?? 'build/results/playwright.json' }]],
  webServer: {
    command: `node cli/dist/cli.js serve --port ${PORT} --demo dist/demo`,
    url: `http://127.0.0.1:${PORT}/demo/`,
    reuseExistingServer: false,
  },
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    launchOptions: { args: BROWSER_ARGS, ...(executablePath !== undefined && { executablePath }) },
  },
});
