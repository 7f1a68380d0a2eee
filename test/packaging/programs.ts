import { ESTIMATE, root } from './project.js';

export const INDEX = '<!doctype html><title>consumer</title><script type="module" src="./main.js"></script>';
const page = (door: string, create: string): Readonly<Record<string, string>> => ({
  'index.html': INDEX,
  'estimate.js': ESTIMATE,
  'main.js': `import { ${create} } from '${door}';
import { estimate } from './estimate.js';
${create}().then(estimate).then((outcome) => { window.outcome = outcome; }, (error) => { window.outcome = error.code ?? String(error); });
`,
});
/** A page whose node is in a worker. */
export const IN_WORKER = page('plumbline', 'createNode');
/** A page whose node is in its own thread. */
export const IN_PAGE = page('plumbline/inline', 'createInlineNode');

/** webpack by its own interface, without its command, which is a package of its own. @param more - settings */
export const webpackProgram = (more: object = {}): string => `import { createRequire } from 'node:module';
const webpack = createRequire(${JSON.stringify(`${root}/test/consumers/package.json`)})('webpack');
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
