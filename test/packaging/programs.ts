import { ESTIMATE, root } from './project.js';
import { STATE_PROGRAM, TRIE_LOG } from './state-program.js';

export const INDEX = '<!doctype html><title>consumer</title><script type="module" src="./main.js"></script>';
const page = (entry: string, create: string): Readonly<Record<string, string>> => ({
  'index.html': INDEX,
  'estimate.js': ESTIMATE,
  'main.js': `import { ${create} } from '${entry}';
import { estimate } from './estimate.js';
${create}().then(estimate).then((outcome) => { window.outcome = outcome; }, (error) => { window.outcome = [error.code, error.message]; });
`,
});
/** A page whose node is in a worker. */
export const IN_WORKER = page('plumbline-l2', 'createNode');
/** A page whose node is in its own thread. */
export const IN_PAGE = page('plumbline-l2/inline', 'createInlineNode');

const program = (entry: string, create: string): string => `import { ${create} } from '${entry}';
import { estimate } from './estimate.js';
console.log(JSON.stringify(await estimate(await ${create}())));
`;

/** Programs for Node and what is like it; each is beside 'estimate.js'. */
export const PROGRAMS = {
  inProcess: program('plumbline-l2/inline', 'createInlineNode'),
  inWorker: program('plumbline-l2', 'createNode'),
  served: `import { createInlineNode } from 'plumbline-l2/inline';
import { serve } from 'plumbline-l2-cli';
import { estimate } from './estimate.js';
const node = await createInlineNode();
const server = await serve(node, { port: 0 });
const request = async (call) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, params: [], ...call });
  return (await (await fetch('http://127.0.0.1:' + server.port, { method: 'POST', body })).json()).result;
};
const close = async () => { await server.close(); await node.close(); };
console.log(JSON.stringify(await estimate({ request, close })));
`,
} as const;

/** A page that keeps a zk state in IndexedDB. */
export const STATE_PAGE: Readonly<Record<string, string>> = {
  'index.html': INDEX,
  'state-program.js': STATE_PROGRAM,
  'main.js': `import { openStatePages } from 'plumbline-l2/state';
import { program } from './state-program.js';
program(openStatePages, '${TRIE_LOG.encoded}').then(
  (outcome) => { window.outcome = outcome; },
  (error) => { window.outcome = String(error); },
);
`,
};

const IMPORT_WEBPACK = `import { createRequire } from 'node:module';
const webpack = createRequire(${JSON.stringify(`${root}/test/consumers/package.json`)})('webpack');`;

/**
 * webpack by its own interface, without its command, which is a package of its own.
 *
 * @param more - settings
 * @param importing - declares `webpack`, which may be Rspack: it has the same interface
 */
export const webpackProgram = (more: object = {}, importing = IMPORT_WEBPACK): string => `${importing}
const config = {
  mode: 'production',
  entry: './main.js',
  output: { path: import.meta.dirname + '/out' },
  ...${JSON.stringify(more)},
};
webpack(config, (error, stats) => {
  if (error) throw error;
  console.log(stats.toString());
  if (stats.hasErrors() || stats.hasWarnings()) process.exitCode = 1;
});
`;
