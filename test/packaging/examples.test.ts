import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { createServer } from 'vite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { serveMock } from '../support/mock-chain.js';
import { devnetLogs } from '../support/mock-shomei-devnet.js';
import { executablePath, launch } from './page.js';
import { type Packed, packPackage, root, run } from './project.js';

/** What the README of the example gives to a user, by the packed package and the exact versions that the example names. */
function exampleProject(packed: Packed, name: string): string {
  const folder = join(root, 'examples', name);
  const files = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]);
  const { dependencies, devDependencies } = manifestOf(name);
  const others = Object.keys({ ...dependencies, ...devDependencies }).filter((other) => other !== 'plumbline-l2');
  return packed.project(`example-${name}`, Object.fromEntries(files) as Record<string, string>, others);
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(root, 'examples', folder, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies?: Readonly<Record<string, string>>;
  };

const npmStart = (project: string, env: Readonly<Record<string, string>> = {}) =>
  run('env', [...Object.entries(env).map((pair) => pair.join('=')), 'npm', 'start', '--silent'], project);

const TRIED = ['devnet-vitest', 'replica', 'rpc-proxy', 'state', 'verifier', 'wallet-ethers', 'wallet-viem'];

test('every example is tried: these here, the extension in test/page/extension.spec.ts, two by `npm run interop`', () => {
  expect(readdirSync(`${root}/examples`).sort()).toEqual([...TRIED, 'extension', 'kohaku', 'snap'].sort());
});

test('the examples name the versions that are tried here', () => {
  for (const example of TRIED) {
    const { dependencies, devDependencies } = manifestOf(example);
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      if (name.startsWith('plumbline-l2')) continue;
      const installed = JSON.parse(readFileSync(`${root}/node_modules/${name}/package.json`, 'utf8'));
      expect(`${example}: ${name} ${version}`).toBe(
        `${example}: ${name} ${(installed as { version: string }).version}`,
      );
    }
  }
});

describe('examples in Node', () => {
  let packed: Packed;
  beforeAll(async () => {
    packed = await packPackage();
  });

  test('verifier: a balance is verified, a forgery is refused', async () => {
    const printed = await npmStart(exampleProject(packed, 'verifier'));
    expect(printed).toMatch(/^verified: 0x\w{40} has 10000000000000000000000 wei at block \d+$/m);
    expect(printed).toMatch(/^a forgery: does not hash to /m);
  });

  test('state: the roots of both blocks, and a change that does not fit', async () => {
    const printed = await npmStart(exampleProject(packed, 'state'));
    // docs/guides/state.md: the same account in block 0.
    expect(printed).toContain('block 0: 0x6b5d2e111a55e55826396df03ac3d0055dc4a88671edbcc8274db3f0117e0f97');
    const [, second] = /^block 1: (0x\w{64})$/m.exec(printed)!;
    expect(printed).toContain('verified: true, balance 100');
    expect(printed).toContain(`STATE_MISMATCH: the root is still ${second}`);
  });

  test('devnet-vitest: its three tests pass', async () => {
    expect(await npmStart(exampleProject(packed, 'devnet-vitest'))).toMatch(/3 passed/);
  });

  test('replica: builds the state of a devnet elsewhere, and proves an account', async () => {
    const store = new MemoryStore();
    const dev = (await createInlineNode({ store })) as PlumblineNode;
    for (let block = 0; block < 4; block++) await dev.request({ method: 'evm_mine' });
    const answer = devnetLogs(store, dev.info.chainId);
    const request = ({ method, params = [] }: { method: string; params?: readonly unknown[] }) =>
      answer(method, params);
    const logs = { ...dev, request } as unknown as PlumblineNode;
    const [l2, l1, trieLogs] = await Promise.all([dev, dev.l1, logs].map((provider) => serveMock(provider)));
    onTestFinished(async () => {
      for (const mock of [l2!, l1!, trieLogs!, dev]) await mock.close();
    });
    const project = exampleProject(packed, 'replica');
    const env = { L2: l2!.url, L1: l1!.url, TRIE_LOGS: trieLogs!.url, ACCOUNT: TEST_TOKEN };
    const printed = await npmStart(project, env);
    const proof = JSON.parse(printed.slice(printed.indexOf('{'))) as unknown;
    const [, block] = [...printed.matchAll(/^block (\d+) of \1$/gm)].at(-1)!;
    const params = [TEST_TOKEN, [], `0x${Number(block).toString(16)}`] as const;
    expect(proof).toEqual(await dev.request({ method: 'linea_getProof', params }));
  });
});

describe.skipIf(executablePath === undefined)('examples in Chromium', () => {
  let packed: Packed;
  let browser: Browser;
  beforeAll(async () => {
    [packed, browser] = await Promise.all([packPackage(), launch()]);
  });
  afterAll(() => browser?.close());

  /** The page of an example, as `npm start` serves it: by vite. */
  async function openExample(name: string): Promise<Page> {
    const project = exampleProject(packed, name);
    const [before] = manifestOf(name).scripts.start!.split(' && ');
    if (before !== 'vite') await run('sh', ['-c', before!], project);
    const server = await createServer({ root: project, logLevel: 'error', server: { port: 0, host: '127.0.0.1' } });
    onTestFinished(() => server.close());
    await server.listen();
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(`http://127.0.0.1:${(server.httpServer!.address() as AddressInfo).port}/`);
    return page;
  }
  const textOf = async (page: Page, selector: string, pattern: RegExp) => {
    await page.locator(selector, { hasText: pattern }).waitFor();
    return page.locator(selector).innerText();
  };

  test('wallet-viem: balance, what changes, and the fee', async () => {
    const page = await openExample('wallet-viem');
    expect(await textOf(page, '#balance', /ETH/)).toBe('10000 ETH (held)');
    await page.getByRole('button').click();
    expect(await textOf(page, '[role=status]', /Costs/)).toMatch(/^Costs at most 0\.0\d+ ETH\. It will succeed\.$/);
    const changes = await page.getByRole('listitem').allInnerTexts();
    expect(changes).toEqual([expect.stringMatching(/: -1\.5\d+ ETH$/), expect.stringMatching(/: 1\.5 ETH$/)]);
  });

  test('wallet-ethers: sends with the fee that was estimated', async () => {
    const page = await openExample('wallet-ethers');
    expect(await textOf(page, '#balance', /ETH/)).toBe('10000.0 ETH');
    await page.getByRole('button').click();
    expect(await textOf(page, '[role=status]', /block/)).toMatch(/^In block 1, for 0\.0\d+ of at most 0\.0\d+ ETH\.$/);
    expect(await textOf(page, '#balance', /9998\.4/)).toMatch(/^9998\.4\d+ ETH$/);
  });

  test('rpc-proxy: a dapp that knows an RPC URL is answered by the service worker', async () => {
    const page = await openExample('rpc-proxy');
    // 59139: the chain id of the devnet. 21000: the gas of a transfer.
    expect(await textOf(page, '[role=status]', /gas/)).toMatch(
      /^Chain 59139; a transfer takes 21000 gas \(computed\)\.$/,
    );
  });
});
