import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Directory of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** Where the pages are written that the generator reads. */
export const staged = `${root}/build/site-pages`;

/** Documents with other names on the site. */
const RENAMED: Readonly<Record<string, string>> = {
  'README.md': 'overview.md',
  'CHANGELOG.md': 'changes.md',
  'SECURITY.md': 'reporting.md',
  'ARCHITECTURE.md': 'architecture.md',
  'CONTRIBUTING.md': 'contributing.md',
};

/** Each document of the repository that becomes a page, with the path of the page. */
export function pages(): ReadonlyMap<string, string> {
  const below = (folder: string) =>
    readdirSync(`${root}/${folder}`)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `${folder}/${name}`);
  const docs = ['docs', 'docs/guides', 'docs/spec'].flatMap(below);
  const examples = readdirSync(`${root}/examples`)
    .filter((name) => existsSync(`${root}/examples/${name}/README.md`))
    .map((name) => [`examples/${name}/README.md`, `examples/${name}.md`] as const);
  return new Map([
    ...docs.map((file) => [file, file.slice('docs/'.length)] as const),
    ...Object.entries(RENAMED),
    ...examples,
  ]);
}
