import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';
import { PUBLISHED } from '../../../scripts/lib/published.mjs';
import { root } from './places.js';
import { slugOf } from './slug.js';

const REPOSITORY = 'https://github.com/plumbline-l2/plumbline';

/** Code, in which nothing is a link: fenced blocks and spans. */
const CODE = /^```[\s\S]*?^```$|`[^`\n]+`/gm;
/** Code, or a link with its words, which may be code. */
const LINK = /^```[\s\S]*?^```$|`[^`\n]+`|\[((?:`[^`\n]+`|[^[\]`])*)\]\((?!https?:|mailto:|#)([^)\s#]*)(#[^)\s]*)?\)/gm;
/** A citation of a document by its path, with its first section. */
const CITATION = /(?<![\w/[(])docs\/((?:spec\/|guides\/)?[\w-]+\.md)(?:[ \n](\d+(?:\.\d+)*)(?!\w))?(?!\])/g;

/** Replaces in the prose of a document, and leaves its code as it is. */
function inProse(text: string, replace: (prose: string) => string): string {
  let end = 0;
  let result = '';
  for (const { index, 0: code } of text.matchAll(CODE)) {
    result += replace(text.slice(end, index)) + code;
    end = index + code.length;
  }
  return result + replace(text.slice(end));
}

function anchorOf(file: string, section: string): string {
  const text = readFileSync(`${root}/${file}`, 'utf8');
  const found = text.match(new RegExp(`^#{2,4} (${section.replaceAll('.', '\\.')}[. ].*)$`, 'm'));
  return found === null ? '' : `#${slugOf(found[1]!)}`;
}

/**
 * A document with links that lead to pages of the site, and for what is no page to the repository, or nowhere while that is not published. Citations such as
 * `docs/spec/fees.md 2` become links.
 *
 * @param file - path in the repository
 * @param pages - path of the page by the path of its document
 */
export function withLinks(text: string, file: string, pages: ReadonlyMap<string, string>): string {
  const from = dirname(pages.get(file)!);
  const toPage = (page: string) => {
    const path = relative(from, page);
    return path.startsWith('.') ? path : `./${path}`;
  };
  /** undefined for what is nowhere but in a clone. */
  const addressOf = (target: string, anchor: string): string | undefined => {
    const page = pages.get(target);
    if (page !== undefined) return toPage(page) + anchor;
    if (!existsSync(`${root}/${target}`)) throw new Error(`${file}: ${target} is not there`);
    if (!PUBLISHED.github) return undefined;
    const kind = statSync(`${root}/${target}`).isDirectory() ? 'tree' : 'blob';
    return `${REPOSITORY}/${kind}/main/${target}${anchor}`;
  };
  const linked = text.replace(LINK, (whole: string, words?: string, path = '', anchor = '') => {
    if (words === undefined) return whole;
    const address = addressOf(join(dirname(file), path), anchor);
    return address === undefined ? words : `[${words}](${address})`;
  });
  return inProse(linked, (prose) =>
    prose.replace(CITATION, (shown: string, name: string, section?: string) => {
      const target = `docs/${name}`;
      return `[${shown}](${addressOf(target, section === undefined ? '' : anchorOf(target, section))})`;
    }),
  );
}
