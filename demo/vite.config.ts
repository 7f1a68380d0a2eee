import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { offlineWorker } from './vite.offline.js';
import { pageSize } from './vite.size.js';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/**
 * What the page may do. `wasm-unsafe-eval` is for the kernels and `connect-src` lets the visitor's own endpoints in; nothing
 * comes from anywhere else.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self' https: http://localhost:* http://127.0.0.1:*",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The dev server puts its own scripts and styles into the page, so the policy stands in what is built. */
const policy: Plugin = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY },
      injectTo: 'head-prepend',
    },
  ],
};

/** How long the plugins of a build took is noise for somebody who starts a node. */
const QUIET = { bundlerTimings: false };

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [policy, offlineWorker(dist), pageSize],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: `${dist}/demo`,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: QUIET },
  },
  worker: { format: 'es', rolldownOptions: { checks: QUIET } },
});
