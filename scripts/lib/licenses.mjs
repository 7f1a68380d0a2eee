/**
 * licenses.txt: the licences of the packages whose code is in the bundles of a package. Everything else of it imports its
 * dependencies, which come with licences of their own.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const INTRO = `Licences of what is bundled

Scripts of this package that are bundles hold code of the packages below; the source of each is its package of that version on the
npm registry, and at the address that is given. All other modules import their dependencies and hold none of them.
`;

/** Name of the package that a module is of, with the directory it is in; undefined for our own. */
function packageOf(id) {
  const match = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(id.replaceAll('\\', '/'));
  return match === null ? undefined : { directory: match[1], name: match[2] };
}

function licenceText(directory) {
  const file = readdirSync(directory).find((name) => /^licen[cs]e(?:\.\w+)?$/i.test(name));
  return file === undefined ? undefined : readFileSync(`${directory}/${file}`, 'utf8').trim();
}

/**
 * @param moduleIds - of all modules of the bundles
 * @param directory - where licenses.txt is written
 */
export function writeLicenses(moduleIds, directory) {
  const found = new Map();
  for (const id of moduleIds) {
    const of = packageOf(id);
    // Stand-ins have ids of the modules that they stand for.
    if (of === undefined || !existsSync(`${of.directory}/package.json`)) continue;
    found.set(of.directory, of.name);
  }
  const all = [...found].map(([directory, name]) => {
    const { version, license, repository } = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8'));
    if (typeof license !== 'string') throw new Error(`${name} ${version} names no licence`);
    const url = (repository?.url ?? repository ?? '').replace(/^git\+/, '').replace(/\.git$/, '');
    return { name, version, license, url, text: licenceText(directory) };
  });
  // A directory may have gone by several spellings.
  const packages = [...new Map(all.map((one) => [`${one.name} ${one.version}`, one])).values()];
  packages.sort((a, b) => (a.name < b.name ? -1 : 1));
  const texts = new Map();
  for (const { name, license, text } of packages) {
    const own = text ?? packages.find((other) => other.license === license && other.text !== undefined)?.text;
    if (own === undefined) throw new Error(`the licence of ${name} has no text`);
    texts.set(own, [...(texts.get(own) ?? []), name]);
  }
  const list = packages.map(({ name, version, license, url }) => `${name} ${version}: ${license}\n    ${url}\n`);
  const full = [...texts].map(([text, names]) => `${'-'.repeat(80)}\n${names.join(', ')}\n\n${text}\n`);
  writeFileSync(`${directory}/licenses.txt`, [INTRO, list.join(''), ...full].join('\n'));
}
