import { expect, test } from '@playwright/test';
import { killAndReopen } from '../support/store-kills.js';

test('a stored devnet survives the end of its worker, its page and its browser, at random moments', async () => {
  const seed = Date.now() % 1_000_000;
  console.log(`seed ${seed}`);
  const victims = ['worker', 'page', 'browser'] as const;
  const report = await killAndReopen({ seed, victims, kills: 6, perDatabase: 6, lifeMs: 700 });
  expect(report.kills).toEqual({ worker: 2, page: 2, browser: 2 });
});
