import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ANSWERS, ESTIMATE, type Packed, packPackage, run } from './project.js';
import { STATE_ANSWERS, STATE_PROGRAM, TRIE_LOG } from './state-program.js';

const IN_PROCESS = `import { createInlineNode } from 'plumbline-l2/inline';
import { estimate } from './estimate.js';
console.log(JSON.stringify(await estimate(await createInlineNode())));
`;

const IN_THREAD = `import { Worker } from 'node:worker_threads';
const worker = new Worker(new URL('./thread.js', import.meta.url));
worker.on('message', (outcome) => console.log(JSON.stringify(outcome)));
`;

const THREAD = `import { parentPort } from 'node:worker_threads';
import { createInlineNode } from 'plumbline-l2/inline';
import { estimate } from './estimate.js';
parentPort.postMessage(await estimate(await createInlineNode()));
`;

const SERVED = `import { createInlineNode, serve } from 'plumbline-l2/node';
import { estimate } from './estimate.js';
const node = await createInlineNode();
const server = await serve(node, { port: 0 });
const request = async (call) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, params: [], ...call });
  return (await (await fetch('http://127.0.0.1:' + server.port, { method: 'POST', body })).json()).result;
};
const close = async () => { await server.close(); await node.close(); };
console.log(JSON.stringify(await estimate({ request, close })));
`;

const COMMON_JS = `const { createInlineNode } = require('plumbline-l2/inline');
import('./estimate.js')
  .then(async ({ estimate }) => estimate(await createInlineNode()))
  .then((outcome) => console.log(JSON.stringify(outcome)));
`;

const STATE = `import { program } from './state-program.js';
const openPages = () => {
  const stored = new Map();
  return {
    getMany: async (keys) => keys.map((key) => stored.get(key)),
    commit: async ({ puts, deletes }) => {
      for (const key of deletes) stored.delete(key);
      for (const { key, value } of puts) stored.set(key, value);
    },
  };
};
console.log(JSON.stringify(await program(openPages, '${TRIE_LOG.encoded}')));
`;

describe('the packed package in Node', () => {
  let packed: Packed;
  let project: string;

  beforeAll(async () => {
    packed = await packPackage();
    project = packed.project('node', {
      'estimate.js': ESTIMATE,
      'in-process.js': IN_PROCESS,
      'in-thread.js': IN_THREAD,
      'thread.js': THREAD,
      'served.js': SERVED,
      'common.cjs': COMMON_JS,
      'state.js': STATE,
      'state-program.js': STATE_PROGRAM,
    });
  });

  test.each(['in-process.js', 'in-thread.js', 'served.js', 'common.cjs'])('%s', async (program) => {
    // `--no-warnings`: some versions of Node say that `require` of a module is new.
    const printed = await run(process.execPath, ['--no-warnings', program], project);
    expect(JSON.parse(printed)).toEqual(ANSWERS);
  });

  test('a zk state: applied, stored, proved, followed', async () => {
    expect(JSON.parse(await run(process.execPath, ['state.js'], project))).toEqual(STATE_ANSWERS);
  });

  test('installed by npm, with its command', async ({ skip }) => {
    const fresh = join(packed.directory, 'npm');
    mkdirSync(fresh);
    writeFileSync(join(fresh, 'package.json'), '{ "private": true, "type": "module" }');
    const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0'];
    try {
      await run('npm', ['install', ...options, packed.tarball], fresh);
    } catch (error) {
      if (!/network|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN/.test(String(error))) throw error;
      console.warn('packaging: npm reaches no registry here, the package is not installed by it');
      skip('npm reaches no registry here');
    }
    writeFileSync(join(fresh, 'estimate.js'), ESTIMATE);
    writeFileSync(join(fresh, 'in-process.js'), IN_PROCESS);
    expect(JSON.parse(await run(process.execPath, ['in-process.js'], fresh))).toEqual(ANSWERS);
    const sized = await run('npx', ['--no-install', 'plumbline', 'size', `0x${'00'.repeat(500)}`, '--json'], fresh);
    expect(JSON.parse(sized)).toMatchObject({ bytes: 500, compressedTxSize: 32 });
  });
});
