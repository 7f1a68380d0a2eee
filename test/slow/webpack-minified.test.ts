/*
 * Slow because webpack's minifier takes 20 s of a processor for the files of the package. test/packaging/bundlers.test.ts
 * tries webpack without it.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { executablePath, expectAnswers, launch } from '../packaging/page.js';
import { IN_WORKER, webpackProgram } from '../packaging/programs.js';
import { packPackage, run } from '../packaging/project.js';

test.skipIf(executablePath === undefined)('webpack 5 with its own settings, minified', async () => {
  const packed = await packPackage();
  const project = packed.project('webpack-minified', { ...IN_WORKER, 'build.js': webpackProgram() });
  await run(process.execPath, ['build.js'], project);
  cpSync(join(project, 'index.html'), join(project, 'out/index.html'));
  const browser = await launch();
  try {
    await expectAnswers(browser, join(project, 'out'));
  } finally {
    await browser.close();
  }
});
