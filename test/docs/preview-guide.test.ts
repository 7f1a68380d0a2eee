import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from '../packaging/project.js';

const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
const sorted = (found: Iterable<string>) => [...new Set(found)].sort();

/** The codes of a union, from its text. */
function codesOf(file: string, union: RegExp): string[] {
  const [text = ''] = union.exec(read(file)) ?? [];
  const codes = [...text.matchAll(/readonly code: ([^;}]+)/g)].flatMap(([, texts]) => texts!.match(/[\w-]+/g)!);
  expect(codes.length).toBeGreaterThan(5);
  return codes;
}

/** The codes of the rows of a section of the guide. */
function rowsOf(section: RegExp): string[] {
  const [, text = ''] = section.exec(read('docs/guides/preview.md')) ?? [];
  const rows = [...text.matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) \|/gm)].map(([, codes]) => codes!);
  return rows.flatMap((codes) => [...codes.matchAll(/`([\w-]+)`/g)].map(([, code]) => code!));
}

test('the guide to previews puts every warning into words', () => {
  const codes = codesOf('src/preview/preview.ts', /export type PreviewWarning = [\s\S]*?\n\);\n/);
  expect(sorted(rowsOf(/\n## Warnings\n([\s\S]*?)\n## /))).toEqual(sorted(codes));
});

test('and every finding of a signature', () => {
  const codes = codesOf('src/preview/preview.ts', /export type SignatureFinding =[\s\S]*$/);
  expect(sorted(rowsOf(/\n## Before a signature\n([\s\S]*?)\n## /))).toEqual(sorted(codes));
});
