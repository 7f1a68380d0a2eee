import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { root, staged } from '../stage/places.js';
import { slugOf } from '../stage/slug.js';
import { stage } from '../stage/stage.js';
import { sidebar } from './sidebar.js';

const here = fileURLToPath(new URL('..', import.meta.url));

/** From a page to the root of the site. */
const upFrom = (page: string) => '../'.repeat(page.split('/').length - 1) || './';

stage();

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
  transformHead: ({ page }) => [['link', { rel: 'icon', href: `${upFrom(page)}icon.svg`, type: 'image/svg+xml' }]],
  markdown: { anchor: { slugify: slugOf }, headers: false },
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
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: 'https://github.com/plumbline-l2/plumbline' }],
    docFooter: { prev: false, next: false },
  },
});
