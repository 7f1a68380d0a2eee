/*
 * Slow because webpack's minifier takes 20 s of a processor for the files of the package. test/packaging/bundlers.test.ts
 * tries webpack without it.
 */
import { join } from 'node:path';
import { test } from 'vitest';
import { BUNDLERS } from '../packaging/builds.js';
import { executablePath, expectAnswers, launch } from '../packaging/page.js';
import { IN_WORKER } from '../packaging/programs.js';
import { packPackage } from '../packaging/project.js';

test.skipIf(executablePath === undefined)('webpack 5 with its own settings, minified', async () => {
  const packed = await packPackage();
  const project = packed.project('webpack-minified', { ...IN_WORKER, ...BUNDLERS.webpack.settings() });
  await BUNDLERS.webpack.build(project);
  const browser = await launch();
  try {
    await expectAnswers(browser, join(project, 'out'));
  } finally {
    await browser.close();
  }
});
