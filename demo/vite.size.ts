import { gzipSync } from 'node:zlib';
import type { Plugin, Rolldown } from 'vite';

const KB = 1000;
/** Of what is loaded before the node itself: the page with its styles, and its scripts. */
const BUDGET = 60 * KB;

/** Says how much of the page is loaded to begin with, and with all its parts; the node in its worker is counted apart. */
export const pageSize: Plugin = {
  name: 'page-size',
  apply: 'build',
  enforce: 'post',
  generateBundle(_, bundle) {
    // A start is about the node.
    if (process.env.npm_lifecycle_event === 'start') return;
    const entry = Object.values(bundle).find(
      // The group of vite.config.ts: the chunk of index.html itself is empty, and removed before.
      (file): file is Rolldown.OutputChunk => file.type === 'chunk' && file.name === 'page',
    );
    if (entry === undefined) return this.error('the demo page has no chunk that it begins with');
    const first = new Set<string>();
    const all = new Set<string>();
    const follow = (name: string, into: Set<string>, further: boolean) => {
      const file = bundle[name];
      if (into.has(name) || file?.type !== 'chunk') return;
      into.add(name);
      for (const other of [...file.imports, ...(further ? file.dynamicImports : [])]) follow(other, into, further);
    };
    follow(entry.fileName, first, false);
    follow(entry.fileName, all, true);
    const styles = (chunks: Iterable<string>) =>
      new Set(
        [...chunks].flatMap((name) => [...((bundle[name] as Rolldown.OutputChunk).viteMetadata?.importedCss ?? [])]),
      );
    const size = (names: Iterable<string>) => {
      let bytes = 0;
      for (const name of names) {
        const file = bundle[name]!;
        bytes += gzipSync(file.type === 'chunk' ? file.code : file.source).length;
      }
      return bytes;
    };
    const text = (bytes: number) => `${(bytes / KB).toFixed(1)} KB`;
    const begin = size(['index.html', ...first, ...styles(first)]);
    console.log(
      `demo page, gzip: ${text(begin)} of ${text(BUDGET)} to begin with, ${text(size(['index.html', ...all, ...styles(all)]))} with all parts`,
    );
    if (begin > BUDGET) this.error('the demo page begins with more than it may');
  },
};
