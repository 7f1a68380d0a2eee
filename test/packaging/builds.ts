import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { webpackProgram } from './programs.js';
import { bin, root, run } from './project.js';

/** A bundler with its production build, set up as docs/browsers.md says, for a page whose node is in a worker. */
export interface Bundler {
  readonly name: string;
  /** Exact versions, for npm to install; the others are among the repository's dependencies. */
  readonly packages?: readonly string[];
  /** Its settings, by path, for a page that opens this kind of node. */
  settings(kind: 'devnet' | 'light'): Readonly<Record<string, string>>;
  /** Builds `index.html` and what it loads into the folder `out`. */
  build(project: string): Promise<unknown>;
}

const copyPage = (project: string) => cpSync(join(project, 'index.html'), join(project, 'out/index.html'));

const viteSettings: Bundler['settings'] = (kind) => ({
  'vite.config.js': `import { plumbline } from 'plumbline-l2/vite';
export default { plugins: [plumbline({ kind: '${kind}' })] };`,
});
const viteBuild = (command: (project: string) => string) => (project: string) =>
  run(command(project), ['build', '--outDir', 'out', '--logLevel', 'warn'], project);
const ownVite = (project: string) => join(project, 'node_modules/.bin/vite');

/** Of the workspace test/consumers. */
export const VITE_5 = `${root}/test/consumers/node_modules/.bin/vite`;

async function runProgram(project: string): Promise<void> {
  await run(process.execPath, ['build.js'], project);
  copyPage(project);
}

export const BUNDLERS = {
  vite5: { name: 'Vite 5, the plugin', settings: viteSettings, build: viteBuild(() => VITE_5) },
  vite7: {
    name: 'Vite 7, the plugin',
    packages: ['vite@7.3.8'],
    settings: viteSettings,
    build: viteBuild(ownVite),
  },
  vite8: { name: 'Vite 8, the plugin', settings: viteSettings, build: viteBuild(() => bin('vite')) },
  vite8Plain: { name: 'Vite 8, no settings', settings: () => ({}), build: viteBuild(() => bin('vite')) },
  webpack: {
    name: 'webpack 5, no settings',
    settings: () => ({ 'build.js': webpackProgram() }),
    build: runProgram,
  },
  rspack: {
    name: 'Rspack 2, no settings',
    packages: ['@rspack/core@2.3.3'],
    settings: () => ({ 'build.js': webpackProgram({}, "import { rspack as webpack } from '@rspack/core';") }),
    build: runProgram,
  },
  esbuild: {
    name: 'esbuild, workers as entries',
    settings: () => ({}),
    async build(project) {
      const entries = ['main.js', 'worker=plumbline-l2/worker', 'worker-devnet=plumbline-l2/worker-devnet'];
      const options = ['--bundle', '--splitting', '--format=esm', '--minify', '--outdir=out'];
      await run(bin('esbuild'), [...entries, ...options], project);
      copyPage(project);
    },
  },
  rolldown: {
    name: 'rolldown, workers as entries',
    settings: () => ({
      'rolldown.config.js': `export default {
  input: { main: './main.js', worker: 'plumbline-l2/worker', 'worker-devnet': 'plumbline-l2/worker-devnet' },
  platform: 'browser',
  output: { dir: 'out', minify: true },
};`,
    }),
    async build(project) {
      await run(bin('rolldown'), ['--config', 'rolldown.config.js'], project);
      copyPage(project);
    },
  },
  parcel: {
    name: 'Parcel 2, its two settings',
    packages: ['parcel@2.16.4'],
    settings: () => ({
      'package.json': JSON.stringify({
        private: true,
        '@parcel/resolver-default': { packageExports: true },
        '@parcel/bundler-default': { disableSharedBundles: true },
      }),
    }),
    build: (project) =>
      run(join(project, 'node_modules/.bin/parcel'), ['build', 'index.html', '--dist-dir', 'out'], project),
  },
} as const satisfies Readonly<Record<string, Bundler>>;
