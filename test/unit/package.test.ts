import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CLIENT_VERSION } from '../../src/rpc/methods/node-info.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

test('the client version is the version of the package', () => {
  expect(CLIENT_VERSION).toBe(`plumbline/v${manifest.version}`);
});

test('every dependency is pinned exactly', () => {
  const loose = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-nightly\.\d+)?$/.test(version),
  );
  expect(loose).toEqual([]);
});
