/**
 * `npm run release [-- --tag vX.Y.Z]`: builds and packs what would be published, checks names, versions, provenance and contents, and
 * publishes nothing. With the tag, as the workflow runs it, all that a release needs has to be there; without, that is told only.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDemo } from './build.mjs';
import { PUBLISHED } from './lib/published.mjs';
import { root } from './lib/run.mjs';
import { PACKED, pack } from './pack.mjs';

const tag = process.argv.includes('--tag') ? process.argv[process.argv.indexOf('--tag') + 1] : undefined;
const read = (file) => readFileSync(join(root, file), 'utf8');
const faults = [];
const missing = [];
const check = (holds, fault, list = faults) => holds || list.push(fault);

await buildDemo();
const manifest = JSON.parse(read('package.json'));
const { name, version, repository } = manifest;
const packages = PACKED.map((folder) => ({ folder, own: JSON.parse(read(`${folder}/package.json`)), ...pack(folder) }));

const lock = JSON.parse(read('package-lock.json'));
for (const [where, one] of [
  ['package-lock.json', lock],
  ['package-lock.json, its root', lock.packages['']],
]) {
  check(one.name === name && one.version === version, `${where} is of ${one.name} ${one.version}`);
}

/** Does a registry have this version? Undefined where none answers. */
function isTaken(spec) {
  try {
    return execFileSync('npm', ['view', spec, 'version', '--json'], { cwd: root, stdio: 'pipe' }).length > 0;
  } catch (error) {
    return /E404/.test(`${error.stderr}${error.stdout}`) ? false : undefined;
  }
}

const NAMES = [name, `${name}-cli`, `${name}-sourcemaps`];
for (const [i, { folder, own, filename, paths }] of packages.entries()) {
  const packed = NAMES[i];
  const source = join(folder, 'package.json');
  check(own.name === packed && own.version === version, `${source} is of ${own.name} ${own.version}`);
  check(filename === `${packed}-${version}.tgz`, `${filename} is no name for ${packed} ${version}`);
  // npm takes a provenance only if the repository is the one that the workflow runs in.
  check(own.publishConfig?.provenance === true, `${source} does not ask for a provenance`);
  check(own.publishConfig?.access === 'public', `${source} does not say that the package is public`);
  check(own.repository?.url === repository.url, `${source} names the repository ${own.repository?.url}`);
  const strange = paths.filter(
    (path) => !/^(?:(?:cli\/)?dist\/.+|README\.md|CHANGELOG\.md|LICENSE|package\.json)$/.test(path),
  );
  check(strange.length === 0, `${filename} has ${strange.join(', ')}`);
  check(paths.includes('LICENSE'), `${filename} has no LICENSE`);
  const taken = isTaken(`${packed}@${version}`);
  if (taken === undefined) console.log(`no registry says whether ${packed} ${version} is there already`);
  check(!taken, `${packed} ${version} is published already`);
  const named = [
    ...Object.values(own.bin ?? {}),
    ...Object.values(own.exports ?? {}).flatMap((one) => Object.values(one)),
  ];
  for (const path of named.filter((one) => typeof one === 'string' && one.startsWith('./dist/'))) {
    const pattern = new RegExp(`^${path.slice(2).replaceAll('.', '\\.').replace('*', '.+')}$`);
    check(
      paths.some((one) => pattern.test(one)),
      `${source} names ${path}, which the package does not have`,
    );
  }
}
const { GITHUB_REPOSITORY } = process.env;
if (GITHUB_REPOSITORY !== undefined) {
  const here = `git+https://github.com/${GITHUB_REPOSITORY}.git`;
  check(repository.url === here, `the repository is ${repository.url} in package.json, and this is ${here}`);
}

const [page, cli] = packages;
for (const [{ filename, paths }, expected] of [
  [page, ['README.md', 'CHANGELOG.md', 'dist/licenses.txt']],
  [cli, ['README.md', 'dist/licenses.txt', 'dist/demo/index.html']],
]) {
  for (const path of expected) check(paths.includes(path), `${filename} has no ${path}`);
}

check(tag === undefined || tag === `v${version}`, `the tag is ${tag}, the version ${version}`);
check(!/^## Unreleased$/m.test(read('CHANGELOG.md')), 'CHANGELOG.md has changes that are “Unreleased”', missing);
check(read('CHANGELOG.md').includes(`\n## ${version}\n`), `CHANGELOG.md has no part ${version}`, missing);
check(PUBLISHED.npm, 'scripts/lib/published.mjs says that plumbline is not on npm, and so does its README.md', missing);
if (tag !== undefined) faults.push(...missing.splice(0));

for (const { filename, sha256 } of packages) console.log(`${filename}\n  sha256 ${sha256}`);
for (const one of missing) console.log(`before a release: ${one}`);
for (const fault of faults) console.error(`fault: ${fault}`);
console.log(faults.length === 0 ? 'Nothing was published.' : `${faults.length} faults; nothing was published.`);
process.exitCode = faults.length === 0 ? 0 : 1;
