import { beforeAll, describe, expect, test } from 'vitest';
import { PROGRAMS } from './programs.js';
import { ANSWERS, ESTIMATE, type Packed, packPackage, run } from './project.js';
import { STATE_ANSWERS, STATE_PROGRAM, TRIE_LOG } from './state-program.js';

const IN_THREAD = `import { Worker } from 'node:worker_threads';
const worker = new Worker(new URL('./thread.js', import.meta.url));
worker.on('message', (outcome) => console.log(JSON.stringify(outcome)));
`;

const THREAD = `import { parentPort } from 'node:worker_threads';
import { createInlineNode } from 'plumbline-l2/inline';
import { estimate } from './estimate.js';
parentPort.postMessage(await estimate(await createInlineNode()));
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
    const files = {
      'estimate.js': ESTIMATE,
      'in-process.js': PROGRAMS.inProcess,
      'in-thread.js': IN_THREAD,
      'thread.js': THREAD,
      'served.js': PROGRAMS.served,
      'common.cjs': COMMON_JS,
      'state.js': STATE,
      'state-program.js': STATE_PROGRAM,
    };
    project = packed.project('node', files, ['plumbline-l2-cli']);
  });

  test.each(['in-process.js', 'in-thread.js', 'served.js', 'common.cjs'])('%s', async (program) => {
    // `--no-warnings`: some versions of Node say that `require` of a module is new.
    const printed = await run(process.execPath, ['--no-warnings', program], project);
    expect(JSON.parse(printed)).toEqual(ANSWERS);
  });

  test('a zk state: applied, stored, proved, followed', async () => {
    expect(JSON.parse(await run(process.execPath, ['state.js'], project))).toEqual(STATE_ANSWERS);
  });

  test('both installed by npm from their files, with the command', async ({ skip }) => {
    const files = { 'estimate.js': ESTIMATE, 'in-process.js': PROGRAMS.inProcess, 'served.js': PROGRAMS.served };
    const fresh = await packed.installed('npm', files, [packed.tarballs['plumbline-l2-cli']]);
    if (fresh === undefined) {
      console.warn('packaging: npm reaches no registry here, the package is not installed by it');
      return skip('npm reaches no registry here');
    }
    for (const program of ['in-process.js', 'served.js'])
      expect(JSON.parse(await run(process.execPath, [program], fresh))).toEqual(ANSWERS);
    const sized = await run('npx', ['--no-install', 'plumbline', 'size', `0x${'00'.repeat(500)}`, '--json'], fresh);
    expect(JSON.parse(sized)).toMatchObject({ bytes: 500, compressedTxSize: 32 });
  });
});
