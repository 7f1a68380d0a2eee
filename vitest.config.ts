import { availableParallelism } from 'node:os';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { BROWSER_ARGS, findBrowser } from './scripts/lib/browser.mjs';

const executablePath = await findBrowser();

/** Says in one line, when a run ends, which tests were left out for lack of fixtures. */
const FIXTURES_NOTICE = 'test/support/fixtures-notice.ts';

/**
 * Time for what takes a moment on a quiet machine: a busy one may need a hundred times as long. No test is about these
 * times, they only end one that hangs.
 */
const PATIENCE = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000, interval: 10 } },
};

/**
 * Files of one process share its modules: to load them anew for each file would take more time than the tests. A test puts
 * back what it changes of globals.
 */
const IN_NODE = {
  ...PATIENCE,
  isolate: false,
  setupFiles: ['test/support/globals-restored.ts'],
  globalSetup: ['test/packaging/setup.ts', FIXTURES_NOTICE],
};

/** Suites that need a real browser; left out, loudly, when there is none (scripts/test.mjs says so). */
const browserProject = {
  test: {
    ...PATIENCE,
    name: 'browser',
    include: ['test/browser/**/*.test.ts'],
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
    // With two processors, two: the one that loads modules for them has little to do after the first files.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // A file that has not changed is not transformed again in the next run.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          ...IN_NODE,
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/browser/**', 'test/slow/**', 'test/page/**'],
        },
      },
      {
        test: {
          ...IN_NODE,
          name: 'quick',
          include: ['test/{unit,rpc,light,contract}/**/*.test.ts', 'test/docs/{citations,tools,public-names}.test.ts'],
          // Those that take more than two seconds, or need the library as it is built.
          exclude: ['test/**/*.long.test.ts'],
        },
      },
      {
        test: {
          ...IN_NODE,
          name: 'slow',
          include: ['test/slow/**/*.test.ts'],
          testTimeout: 3_600_000,
          hookTimeout: 3_600_000,
        },
      },
      ...(executablePath === undefined ? [] : [browserProject]),
    ],
  },
});
