import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** Puts the service worker beside the page: its place decides which pages it may answer. */
const serviceWorker: Plugin = {
  name: 'plumbline-service-worker',
  generateBundle() {
    this.emitFile({
      type: 'asset',
      fileName: 'service-worker.js',
      source: readFileSync(`${dist}/service-worker.js`, 'utf8'),
    });
  },
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [serviceWorker],
  build: { outDir: `${dist}/demo`, emptyOutDir: true, target: 'es2022' },
  worker: { format: 'es' },
});
