import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { testTokenModule } from '../../scripts/build-contracts.mjs';
import { CLIENT_VERSION } from '../../src/rpc/methods/node-constants.js';

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

test('the committed byte code of the test token is what the pinned compiler makes of its source', async () => {
  const committed = readFileSync(`${root}/src/chain/devnet/state/test-token.generated.ts`, 'utf8');
  expect(await testTokenModule()).toBe(committed);
});
