import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openMaterial } from '../../conformance/area.js';
import { AREAS } from '../../conformance/areas.js';
import { filesBelow, foldersWithout } from '../../conformance/folders.js';
import { OUTSIDE_FIXTURES, OWN_FIXTURES, openFixtures } from '../support/fixtures.js';

const DOCUMENT = new URL('../../docs/fixtures.md', import.meta.url);
const MOST_BYTES = 10 * 2 ** 20;
const present = existsSync(OUTSIDE_FIXTURES);
const [own, outside] = [OWN_FIXTURES, OUTSIDE_FIXTURES].map((directory) => openFixtures([directory]));

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const sumOf = (path: string) => sha256(readFileSync(join(OUTSIDE_FIXTURES, path)));

/** What docs/fixtures.md says: sums by path; of a folder, whose path ends in a slash, the sum of the list of its sums. */
function documented(): [string, string][] {
  const rows = readFileSync(DOCUMENT, 'utf8').matchAll(/^\| `([^`]+)` \| .* \| `([0-9a-f]{64})` \|$/gm);
  return [...rows].map(([, path, sum]) => [path!, sum!]);
}

/** Whether every row of a value is among those of the other, and every member the same or a part. */
function isPart(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part) && Array.isArray(whole)) {
    let from = 0;
    return part.every((row) => {
      const found = whole.findIndex((candidate, i) => i >= from && isPart(row, candidate));
      from = found + 1;
      return found >= 0;
    });
  }
  if (typeof part !== 'object' || typeof whole !== 'object' || part === null || whole === null) return part === whole;
  return Object.entries(part).every(([name, value]) => isPart(value, (whole as Record<string, unknown>)[name]));
}

const same = (a: Uint8Array, b: Uint8Array) => Buffer.from(a).equals(b);

describe('the fixtures of the repository', () => {
  it('take at most 10 MiB', () => {
    const bytes = filesBelow(OWN_FIXTURES).reduce((sum, path) => sum + statSync(join(OWN_FIXTURES, path)).size, 0);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  it.each(AREAS.filter(({ isOutside }) => isOutside !== true).map((area) => [area.name, area] as const))(
    'have cases of each kind: %s',
    (_, area) => {
      expect(area.files(openMaterial([OWN_FIXTURES], 'simd'))).not.toEqual([]);
    },
  );

  it('are packed without a time, so that the same rows are the same bytes', () => {
    for (const path of filesBelow(OWN_FIXTURES).filter((name) => name.endsWith('.gz'))) {
      const header = readFileSync(join(OWN_FIXTURES, path)).subarray(4, 10);
      expect([path, header[0], header[1], header[2], header[3], header[5]]).toEqual([path, 0, 0, 0, 0, 255]);
    }
  });

  it.skipIf(!present)('hold nothing that the file of the same name outside does not hold', () => {
    for (const path of filesBelow(OWN_FIXTURES).filter((name) => outside!.has(name))) {
      if (same(own!.bytes(path), outside!.bytes(path))) continue;
      expect(path).toMatch(/\.json(\.gz)?$/);
      expect([path, isPart(own!.json(path), outside!.json(path))]).toEqual([path, true]);
    }
  });
});

describe('docs/fixtures.md', () => {
  it('names a source and a sum for each of many files', () => {
    expect(documented().length).toBeGreaterThan(150);
  });

  it.skipIf(!present)('gives the sums of the files that are there', () => {
    for (const [path, sum] of documented()) {
      if (!existsSync(join(OUTSIDE_FIXTURES, path))) continue;
      const folder = path.endsWith('/') ? filesBelow(OUTSIDE_FIXTURES, path.slice(0, -1)).sort() : undefined;
      const actual =
        folder === undefined ? sumOf(path) : sha256(folder.map((file) => `${sumOf(file)}  ${file}\n`).join(''));
      expect([path, actual]).toEqual([path, sum]);
    }
  });
});

describe('folders that no area reads', () => {
  it('are named once, at the highest place that no area reads', () => {
    const files = [
      'blocks/a.json',
      'new/b.json',
      'new/deep/c.json',
      'state/getproof/d.json',
      'state/other/e.json',
      'f.json',
    ];
    expect(foldersWithout(files, new Set(['blocks/a.json', 'state/getproof/d.json']))).toEqual(['new', 'state/other']);
    expect(foldersWithout(files, new Set(files))).toEqual([]);
  });
});
