import { readdirSync, readFileSync } from 'node:fs';
import { root } from '../packaging/project.js';

/**
 * One fenced block of a document. Where it runs is said by an HTML comment on the line before it:
 *
 *     <!-- run: page -->            TypeScript in a page of Chromium (the default where `plumbline-l2` itself is imported)
 *     <!-- run: node -->            TypeScript in Node (the default elsewhere)
 *     <!-- run: page with proof --> with what set-ups.ts has under that name put before it
 *     <!-- run: continues -->       as one program with the block before it
 *     <!-- run: not, REASON -->     not at all; these are listed and counted
 *
 * Shell blocks run line by line in a project that has the package installed.
 */
export interface Snippet {
  readonly file: string;
  /** Of the fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly how: 'page' | 'node' | 'shell' | 'continues' | 'not';
  /** Names of set-ups, for `not` the reason. */
  readonly with: readonly string[];
}

const LANGUAGES = ['ts', 'tsx', 'js', 'sh'];
/** Of blocks that are no programs. */
const DATA = ['json', 'html', 'text', 'yaml'];
const BLOCK = /^(?:<!-- run: (.+?) -->\n)?```(\w*)\n([\s\S]*?)^```$/gm;

/** The documents that users read: README.md, everything below docs/, and the README of each example. */
export function documents(): string[] {
  const below = readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' });
  const guides = below.filter((name) => name.endsWith('.md') && !name.includes('node_modules'));
  const examples = readdirSync(`${root}/examples`).map((name) => `examples/${name}/README.md`);
  return ['README.md', ...examples, ...guides.map((name) => `docs/${name.replaceAll('\\', '/')}`).sort()];
}

export function snippetsOf(file: string): Snippet[] {
  const text = readFileSync(`${root}/${file}`, 'utf8');
  return [...text.matchAll(BLOCK)].flatMap((match) => {
    const [all, comment, language = '', code = ''] = match;
    const line = text.slice(0, match.index + all.indexOf('```')).split('\n').length;
    if (DATA.includes(language)) return [];
    if (!LANGUAGES.includes(language)) throw new Error(`${file}:${line}: a block in no language that is known`);
    return [{ file, line, language, text: code, ...read(comment, language, code) }];
  });
}

function read(comment: string | undefined, language: string, code: string): Pick<Snippet, 'how' | 'with'> {
  const [, no] = /^not, (.+)$/.exec(comment ?? '') ?? [];
  if (no !== undefined) return { how: 'not', with: [no] };
  const [, said, names] = /^(page|node|shell|continues)?(?: ?with ([\w, ]+))?$/.exec(comment ?? '') ?? [];
  if (comment !== undefined && said === undefined && names === undefined) throw new Error(`what is "${comment}"?`);
  const isOfPage = /from 'plumbline-l2'/.test(code);
  const how = (said as Snippet['how'] | undefined) ?? (language === 'sh' ? 'shell' : isOfPage ? 'page' : 'node');
  return { how, with: names?.split(', ') ?? [] };
}

/** Blocks with those that continue them, as programs. */
export function programs(snippets: readonly Snippet[]): Snippet[] {
  const found: Snippet[] = [];
  for (const snippet of snippets) {
    const at = found.findLastIndex(({ how }) => how === 'page' || how === 'node');
    const last = found[at];
    if (snippet.how !== 'continues') found.push(snippet);
    else if (last === undefined) throw new Error(`${snippet.file}:${snippet.line} continues nothing`);
    else found[at] = { ...last, text: `${last.text}\n${snippet.text}`, with: [...last.with, ...snippet.with] };
  }
  return found;
}
