import { expect, test } from 'vitest';
import { findBrowser } from '../../scripts/lib/browser.mjs';
import { killAndReopen } from '../support/store-kills.js';

/* Slow because 120 pages, workers and browsers are ended and opened again; test/page/store-kill.spec.ts ends six. */

const SEED = Number(process.env.PLUMBLINE_SEED ?? Date.now() % 1_000_000);
const hasBrowser = (await findBrowser()) !== undefined;
if (!hasBrowser) console.warn('NOTICE: no Chromium was found: the kill test of the store does not run.');

/** Of 120 kills every sixth is of the browser, every third of the page. */
test.skipIf(!hasBrowser)(`a stored devnet survives 120 kills at random moments, seed ${SEED}`, async () => {
  console.log(`seed ${SEED}: PLUMBLINE_SEED=${SEED} repeats this run`);
  const report = await killAndReopen({
    seed: SEED,
    victims: ['worker', 'page', 'worker', 'browser', 'page', 'worker'],
    kills: 120,
    perDatabase: 20,
    lifeMs: 1500,
  });
  console.log(report);
  expect(report.kills).toEqual({ worker: 60, page: 40, browser: 20 });
  expect(report.fromCheckpoint).toBeGreaterThan(20);
  expect(report.whileOpening).toBeGreaterThan(10);
  expect(report.pruned).toBeGreaterThan(0);
  expect(report.acknowledged).toBeGreaterThan(100);
});
