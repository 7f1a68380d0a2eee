/**
 * `npm run sbom`: the packages that come with each of ours where it is installed, as CycloneDX of `npm sbom`, into build/sbom.cdx.json
 * and build/sbom-cli.cdx.json.
 *
 * npm omits a dependency that is one for development of a workspace as well. So it is asked in a folder that has the manifest and
 * the lock file without those, and without the optional peers, which are not installed with ours. Time and serial number are left out: the same tree gives the same bytes.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './lib/run.mjs';

const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { packages, ...lock } = read('package-lock.json');

for (const [folder, file] of [
  ['.', 'build/sbom.cdx.json'],
  ['cli', 'build/sbom-cli.cdx.json'],
]) {
  const { devDependencies, workspaces, overrides, peerDependencies, peerDependenciesMeta, ...manifest } = read(
    join(folder, 'package.json'),
  );
  await writeBom(manifest, file);
}

async function writeBom(manifest, file) {
  const { name, version, license, dependencies } = manifest;
  // What the dependencies need has to be in the lock file too: npm says so if a package is missing there.
  const shipped = { '': { name, version, license, dependencies } };
  const add = (needed) => {
    const place = `node_modules/${needed}`;
    if (shipped[place] !== undefined) return;
    const { dev, devOptional, ...entry } = packages[place];
    shipped[place] = entry;
    for (const inner of Object.keys(entry.dependencies ?? {})) add(inner);
  };
  for (const needed of Object.keys(dependencies)) add(needed);

  const above = mkdtempSync(join(tmpdir(), 'plumbline-sbom-'));
  try {
    // npm names the root after its folder.
    const directory = join(above, name);
    mkdirSync(directory);
    writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(directory, 'package-lock.json'), JSON.stringify({ ...lock, name, packages: shipped }));
    const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: directory });
    const { serialNumber, ...bom } = JSON.parse(stdout);
    delete bom.metadata.timestamp;
    mkdirSync(join(root, 'build'), { recursive: true });
    writeFileSync(join(root, file), `${JSON.stringify(bom, null, 2)}\n`);
    console.log(`${file}: ${bom.components.length} packages`);
  } finally {
    rmSync(above, { recursive: true, force: true });
  }
}
