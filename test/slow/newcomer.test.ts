/*
 * Slow because it installs bundlers outside the repository: Parcel alone is 120 packages.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BUNDLERS, VITE_5 } from '../packaging/builds.js';
import {
  addressOf,
  executablePath,
  expectAnswers,
  launch,
  outcomeOf,
  policyWithHashes,
  STRICT_CSP,
} from '../packaging/page.js';
import { IN_WORKER } from '../packaging/programs.js';
import { ANSWERS, type Packed, packPackage } from '../packaging/project.js';

const { vite7, rspack, parcel, vite5 } = BUNDLERS;

describe.skipIf(executablePath === undefined)('the packed package, in Chromium', () => {
  let packed: Packed;
  let browser: Browser;
  beforeAll(async () => {
    [packed, browser] = await Promise.all([packPackage(), launch()]);
  });
  afterAll(() => browser?.close());

  test.for([vite7, rspack, parcel])('$name: a production build', async (bundler, { skip }) => {
    const files = { ...IN_WORKER, ...bundler.settings('devnet') };
    const project = await packed.installed(bundler.name.split(',')[0]!, files, bundler.packages);
    if (project === undefined) {
      console.warn(`newcomer: npm reaches no registry here, so ${bundler.name} is not tried`);
      return skip('npm reaches no registry here');
    }
    await bundler.build(project);
    // Parcel's import map is an inline script.
    const html = readFileSync(join(project, 'out/index.html'), 'utf8');
    const policy = bundler === parcel ? policyWithHashes(html) : STRICT_CSP;
    await expectAnswers(browser, join(project, 'out'), policy);
  });

  /** `vite dev`, as its command runs it. */
  async function expectDevAnswers(command: string, project: string): Promise<void> {
    const args = [command, '--host', '127.0.0.1', '--port', '0'];
    const env = { ...process.env, NODE_ENV: undefined, NO_COLOR: '1' };
    const server = spawn(process.execPath, args, { cwd: project, env } as object);
    onTestFinished(() => void server.kill());
    expect(await outcomeOf(browser, await addressOf(server))).toEqual({ outcome: ANSWERS, troubles: [] });
  }

  test('Vite 5: the server for development', async () => {
    const project = packed.project('vite-5-dev', { ...IN_WORKER, ...vite5.settings('devnet') });
    await expectDevAnswers(VITE_5, project);
  });

  test('Vite 7: the server for development', async ({ skip }) => {
    const project = join(packed.directory, vite7.name.split(',')[0]!);
    const command = join(project, 'node_modules/.bin/vite');
    // The build before installs it.
    if (!existsSync(command)) return skip('npm reaches no registry here');
    await expectDevAnswers(command, project);
  });
});
