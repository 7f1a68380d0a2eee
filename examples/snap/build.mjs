// Bundles the Snap and writes its manifest with the checksum that MetaMask compares.
import { readFile, writeFile } from 'node:fs/promises';
import { DEFAULT_NPM_REGISTRY } from '@metamask/snaps-controllers';
import { checkManifest } from '@metamask/snaps-utils/node';
import { build } from 'esbuild';

const here = import.meta.dirname;
const { name, version, description, dependencies } = JSON.parse(await readFile(`${here}/package.json`, 'utf8'));

await build({
  absWorkingDir: here,
  entryPoints: ['src/index.js'],
  bundle: true,
  format: 'cjs',
  platform: 'browser',
  target: 'es2022',
  outfile: 'dist/bundle.js',
  // A Snap has no address of its own; nothing is loaded from it.
  define: { 'import.meta.url': '"https://snap.invalid/"' },
  logLevel: 'error',
});
const manifest = {
  version,
  description,
  proposedName: 'plumbline preview',
  source: {
    // Of this length; the check below puts in the right one.
    shasum: `${'A'.repeat(43)}=`,
    location: { npm: { filePath: 'dist/bundle.js', packageName: name, registry: DEFAULT_NPM_REGISTRY.origin } },
  },
  initialPermissions: {
    'endowment:network-access': {},
    'endowment:webassembly': {},
    'endowment:transaction-insight': { allowTransactionOrigin: true },
    'endowment:signature-insight': { allowSignatureOrigin: true },
  },
  platformVersion: dependencies['@metamask/snaps-sdk'],
  manifestVersion: '0.1',
};
await writeFile(`${here}/snap.manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`);
const { reports } = await checkManifest(here);
const faults = reports.filter(({ severity, wasFixed }) => severity === 'error' && wasFixed !== true);
if (faults.length > 0) throw new Error(faults.map(({ message }) => message).join('\n'));
