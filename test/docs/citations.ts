import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { root } from '../packaging/project.js';

/*
 * Citations of our own documents. There is one form: `docs/spec/NAME.md SECTION` and `docs/decisions.md NUMBER`, with more
 * sections after commas, `and` and `to`. A comment may break the line within one.
 */

/** Something that is wrong with a reference, and where. */
export interface Fault {
  readonly line: number;
  readonly fault: string;
}

/** White space, also over the end of a line of a comment. */
const GAP = '(?:[ \\t]|\\r?\\n[ \\t]*(?:\\*(?!/)|//|#)?)+';
const NUMBER = '\\d+(?:\\.\\d+)*(?![\\w-])';
const LIST = `${NUMBER}(?:(?:,${GAP}(?:and${GAP})?|${GAP}(?:and|to)${GAP})${NUMBER})*`;
/** A path within an address of another repository is no citation. */
const CITATION = new RegExp(`(?<![\\w/])docs/([\\w/-]+\\.md)(?:${GAP}(${LIST}))?`, 'g');
const NUMBERED = /^#{2,4} (\d+(?:\.\d+)*)\.? /gm;

/** Names of documents that are gone, or stand without their folder. A relative link is no citation. */
const OLD_FORMS =
  /(?<!docs\/|\]\()\bspec\/[\w-]+\.md|\b(?:DESIGN|STYLE|TOOLCHAIN)\.md|shared\/spec\b|(?<![\w/(-])(?:hashing|state-trie|compression|fees|json-rpc|interface|decisions)\.md/g;

/** From `@source` to the next tag, an empty line, or the end of the comment. */
const SOURCE = /@source[\s\S]*?(?=\*\/|\n[ \t]*\*?[ \t]*(?:\n|@\w)|$)/g;
const REPOSITORY = /\b(?:go-ethereum|execution-apis|linea-monorepo|besu|geth|shomei|gnark|helios)\b/i;
const PINNED = /\b[\w.-]+\/[\w.-]+@(?:[0-9a-f]{7,40}|v\d+\.\d+\.\d+)[\s*]+[\w.-]+/;

const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
const lineOf = (text: string, index: number) => text.slice(0, index).split('\n').length;

const sections = new Map<string, ReadonlySet<string> | undefined>();

/** Numbers of a document's headings; undefined for a document that is not there. */
function sectionsOf(file: string): ReadonlySet<string> | undefined {
  if (!sections.has(file)) {
    const numbers = existsSync(`${root}/${file}`)
      ? [...read(file).matchAll(NUMBERED)].map(([, number]) => number!)
      : [];
    sections.set(file, existsSync(`${root}/${file}`) ? new Set(numbers) : undefined);
  }
  return sections.get(file);
}

/** The numbers of a list, those of `2 to 5` one by one. */
function numbersOf(list: string): string[] {
  const ranges = list.matchAll(new RegExp(`(${NUMBER})(?:${GAP}to${GAP}(${NUMBER}))?`, 'g'));
  return [...ranges].flatMap(([, from, to]) => {
    if (to === undefined || !/^\d+$/.test(`${from}${to}`)) return to === undefined ? [from!] : [from!, to];
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => String(Number(from) + i));
  });
}

/** What is wrong with the citations of a text. */
export function faultsOf(text: string): Fault[] {
  const faults: Fault[] = [];
  const add = (index: number, fault: string) => faults.push({ line: lineOf(text, index), fault });
  for (const { index, 0: form } of text.matchAll(OLD_FORMS))
    add(index, `${form}: write docs/spec/NAME.md or docs/decisions.md`);
  for (const { index, 1: name, 2: list } of text.matchAll(CITATION)) {
    const file = `docs/${name}`;
    const known = sectionsOf(file);
    if (known === undefined) add(index, `${file} does not exist`);
    else if (list !== undefined && /^(?:spec\/|decisions)/.test(name!)) {
      for (const number of numbersOf(list)) if (!known.has(number)) add(index, `${file} has no section ${number}`);
    }
  }
  for (const { index, 0: source } of text.matchAll(SOURCE)) {
    for (const { 0: citation, 1: name, 2: list } of source.matchAll(CITATION)) {
      if (list === undefined) add(index, `${citation}: @source names no section of docs/${name}`);
    }
    const pinned = source.replace(CITATION, '');
    if (REPOSITORY.test(pinned) && !PINNED.test(pinned)) add(index, '@source: write OWNER/REPOSITORY@COMMIT PATH');
  }
  return faults;
}

const LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([\w-]+))?\)/g;
const PATH = /`((?:src|assembly|test|conformance|bench|demo|scripts|docs|examples)\/[\w./-]+)`/g;
const folders = readdirSync(`${root}/src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
/** A file of `src` by its path there, such as `chain/chain.ts`. */
const PATH_IN_SRC = new RegExp(`\`((?:${folders.map(({ name }) => name).join('|')})/[\\w./-]+\\.ts)\``, 'g');
/** A file by its name alone. Only our own two documents name no files of users so. */
const BARE = /`([\w-]+\.ts)`/g;
const OF_OUR_OWN = /^(?:ARCHITECTURE|CONTRIBUTING)\.md$/;
let names: ReadonlySet<string> | undefined;
const namesOfFiles = () =>
  (names ??= new Set(
    ['src', 'assembly', 'test', 'demo', 'scripts'].flatMap((folder) =>
      filesOf(folder, /\.ts$/).map((path) => path.slice(path.lastIndexOf('/') + 1)),
    ),
  ));
const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** Links of a document that lead nowhere, and paths that it names and that are not there. */
export function deadLinksOf(file: string): Fault[] {
  const text = read(file);
  const faults: Fault[] = [];
  for (const { index, 1: target, 2: anchor } of text.matchAll(LINK)) {
    const to = target === '' ? file : join(dirname(file), target!);
    const headings = () => [...read(to).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => slug(heading!));
    if (!existsSync(`${root}/${to}`)) faults.push({ line: lineOf(text, index), fault: `${to} does not exist` });
    else if (anchor !== undefined && !headings().includes(anchor))
      faults.push({ line: lineOf(text, index), fault: `${to} has no heading #${anchor}` });
  }
  for (const { index, 1: path } of text.matchAll(PATH)) {
    // A path of another repository, whose commit follows.
    if (/^` @ [0-9a-f]{7,40}\b/.test(text.slice(index + path!.length + 1))) continue;
    const isThere = [path!, join(dirname(file), path!)].some((one) => existsSync(`${root}/${one}`));
    // What the build makes may not be there yet.
    if (!isThere && !path!.includes('.generated.'))
      faults.push({ line: lineOf(text, index), fault: `${path} does not exist` });
  }
  for (const { index, 1: path } of text.matchAll(PATH_IN_SRC))
    if (!existsSync(`${root}/src/${path}`))
      faults.push({ line: lineOf(text, index), fault: `src/${path} does not exist` });
  if (!OF_OUR_OWN.test(file)) return faults;
  for (const { index, 1: name } of text.matchAll(BARE))
    if (!namesOfFiles().has(name!)) faults.push({ line: lineOf(text, index), fault: `no file is called ${name}` });
  return faults;
}

/** Files of a folder and those below it, by their ends, without what is installed or built. */
export function filesOf(folder: string, ends: RegExp): string[] {
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => ends.test(name) && !/\/(?:node_modules|dist|build)\//.test(name));
}
