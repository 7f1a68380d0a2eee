import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withLinks } from '../../docs/site/stage/links.js';
import { methodPages, openRpcOfAll } from '../../docs/site/stage/method-pages.js';
import { pages } from '../../docs/site/stage/places.js';
import { runnablesOf, withRunButtons } from '../../docs/site/stage/runnable.js';
import { slugOf } from '../../docs/site/stage/slug.js';
import { PUBLISHED } from '../../scripts/lib/published.mjs';
import { deadLinks } from '../../scripts/lib/site-links.mjs';
import { root } from '../packaging/project.js';
import { documents } from './snippets.js';

// Without its types, which do not compile here.
const { validateOpenRPCDocument } = createRequire(import.meta.url)('@open-rpc/schema-utils-js') as {
  validateOpenRPCDocument(document: object): true | Error;
};

/* What becomes of the documents on the site. test/slow/site.test.ts builds the site and reads it in Chromium. */

/** These are pages of the site as they are. */
const OWN = /^docs\/site\//;

test('every document that users read becomes a page of its own', () => {
  const all = pages();
  expect(documents().filter((file) => !OWN.test(file) && !all.has(file))).toEqual([]);
  expect(new Set(all.values()).size).toBe(all.size);
});

test('each method of docs/methods.md has a page, and the document that describes them all is one of OpenRPC', () => {
  const names = [...readFileSync(`${root}/docs/methods.md`, 'utf8').matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
  const own = names.filter((name) => !name.startsWith('l2_'));
  expect([...methodPages().keys()].sort()).toEqual(own.map((name) => `methods/${name.replace('.', '_')}.md`).sort());
  expect(validateOpenRPCDocument(openRpcOfAll())).toBe(true);
});

const inDocs = ['docs/guides/wallet.md', 'docs/security.md', 'docs/spec/fees.md'];
const PAGES = new Map([
  ['README.md', 'overview.md'],
  ...inDocs.map((file) => [file, file.slice('docs/'.length)] as const),
]);

test.each([
  ['to a document', 'README.md', '[a](docs/guides/wallet.md#with-viem)', '[a](./guides/wallet.md#with-viem)'],
  ['up', 'docs/guides/wallet.md', '[a](../security.md)', '[a](../security.md)'],
  ['within the page', 'README.md', '[a](#try-it)', '[a](#try-it)'],
  ['to another host', 'README.md', '[a](https://eips.ethereum.org/)', '[a](https://eips.ethereum.org/)'],
  [
    'to what is no page',
    'README.md',
    '[a](examples/extension)',
    // While there is no repository to lead to, the words alone.
    PUBLISHED.github ? '[a](https://github.com/plumbline-l2/plumbline/tree/main/examples/extension)' : 'a',
  ],
  ['with code for words', 'README.md', '[`a`](docs/security.md)', '[`a`](./security.md)'],
  ['of a citation', 'docs/guides/wallet.md', 'see docs/security.md.', 'see [docs/security.md](../security.md).'],
  ['in code', 'README.md', '`[a](docs/guides/wallet.md)`', '`[a](docs/guides/wallet.md)`'],
])('a link %s', (_, file, text, wanted) => {
  expect(withLinks(text, file, PAGES)).toBe(wanted);
});

test('a citation with a section leads to its heading', () => {
  const text = withLinks('docs/spec/fees.md 2', 'README.md', PAGES);
  expect(text).toMatch(/^\[docs\/spec\/fees\.md 2\]\(\.\/spec\/fees\.md#2-[\w-]+\)$/);
});

test('a link to what is not there is an error', () => {
  expect(() => withLinks('[a](docs/nowhere.txt)', 'README.md', PAGES)).toThrow('docs/nowhere.txt is not there');
});

// The anchors that GitHub gives these headings.
test.each([
  ['Will it be included?', 'will-it-be-included'],
  ['Layer 1 and its beacon chain', 'layer-1-and-its-beacon-chain'],
  ['5.2 Gas: `besu`', '52-gas-besu'],
])('the anchor of "%s"', (heading, anchor) => {
  expect(slugOf(heading)).toBe(anchor);
});

const BLOCKS = `# Title

\`\`\`ts
const one = 1;
\`\`\`

<!-- run: continues -->
\`\`\`ts
console.log(one);
\`\`\`
`;

test('a snippet gets a button on the line of its fence', () => {
  const runnable = { id: 'x-1', heading: 'Title', code: '' };
  const text = withRunButtons(BLOCKS, new Map([[8, runnable]]));
  expect(text).toContain('\n```ts\nconsole.log(one);\n```\n\n<RunnableCode id="x-1" />\n');
  expect(text.match(/<RunnableCode/g)).toHaveLength(1);
});

test('a block that continues another is run with it', () => {
  const file = 'docs/guides/storage.md';
  const [first, second] = [...runnablesOf(file, 'guides/storage.md', '').values()];
  expect(first!.id).toBe('guides/storage-1');
  expect(second!.code.startsWith(first!.code)).toBe(true);
});

test('links that lead nowhere are found in the pages', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-links-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'deep'));
  writeFileSync(join(folder, 'index.html'), '<h1 id="top"></h1><a href="./deep/">a</a><a href="#none">b</a>');
  writeFileSync(
    join(folder, 'deep/index.html'),
    '<a href="../index.html#top">a</a><a class="x" href="../gone.html">b</a><img src="./gone.png"><a href="https://a.example/">c</a>',
  );
  const found = await deadLinks(folder);
  expect(found.map(({ page, link }) => `${page} ${link}`).sort()).toEqual([
    'deep/index.html ../gone.html',
    'deep/index.html ./gone.png',
    'index.html #none',
  ]);
});
