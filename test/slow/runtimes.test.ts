/*
 * Slow because bun and deno are 190 MB to install, which their npm packages bring as binaries; outside of the repository.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ANSWERS, ESTIMATE, packPackage, run } from '../packaging/project.js';

/** Pinned: what is tried here does not change by itself. */
const PACKAGES = ['bun@1.4.5', 'deno@2.9.6'];

const programOf = (entry: string, create: string): string => `import { ${create} } from '${entry}';
import { estimate } from './estimate.js';
console.log(JSON.stringify(await estimate(await ${create}())));
process.exit(0);
`;

const SERVED = `import process from 'node:process';
import { createInlineNode, serve } from 'plumbline-l2/node';
import { estimate } from './estimate.js';
const node = await createInlineNode();
const server = await serve(node, { port: 0 });
const request = async (call) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, params: [], ...call });
  return (await (await fetch('http://127.0.0.1:' + server.port, { method: 'POST', body })).json()).result;
};
const close = async () => { await server.close(); await node.close(); };
console.log(JSON.stringify(await estimate({ request, close })));
process.exit(0);
`;

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "private": true, "type": "module" }',
  'estimate.js': ESTIMATE,
  'inline.mjs': programOf('plumbline-l2/inline', 'createInlineNode'),
  'worker.mjs': programOf('plumbline-l2', 'createNode'),
  'served.mjs': SERVED,
};

test('bun and deno estimate in the process, in a worker and behind a server', async ({ skip }) => {
  const packed = await packPackage();
  const project = join(packed.directory, 'runtimes');
  mkdirSync(project);
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(project, path), text);
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0'];
  try {
    await run('npm', ['install', ...options, packed.tarball, ...PACKAGES], project);
  } catch (error) {
    if (!/network|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN/.test(String(error))) throw error;
    console.warn('runtimes: npm reaches no registry here, so bun and deno are not tried');
    skip('npm reaches no registry here');
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
