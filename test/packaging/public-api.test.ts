import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from './project.js';
import { publicApi } from './public-api.js';

// After a change that is meant: `npx vitest run test/packaging/public-api.test.ts -u`, and read the difference.
test('the public API is that of public-api.txt', async () => {
  const types: Record<string, string> = {};
  for (const folder of ['.', 'cli']) {
    const { name, exports } = JSON.parse(readFileSync(`${root}/${folder}/package.json`, 'utf8')) as {
      name: string;
      exports: Record<string, string | { types: string }>;
    };
    for (const [entry, target] of Object.entries(exports)) {
      if (typeof target === 'string') continue;
      const file = folder === 'cli' ? 'hosts/cli/server.d.ts' : target.types.slice('./dist/'.length);
      types[`${name}${entry.slice(1)}`] = `${root}/build/types/${file}`;
    }
  }
  // Without a file, its names would be missing.
  expect(Object.values(types).filter((file) => !existsSync(file))).toEqual([]);
  await expect(publicApi(types)).toMatchFileSnapshot('public-api.txt');
});
