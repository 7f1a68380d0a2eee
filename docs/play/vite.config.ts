import { createHash } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a snippet can import, and the module of this folder or the package that it gets. */
const MODULES: Readonly<Record<string, string>> = {
  'plumbline-l2': `${here}page-node.ts`,
  'plumbline-l2/inline': `${here}page-inline.ts`,
  'plumbline-l2/verify': 'plumbline-l2/verify',
  'plumbline-l2/fees': 'plumbline-l2/fees',
  'plumbline-l2/state': 'plumbline-l2/state',
  'plumbline-l2/hash': 'plumbline-l2/hash',
  'plumbline-l2/viem': 'plumbline-l2/viem',
  'plumbline-l2/react': 'plumbline-l2/react',
  'plumbline-l2/wagmi': 'plumbline-l2/wagmi',
  'plumbline-l2/vite': 'plumbline-l2/vite',
  'plumbline-l2/hardhat': 'plumbline-l2/hardhat',
  'plumbline-l2/fee-element': 'plumbline-l2/fee-element',
  'plumbline-l2-cli': `${here}served-node.ts`,
  viem: 'viem',
  wagmi: 'wagmi',
  'wagmi/actions': 'wagmi/actions',
  'react-dom/client': `${here}react.ts`,
  'react/jsx-runtime': `${here}react.ts`,
  ethers: 'ethers',
  'node:assert': `${here}assert.ts`,
  'node:assert/strict': `${here}assert.ts`,
};

const fileOf = (name: string) => name.replace(/[:/]/g, '-');

/** A snippet may ask endpoints that its reader writes into it. */
function policy(importMap: string): string {
  const hash = createHash('sha256').update(importMap).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' blob: 'wasm-unsafe-eval' 'sha256-${hash}'`,
    "worker-src 'self'",
    "connect-src 'self' https: http://localhost:* http://127.0.0.1:*",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** The frame that a snippet runs in, with its import map. */
const frame: Plugin = {
  name: 'frame',
  generateBundle() {
    const imports = Object.fromEntries(Object.keys(MODULES).map((name) => [name, `./${fileOf(name)}.js`]));
    const importMap = JSON.stringify({ imports });
    const source = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(importMap)}">
<title>A snippet</title>
<script type="importmap">${importMap}</script>
</head>
<body><main id="app"></main><script type="module" src="./frame.js"></script></body>
</html>
`;
    this.emitFile({ type: 'asset', fileName: 'frame.html', source });
  },
  closeBundle() {
    const copy = (file: string) => cpSync(`${root}dist/${file}`, `${root}build/site/play/${basename(file)}`);
    copy('kernel/wasm/hash.simd.wasm');
    for (const name of readdirSync(`${root}dist`)) if (/^service-worker.*\.js$/.test(name)) copy(name);
  },
};

export default defineConfig({
  root: here,
  base: './',
  plugins: [frame],
  worker: { format: 'es' },
  build: {
    outDir: `${root}build/site/play`,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    rolldownOptions: {
      preserveEntrySignatures: 'strict',
      input: {
        frame: `${here}frame.ts`,
        worker: 'plumbline-l2/worker',
        ...Object.fromEntries(Object.entries(MODULES).map(([name, module]) => [fileOf(name), module])),
      },
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
});
