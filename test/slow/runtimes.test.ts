/*
 * Slow because bun and deno are 190 MB to install, which their npm packages bring as binaries; outside of the repository.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROGRAMS } from '../packaging/programs.js';
import { ANSWERS, ESTIMATE, packPackage, run } from '../packaging/project.js';

/** Pinned: what is tried here does not change by itself. */
const PACKAGES = ['bun@1.4.5', 'deno@2.9.6'];

// Neither ends by itself while a worker is there.
const ended = (program: string): string => `import process from 'node:process';\n${program}process.exit(0);\n`;

test('bun and deno estimate in the process, in a worker and behind a server', async ({ skip }) => {
  const packed = await packPackage();
  const files = {
    'estimate.js': ESTIMATE,
    'inline.mjs': ended(PROGRAMS.inProcess),
    'worker.mjs': ended(PROGRAMS.inWorker),
    'served.mjs': ended(PROGRAMS.served),
  };
  const project = await packed.installed('runtimes', files, PACKAGES);
  if (project === undefined) {
    console.warn('runtimes: npm reaches no registry here, so bun and deno are not tried');
    return skip('npm reaches no registry here');
  }
  // The command `bun` of npm is made by a script of its package, which installing leaves out here.
  const [platform] = readdirSync(join(project, 'node_modules/@oven'));
  const commands = [
    [`@oven/${platform!}/bin/bun`, 'run'],
    ['.bin/deno', 'run', '--no-remote', '-A'],
  ] as const;
  for (const [command, ...args] of commands) {
    for (const program of ['inline.mjs', 'worker.mjs', 'served.mjs']) {
      const printed = await run(join(project, 'node_modules', command), [...args, program], project);
      expect(JSON.parse(printed), `${command} ${program}`).toEqual(ANSWERS);
    }
  }
});
