import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Plugin, transformWithOxc } from 'vite';

/** The script of the page's own service worker, which is no module and so is not bundled. */
const SOURCE = fileURLToPath(new URL('sw.ts', import.meta.url));

/**
 * Emits the two service workers beside the page, because their place decides which pages they may answer: `sw.js`, which
 * keeps the page for use offline and has the list of what to keep written into it, and `service-worker.js`, plumbline's own,
 * which `sw.js` imports when it is asked to answer RPC
 * calls.
 *
 * @param dist - directory of the built package
 */
export function offlineWorker(dist: string): Plugin {
  return {
    name: 'offline-worker',
    apply: 'build',
    enforce: 'post',
    async generateBundle(_, bundle) {
      const files = Object.keys(bundle)
        .filter((name) => !name.endsWith('.map'))
        .sort();
      const hash = createHash('sha256');
      for (const name of readdirSync(dist).filter((file) => /^service-worker.*\.js$/.test(file))) {
        const source = readFileSync(`${dist}/${name}`, 'utf8');
        this.emitFile({ type: 'asset', fileName: name, source });
        hash.update(source);
      }
      for (const name of files) {
        const file = bundle[name]!;
        hash.update(name).update(file.type === 'chunk' ? file.code : file.source);
      }
      const { code } = await transformWithOxc(readFileSync(SOURCE, 'utf8'), SOURCE, { target: 'es2022' });
      const source = code
        .replace('"__VERSION__"', JSON.stringify(hash.digest('hex').slice(0, 16)))
        .replace('"__FILES__"', JSON.stringify(['./', ...files.filter((name) => name !== 'index.html')]))
        .replace(/\n?export \{\};?/, '');
      this.emitFile({ type: 'asset', fileName: 'sw.js', source });
    },
  };
}
