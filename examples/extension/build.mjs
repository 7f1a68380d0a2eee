/** Bundles the extension into a folder that a browser can load. */
import { copyFile, mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Writes it to `outdir`; `alias` names files that stand for packages, as esbuild has it. */
export async function buildExtension({ outdir = `${here}dist`, alias = {} } = {}) {
  await mkdir(outdir, { recursive: true });
  // One file each: a background service worker cannot import anything later, so there must be no chunks.
  await build({
    entryPoints: [`${here}src/background.js`, `${here}src/popup.js`],
    outdir,
    alias,
    bundle: true,
    splitting: false,
    format: 'esm',
    target: 'es2022',
    minify: true,
    logLevel: 'warning',
  });
  for (const file of ['manifest.json', 'popup.html', 'popup.css'])
    await copyFile(`${here}${file}`, `${outdir}/${file}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildExtension();
