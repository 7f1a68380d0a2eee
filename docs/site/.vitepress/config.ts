import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type MarkdownEnv, type MarkdownRenderer } from 'vitepress';
import { PUBLISHED } from '../../../scripts/lib/published.mjs';
import { root, staged } from '../stage/places.js';
import { slugOf } from '../stage/slug.js';
import { stage } from '../stage/stage.js';
import { withoutEmptyHeaders } from './empty-headers.js';
import { sidebar } from './sidebar.js';
import { typesOnHover } from './types-on-hover.js';

const here = fileURLToPath(new URL('..', import.meta.url));

/** Within the page: an address of its own would have to be another one on each level. */
const icon = `data:image/svg+xml,${encodeURIComponent(readFileSync(`${root}/demo/icon.svg`, 'utf8'))}`;

const snippets = stage();

/** Objects and examples of methods are on many pages. The index has their names and notes, parameters and results. */
function searched(text: string, env: MarkdownEnv, renderer: MarkdownRenderer): Promise<string> {
  const isMethod = env.relativePath.startsWith('methods/');
  return renderer.renderAsync(isMethod ? text.split(/^## (?:Objects|Example)$/m)[0]! : text, env);
}

export default defineConfig({
  lang: 'en',
  title: 'plumbline',
  description:
    'An Ethereum layer-2 node in a web page: what a transaction on Linea costs, and proofs of balances and state.',
  // Every address is relative, so that any host and any path serve it.
  base: './',
  srcDir: relative(here, staged),
  outDir: relative(here, `${root}/build/site`),
  cacheDir: relative(here, `${root}/build/site-cache`),
  head: [['link', { rel: 'icon', href: icon, type: 'image/svg+xml' }]],
  markdown: {
    anchor: { slugify: slugOf },
    config: withoutEmptyHeaders,
    codeTransformers: [typesOnHover(snippets)],
  },
  vite: {
    resolve: { alias: { 'plumbline-site-snippets': `${staged}/snippets.json` } },
    // The index of the search and the longest page of the API reference; both are loaded when they are asked for.
    build: { chunkSizeWarningLimit: 3500 },
  },
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/guides/wallet', activeMatch: '^guides/' },
      { text: 'Methods', link: '/methods' },
      { text: 'API', link: '/api/', activeMatch: '^api/' },
      { text: 'Playground', link: '/playground' },
      { text: 'Demo', link: '/demo/', target: '_self' },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local', options: { _render: searched } },
    socialLinks: PUBLISHED.github ? [{ icon: 'github', link: 'https://github.com/plumbline-l2/plumbline' }] : [],
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});
