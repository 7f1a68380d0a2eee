/** Bundles the entries that have to stand alone: the module worker and the classic service worker. */
import { rolldown } from 'rolldown';
import { root } from './lib/run.mjs';

async function bundleOne(input, file, format) {
  const build = await rolldown({ input: `${root}/dist/${input}`, platform: 'browser', logLevel: 'warn' });
  await build.write({ file: `${root}/dist/${file}`, format, minify: true, codeSplitting: false, sourcemap: false });
  await build.close();
}

export async function bundle() {
  await bundleOne('hosts/worker.js', 'hosts/worker.js', 'esm');
  await bundleOne('hosts/service-worker.js', 'service-worker.js', 'iife');
}
