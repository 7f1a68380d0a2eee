import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { root } from '../packaging/project.js';
import { deadLinksOf, faultsOf, filesOf } from './citations.js';

const FOLDERS = ['src', 'assembly', 'test', 'conformance', 'bench', 'demo', 'scripts', 'docs', 'examples'];
/** These two show the old forms. */
const OWN = /^test\/docs\/citations(?:\.test)?\.ts$/;

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'examples'].flatMap((folder) => filesOf(folder, /\.md$/)),
];
const files = [
  ...new Set([...documents, ...FOLDERS.flatMap((folder) => filesOf(folder, /\.(?:[cm]?[jt]s|md|html|css|sol)$/))]),
].filter((file) => !OWN.test(file));

const shown = (file: string, { line, fault }: { line: number; fault: string }) => `${file}:${line}: ${fault}`;

describe('citations of our own documents', () => {
  test('name a file and a section that exist, in one form', () => {
    expect(files.length).toBeGreaterThan(500);
    const text = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
    expect(files.flatMap((file) => faultsOf(text(file)).map((fault) => shown(file, fault)))).toEqual([]);
  });

  test('and links and paths in the documents lead somewhere', () => {
    expect(documents.flatMap((file) => deadLinksOf(file).map((fault) => shown(file, fault)))).toEqual([]);
  });
});

describe('what is found', () => {
  test.each([
    ['a section that is not there', '/** @source docs/spec/hashing.md 12 */', 'docs/spec/hashing.md has no section 12'],
    ['one of several', '// docs/spec/fees.md 2, 5.2 and 99', 'docs/spec/fees.md has no section 99'],
    ['one of a range', '// docs/spec/state-trie.md 13 to 16', 'docs/spec/state-trie.md has no section 15'],
    ['behind the end of a line', '/**\n * See docs/spec/fees.md\n * 77.\n */', 'docs/spec/fees.md has no section 77'],
    ['a decision', '// docs/decisions.md 999', 'docs/decisions.md has no section 999'],
    ['a document', '// docs/spec/consent.md 1', 'docs/spec/consent.md does not exist'],
    ['a guide', '// see docs/guides/nowhere.md', 'docs/guides/nowhere.md does not exist'],
    ['a source without a section', '/** @source docs/spec/fees.md */', '@source names no section of docs/spec/fees.md'],
    ['a repository without a commit', '/** @source go-ethereum, internal/ethapi */', 'OWNER/REPOSITORY@COMMIT PATH'],
    ['the old form', '// spec/fees.md 2', 'spec/fees.md: write'],
    ['a bare name', '// `json-rpc.md` 3', 'json-rpc.md: write'],
    ['the design', '// DESIGN.md 8', 'DESIGN.md: write'],
    ['what lies beside the repository', '// ../shared/spec', 'shared/spec: write'],
  ])('%s', (_, text, fault) => {
    expect(faultsOf(text).map((found) => found.fault)).toContainEqual(expect.stringContaining(fault));
  });

  test.each([
    ['sections', '/** @source docs/spec/fees.md 5.2, steps 1 to 3; docs/spec/json-rpc.md 2.3, 3 and 4.1 */'],
    ['over lines', '/**\n * As (docs/spec/compression.md\n * 9), or docs/spec/state-trie.md 2 to 4.\n */'],
    ['a whole document', '/** Two hash functions, docs/spec/hashing.md. */'],
    [
      'a repository',
      '/**\n * @source ethereum/go-ethereum@02b73d4ea7 internal/ethapi/simulate.go;\n *   docs/decisions.md 3\n */',
    ],
    ['a standard', '/** @source EIP-1186; yellow paper, appendix D */'],
    ['a link', 'as [fees](spec/fees.md) say'],
  ])('%s are fine', (_, text) => {
    expect(faultsOf(text)).toEqual([]);
  });
});
