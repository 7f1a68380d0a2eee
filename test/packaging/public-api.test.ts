import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from './project.js';
import { publicApi } from './public-api.js';

// After a change that is meant: `npx vitest run test/packaging/public-api.test.ts -u`, and read the difference.
test('the public API is that of public-api.txt', async () => {
  const { exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
    exports: Record<string, string | { types: string }>;
  };
  const types: Record<string, string> = {};
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target !== 'string') types[`plumbline-l2${entry.slice(1)}`] = `${root}/${target.types.slice(2)}`;
  }
  // Without a file, its names would be missing.
  expect(Object.values(types).filter((file) => !existsSync(file))).toEqual([]);
  await expect(publicApi(types)).toMatchFileSnapshot('public-api.txt');
});
