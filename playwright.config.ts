import { defineConfig } from '@playwright/test';
import { BROWSER_ARGS, findBrowser } from './scripts/lib/browser.mjs';

const executablePath = await findBrowser();

export default defineConfig({
  testDir: 'test/page',
  timeout: 60_000,
  workers: 1,
  reporter: [['list'], ['json', { outputFile: process.env.PLUMBLINE_RESULTS ?? 'build/results/playwright.json' }]],
  use: { launchOptions: { args: BROWSER_ARGS, ...(executablePath !== undefined && { executablePath }) } },
});
