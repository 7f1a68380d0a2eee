import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { BROWSER_ARGS, findBrowser } from './scripts/lib/browser.mjs';

const executablePath = await findBrowser();

/** Says in one line, when a run ends, which tests were left out for lack of fixtures. */
const FIXTURES_NOTICE = 'test/support/fixtures-notice.ts';

/** Suites that need a real browser; left out, loudly, when there is none (scripts/test.mjs says so). */
const browserProject = {
  test: {
    name: 'browser',
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({
        launchOptions: { args: BROWSER_ARGS, ...(executablePath !== undefined && { executablePath }) },
      }),
      instances: [{ browser: 'chromium' as const }],
    },
  },
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/browser/**', 'test/slow/**', 'test/page/**'],
          globalSetup: FIXTURES_NOTICE,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'slow',
          include: ['test/slow/**/*.test.ts'],
          globalSetup: FIXTURES_NOTICE,
          testTimeout: 1_200_000,
        },
      },
      ...(executablePath === undefined ? [] : [browserProject]),
    ],
  },
});
