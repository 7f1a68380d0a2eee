import { readdir, readFile } from 'node:fs/promises';
import { join, posix, relative } from 'node:path';

const ATTRIBUTE = /<(?:a|img|link|script|iframe)\b[^>]*?\s(?:href|src)="([^"]*)"/g;
const ID = /\sid="([^"]*)"/g;
const OUTSIDE = /^(?:[a-z]+:|\/\/)/;

const unescaped = (text) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');

/**
 * Links of the pages of a folder to a file or a heading that is not in it. Addresses of other hosts are left out.
 *
 * @param scripted - pages whose anchors are made by their script: those are not looked for
 */
export async function deadLinks(folder, scripted = []) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  const known = new Set(files);
  const texts = new Map();
  for (const page of files.filter((name) => name.endsWith('.html'))) {
    texts.set(page, await readFile(join(folder, page), 'utf8'));
  }
  const ids = new Map([...texts].map(([page, text]) => [page, new Set([...text.matchAll(ID)].map(([, id]) => id))]));

  for (const page of scripted) ids.delete(page);

  /** The file behind an address, as static hosts find it; undefined where there is none. */
  const fileOf = (page, path) => {
    if (path === '') return page;
    const target = posix.join(posix.dirname(page), path).replace(/^\.$/, '');
    return [target, `${target}.html`, posix.join(target, 'index.html')].find((name) => known.has(name));
  };
  const leads = (page, link) => {
    if (link.startsWith('/')) return false;
    const [path, anchor] = unescaped(link).split('#');
    const file = fileOf(page, decodeURIComponent(path.split('?')[0]));
    if (file === undefined) return false;
    return anchor === undefined || anchor === '' || !ids.has(file) || ids.get(file).has(decodeURIComponent(anchor));
  };
  return [...texts].flatMap(([page, text]) =>
    [...text.matchAll(ATTRIBUTE)]
      .map(([, link]) => link)
      .filter((link) => !OUTSIDE.test(link) && !leads(page, link))
      .map((link) => ({ page, link })),
  );
}
