import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from '../packaging/project.js';

const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
const sorted = (found: Iterable<string>) => [...new Set(found)].sort();

test('the guide to previews puts every warning into words', () => {
  const [, union = ''] = /export type PreviewWarning =\n([\s\S]*?);\n\n/.exec(read('src/preview/preview.ts')) ?? [];
  const codes = [...union.matchAll(/readonly code: ([^;}]+)/g)].flatMap(([, texts]) => texts!.match(/[\w-]+/g)!);
  const [, section = ''] = /\n## Warnings\n([\s\S]*?)\n## /.exec(read('docs/guides/preview.md')) ?? [];
  const rows = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, code]) => code!);
  expect(codes.length).toBeGreaterThan(5);
  expect(sorted(rows)).toEqual(sorted(codes));
});
