import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PACKAGE, PUBLISHED } from '../../scripts/lib/published.mjs';
import { root } from '../packaging/project.js';
import { documents } from './snippets.js';

const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');

/** What users read of how to get plumbline. */
const ALL = [...documents(), 'SECURITY.md', 'CONTRIBUTING.md'];

/** A command that asks a registry for the package. */
const FROM_NPM =
  /(?:npm (?:i|install)|pnpm add|yarn add|bun add|deno add|npx)(?: [\w@-]+)* (?:npm:)?plumbline-l2(?![-\w/])/;
const FROM_GITHUB = /git clone https:\/\/github\.com\/plumbline-l2|\]\(https:\/\/github\.com\/plumbline-l2/;
const NOT_YET = /not on npm yet/;

const having = (pattern: RegExp) => ALL.filter((file) => pattern.test(read(file)));

test('documents say how to install the package, as scripts/lib/published.mjs decides', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const archive = `npm install ./plumbline-l2-${version}.tgz`;
  if (PUBLISHED.npm) {
    expect(PACKAGE).toBe('plumbline-l2');
    expect(having(FROM_NPM)).toContain('README.md');
    expect(having(NOT_YET)).toEqual([]);
  } else {
    expect(`npm install ${PACKAGE}`).toBe(archive);
    expect(having(FROM_NPM)).toEqual([]);
    expect(having(NOT_YET)).toEqual(['README.md', 'docs/site/pages/index.md']);
    expect(read('README.md')).toContain(archive);
    expect(read('README.md')).toContain('`npm run pack`');
  }
});

test('and lead to GitHub only if the repository is there', () => {
  expect(having(FROM_GITHUB).includes('README.md')).toBe(PUBLISHED.github);
  if (!PUBLISHED.github) expect(having(FROM_GITHUB)).toEqual([]);
});

test('the demo page and the site take the command and the links from there alone', () => {
  const pages = ['demo', 'docs/site', 'docs/play'].flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/node_modules|\.temp/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  expect(pages.filter((file) => FROM_NPM.test(read(file)))).toEqual([]);
  const linking = pages.filter((file) => read(file).includes('github.com/plumbline-l2'));
  expect(linking.sort()).toEqual(['demo/lib/links.ts', 'docs/site/.vitepress/config.ts', 'docs/site/stage/links.ts']);
  for (const file of linking) expect(read(file), file).toMatch(/PUBLISHED\.github/);
});

test('what is found', () => {
  for (const text of [
    'npm install plumbline-l2',
    'pnpm add -D plumbline-l2',
    'deno add npm:plumbline-l2',
    'npx plumbline-l2 x',
  ]) {
    expect(text).toMatch(FROM_NPM);
  }
  expect('npm install ./plumbline-l2-0.1.0.tgz').not.toMatch(FROM_NPM);
});
