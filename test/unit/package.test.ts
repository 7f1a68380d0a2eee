import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { generatedModules } from '../../scripts/build-contracts.mjs';
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

test('the committed byte code of contracts is what the pinned compiler makes of their sources', async () => {
  const modules = Object.entries(await generatedModules());
  expect(modules).not.toEqual([]);
  for (const [path, text] of modules) expect(readFileSync(`${root}/${path}`, 'utf8'), path).toBe(text);
});
