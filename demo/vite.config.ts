import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { PUBLISHED } from '../scripts/lib/published.mjs';
import { offlineWorker } from './vite.offline.js';
import { pageSize } from './vite.size.js';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/**
 * What the page may do. `wasm-unsafe-eval` is for the kernels and `connect-src` lets the visitor's own endpoints in; nothing
 * comes from anywhere else.
 */
function policyOf(html: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' ${hashOf('script', html)}`,
    `style-src 'self' ${hashOf('style', html)}`,
    "img-src 'self' data:",
    "connect-src 'self' https: http://localhost:* http://127.0.0.1:*",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** Lets in the one element of this name that has its text in the page. */
function hashOf(name: 'script' | 'style', html: string): string {
  const [, text] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(html)!;
  return `'sha256-${createHash('sha256').update(text!).digest('base64')}'`;
}

/** The dev server puts its own scripts and styles into the page, so the policy stands in what is built. */
const policy: Plugin = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policyOf(html) },
        injectTo: 'head-prepend',
      },
    ],
  },
};

/** The first view has no links to what is not published. */
const published: Plugin = {
  name: 'published-links',
  transformIndexHtml: (html) => (PUBLISHED.github ? html : html.replace(/^.*href="https:\/\/github\.com\/.*\n/gm, '')),
};

/** How long the plugins of a build took is noise where a node is started. */
const QUIET = { bundlerTimings: false };

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [published, policy, offlineWorker(dist), pageSize],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: `${dist}/demo`,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // What the page begins with is one file: each one is a request before the first paint.
    rolldownOptions: { checks: QUIET, output: { codeSplitting: { groups: [{ name: 'page', tags: ['$initial'] }] } } },
  },
  worker: { format: 'es', rolldownOptions: { checks: QUIET } },
});
