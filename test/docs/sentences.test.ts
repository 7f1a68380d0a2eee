import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from '../packaging/project.js';

/** A sentence of a guide has fewer words. */
const MOST_WORDS = 40;

/** Paragraphs, items of lists and cells of tables, without code, comments and headings. */
function passages(markdown: string): string[] {
  const text = markdown.replace(/```[\s\S]*?```/g, '\n\n').replace(/<!--[\s\S]*?-->/g, '');
  return text
    .split(/\n\s*\n/)
    .flatMap((part) => part.split(/\n(?=\s*(?:[-*]|\d+\.)\s)/))
    .flatMap((part) => (/^\s*\|/.test(part) ? part.split('|') : [part.replace(/^#+ .*$/gm, '')]))
    .map((part) => part.replace(/`[^`]*`/g, 'code').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
}

const sentences = (markdown: string): string[] =>
  passages(markdown).flatMap((passage) => passage.split(/(?<=[.!?:])\s+(?=["“(]?[A-Z0-9]|code)/));

const words = (sentence: string): number => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;

const GUIDES = readdirSync(`${root}/docs/guides`).map((name) => `docs/guides/${name}`);

test.each([...GUIDES, 'README.md'])('sentences of %s have fewer than 40 words', (file) => {
  const found = sentences(readFileSync(`${root}/${file}`, 'utf8'));
  expect(found.length).toBeGreaterThan(10);
  expect(found.filter((sentence) => words(sentence) >= MOST_WORDS)).toEqual([]);
});

test('a sentence of 40 words is found, also in a cell and in an item', () => {
  const long = Array.from({ length: MOST_WORDS }, (_, i) => `word${i}`).join(' ');
  const text = `# A title\n\nA short one. ${long}.\n\n- ${long}\n\n| a | ${long} |\n|---|---|\n`;
  expect(sentences(text).filter((sentence) => words(sentence) >= MOST_WORDS)).toHaveLength(3);
});
