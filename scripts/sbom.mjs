/**
 * `npm run sbom`: the packages that come with this one where it is installed, as CycloneDX of `npm sbom`, into build/sbom.cdx.json.
 *
 * npm omits a dependency that is one for development of a workspace as well. So it is asked in a folder that has the manifest and
 * the lock file without those. Time and serial number are left out: the same tree gives the same bytes.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './lib/run.mjs';

const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { devDependencies, workspaces, ...manifest } = read('package.json');
const { packages, ...lock } = read('package-lock.json');
const { dependencies } = manifest;

// What the dependencies need has to be in the lock file too: npm says so if a package is missing there.
const shipped = { '': { name: manifest.name, version: manifest.version, license: manifest.license, dependencies } };
const add = (name) => {
  const place = `node_modules/${name}`;
  if (shipped[place] !== undefined) return;
  const { dev, devOptional, ...entry } = packages[place];
  shipped[place] = entry;
  for (const inner of Object.keys(entry.dependencies ?? {})) add(inner);
};
for (const name of Object.keys(dependencies)) add(name);

const above = mkdtempSync(join(tmpdir(), 'plumbline-sbom-'));
try {
  // npm names the root after its folder.
  const directory = join(above, manifest.name);
  mkdirSync(directory);
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify({ ...lock, packages: shipped }));
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: directory });
  const { serialNumber, ...bom } = JSON.parse(stdout);
  delete bom.metadata.timestamp;
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(join(root, 'build/sbom.cdx.json'), `${JSON.stringify(bom, null, 2)}\n`);
  console.log(`build/sbom.cdx.json: ${bom.components.length} packages`);
} finally {
  rmSync(above, { recursive: true, force: true });
}
