import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { askExtension, openExtension } from '../support/extension-scene.js';
import { call, type Options, post, register, TOKEN, TRANSFER } from '../support/proxy-scene.js';
import { openSite, type SiteLibrary } from '../support/proxy-site.js';
import { openSettledEndpoints, type SettledEndpoints } from '../support/settled-endpoints.js';
import { stopWorkers } from '../support/stop-workers.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SETTLED = ['eth_getBalance', [TRANSFER.from, 'finalized']] as const;
/** Where the build writes down which modules are in a script of the worker. */
const CHUNKS = JSON.parse(readFileSync(`${root}build/worker-chunks.json`, 'utf8')) as {
  readonly fileName: string;
  readonly modules: readonly string[];
}[];
/** Scripts with what judges the consensus of layer 1. */
const VERIFYING = CHUNKS.filter(({ modules }) =>
  modules.some((module) => /\/(layer-one-follower|bls12-381)\.js$/.test(module)),
).map(({ fileName }) => `/dist/${fileName}`);
const verifying = (paths: readonly string[]) => paths.filter((path) => VERIFYING.includes(path));

let endpoints: SettledEndpoints;
test.beforeEach(async () => {
  endpoints = await openSettledEndpoints();
});
test.afterEach(() => endpoints.close());

/** The balance after the newest block that is settled. */
const want = () => endpoints.dev.request({ method: 'eth_getBalance', params: [TRANSFER.from, '0x5'] });

test('a service worker reads at level settled, and says so, with what it has from its installation', async ({
  context,
}) => {
  const site = await openSite();
  const page = await context.newPage();
  await page.goto(site.origin);
  const { chain, endpoint, beacon } = endpoints;
  await register(page, { urls: [endpoint.url], chain } as unknown as Options);
  // No script comes from the site any more.
  await site.close();
  expect(await post(page, endpoint.url, call('eth_getBalance', [TRANSFER.from, 'latest']))).toMatchObject({
    classes: 'proved',
    levels: 'plain',
  });
  expect(beacon.seen).toEqual([]);
  const settled = { classes: 'proved', levels: 'settled', json: { result: await want() } };
  expect(await post(page, endpoint.url, call(...SETTLED))).toMatchObject(settled);
  expect(beacon.seen.length).toBeGreaterThan(0);
  for (let stop = 0; stop < 2; stop++) {
    await stopWorkers(context, page);
    expect(await post(page, endpoint.url, call(...SETTLED))).toMatchObject(settled);
  }
  const batch = [call('eth_chainId'), call(...SETTLED), call('eth_getWork'), call('eth_gasPrice')];
  expect(await post(page, endpoint.url, batch)).toMatchObject({
    classes: 'held, proved, forwarded, computed',
    levels: 'none, settled, none, plain',
  });
});

test('in a service worker, what a beacon server makes up is an error', async ({ context }) => {
  const site = await openSite();
  try {
    const page = await context.newPage();
    await page.goto(site.origin);
    const { chain, endpoint, beacon } = endpoints;
    await register(page, { urls: [endpoint.url], chain } as unknown as Options);
    beacon.tamper = (path, answer) => {
      if (!path.endsWith('/finality_update')) return answer;
      const { data } = answer.body as { data: { finalized_header: { execution: { state_root: string } } } };
      data.finalized_header.execution.state_root = `0x${'12'.repeat(32)}`;
      return answer;
    };
    expect(await post(page, endpoint.url, call(...SETTLED))).toMatchObject({
      classes: 'error',
      levels: 'none',
      json: { error: { code: -32000, message: /FINALIZED_EXECUTION_BRANCH/ } },
    });
  } finally {
    await site.close();
  }
});

test('a worker loads what judges the consensus with the first settled read', async ({ context }) => {
  const site = await openSite();
  try {
    const scripts: string[] = [];
    context.on('request', (request) => scripts.push(new URL(request.url()).pathname));
    const page = await context.newPage();
    await page.goto(site.origin);
    const ask = (block: string) =>
      page.evaluate(
        async ([chain, address, tag]) => {
          const { plumbline } = (globalThis as unknown as { lib: SiteLibrary }).lib;
          const held = globalThis as unknown as { node?: ReturnType<typeof plumbline.createNode> };
          const worker = () => new Worker('/dist/hosts/worker/worker.js', { type: 'module' });
          held.node ??= plumbline.createNode({ worker: worker(), chain: chain as never });
          const node = await held.node;
          let report: AnswerReport | undefined;
          node.on('answer', (answered) => {
            report = answered;
          });
          const balance = await node.request<UntypedMethod>({ method: 'eth_getBalance', params: [address, tag] });
          return { balance, level: report?.level, blocks: report?.blocks.map(({ number }) => number) };
        },
        [endpoints.chain, TRANSFER.from, block] as const,
      );
    expect(await ask('latest')).toMatchObject({ level: 'plain', blocks: [8] });
    expect(scripts.filter((path) => path.startsWith('/dist/hosts/'))).not.toEqual([]);
    expect(verifying(scripts)).toEqual([]);
    expect(await ask('finalized')).toEqual({ balance: await want(), level: 'settled', blocks: [5] });
    expect(verifying(scripts)).not.toEqual([]);
  } finally {
    await site.close();
  }
});

test('the background worker of an extension proves at level settled, also after it ended', async () => {
  const folder = `${root}build/extension-settled`;
  await mkdir(folder, { recursive: true });
  // The example with a light node in the place of its devnet, and the reports of its answers.
  const inline = `${folder}/inline.js`;
  await writeFile(
    inline,
    `import { createInlineNode as open } from ${JSON.stringify(`${root}dist/hosts/opening/inline.js`)};
    import { devnet } from ${JSON.stringify(`${root}dist/networks/devnet.js`)};
    globalThis.reports = [];
    export async function createInlineNode() {
      const chain = { ...${JSON.stringify({ ...endpoints.chain, network: undefined })}, network: devnet() };
      const node = await open({ chain, storeName: 'plumbline-extension-settled' });
      node.on('answer', (report) => reports.push(report));
      return node;
    }`,
  );
  const scene = await openExtension('extension-settled/dist', inline);
  try {
    const page = await scene.popup();
    const proof = await endpoints.dev.request({ method: 'linea_getProof', params: [TOKEN, ['0x2'], '0x6'] });
    for (const stored of [false, true]) {
      if (stored) await stopWorkers(scene.context, page);
      expect((await askExtension(page, 'linea_getProof', [TOKEN, ['0x2'], 'finalized'])).result).toEqual(proof);
      const background = scene.context.serviceWorkers().at(-1)!;
      const reports = await background.evaluate(() => (globalThis as unknown as { reports: AnswerReport[] }).reports);
      expect(reports.at(-1)).toMatchObject({ method: 'linea_getProof', level: 'settled', zkBlock: 6 });
    }
  } finally {
    await scene.close();
  }
});
