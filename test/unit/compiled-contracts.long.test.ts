import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { generatedModules } from '../../scripts/build-contracts.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the committed byte code of contracts is what the pinned compiler makes of their sources', async () => {
  const modules = Object.entries(await generatedModules());
  expect(modules).not.toEqual([]);
  for (const [path, text] of modules) expect(readFileSync(`${root}/${path}`, 'utf8'), path).toBe(text);
});
