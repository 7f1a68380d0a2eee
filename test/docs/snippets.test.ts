import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { linea } from '../../src/networks/linea.js';
import { executablePath, launch, outcomeOf, type StaticServer, serveFiles } from '../packaging/page.js';
import { bin, type Packed, packPackage, root, run } from '../packaging/project.js';
import { withBlocksByHash } from '../support/blocks-by-hash.js';
import { KeptStore } from '../support/dev-node.js';
import { serveBeacon } from '../support/mock-beacon.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { devnetLogs } from '../support/mock-shomei-devnet.js';
import { openMockUpstream } from '../support/mock-upstream.js';
import { docExamples } from './doc-examples.js';
import { SET_UPS } from './set-ups.js';
import { documents, programs, type Snippet, snippetsOf } from './snippets.js';

/** Snippets that no set-up can run, each with its reason on the line before it. More of them is a step back. */
const NOT_RUN = 4;

/** Examples of comments. Those that need no page are only type-checked here; doc-examples.test.ts runs them. */
const examples = docExamples().flatMap(({ snippet }) => snippet ?? []);
const all = [
  ...documents().flatMap((file) => programs(snippetsOf(file))),
  ...examples.filter(({ how }) => how === 'page'),
];
const of = (how: Snippet['how']): Snippet[] => all.filter((snippet) => snippet.how === how);
const nameOf = ({ file, line }: Snippet): string => `${file}:${line}`;
const sourceOf = (snippet: Snippet): string => `${moduleOf(snippet)}.${snippet.language === 'tsx' ? 'tsx' : 'ts'}`;
const moduleOf = (snippet: Snippet): string => nameOf(snippet).replace(/\W/g, '-');

/** Where what the documents call `https://….example` is while the tests run. */
class Endpoints {
  private readonly mocks = new Map<string, Pick<MockEndpoint, 'url' | 'close'>>();
  private readonly chains: PlumblineNode[] = [];

  /** A chain with the profile of Linea, and a small one with its trie logs; their layer 1; endpoints that are not trusted. */
  async open(): Promise<void> {
    const chain = await createInlineNode({
      chain: { kind: 'devnet', network: linea },
      dictionary: { kind: 'general' },
    });
    for (const name of ['first', 'second']) this.mocks.set(name, await serveMock(chain));
    this.mocks.set('layer-one', await serveMock(chain.l1));
    for (const name of ['beacon', 'second-beacon']) this.mocks.set(name, await serveBeacon(chain));
    const store = new KeptStore();
    const small = await createInlineNode({ store });
    this.mocks.set('small-network', await serveMock(small));
    this.mocks.set('small-layer-one', await serveMock(withBlocksByHash(small.l1)));
    this.mocks.set('trie-logs', await openMockUpstream({ handler: devnetLogs(store, small.info.chainId) }));
    this.chains.push(chain, small);
  }

  /** @throws Error for a host that none of these stand for */
  replace(text: string): string {
    return text.replace(/https:\/\/([\w-]+)\.example(?=[/'"`\s]|$)/g, (_, name: string) => {
      const mock = this.mocks.get(name);
      if (mock === undefined) throw new Error(`nothing stands for ${name}.example`);
      return new URL(mock.url).origin;
    });
  }

  async close(): Promise<void> {
    for (const mock of this.mocks.values()) await mock.close();
    for (const chain of this.chains) await chain.close();
  }
}

/** Refuses what leaves this machine. */
const GUARD = `const plain = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : input);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') throw new TypeError('a test asked ' + hostname);
  return plain(input, init);
};
`;

/** Packages that snippets import, and what they are typed by. */
const LINKED = [
  'viem',
  'ethers',
  'wagmi',
  'react',
  'react-dom',
  ...['node', 'react', 'react-dom'].map((name) => `@types/${name}`),
];

const TYPES = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    jsx: 'react-jsx',
  },
  include: ['*.ts', '*.tsx'],
};

describe('snippets of the documents', () => {
  const endpoints = new Endpoints();
  let packed: Packed;
  let project: string;
  let browser: Browser | undefined;
  let server: StaticServer;
  /** Of the proof in answer.json. */
  let provedRoot: string;

  beforeAll(async () => {
    [packed] = await Promise.all([packPackage(), endpoints.open()]);
    const text = (snippet: Snippet) =>
      [
        ...snippet.with.map((name) => SET_UPS[name] ?? `no set-up ${name}`),
        endpoints.replace(snippet.text),
        'export {};',
      ].join('\n');
    const modules = [...of('page'), ...of('node'), ...examples];
    const files = {
      ...Object.fromEntries(modules.map((snippet) => [sourceOf(snippet), text(snippet)])),
      'tsconfig.json': JSON.stringify(TYPES),
      'guard.mjs': GUARD,
    };
    project = packed.project('snippets', files, ['plumbline-l2-cli']);
    for (const name of LINKED) {
      const link = join(project, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), link, 'dir');
    }
    const entries = (snippets: readonly Snippet[]) => snippets.map(sourceOf);
    const common = ['--format=esm', '--target=es2022', '--jsx=automatic', '--log-level=error'];
    await run(bin('esbuild'), [...entries(of('node')), ...common, '--outdir=node'], project);
    await run(
      bin('esbuild'),
      [
        ...entries(of('page')),
        'worker=plumbline-l2/worker',
        'worker-devnet=plumbline-l2/worker-devnet',
        ...common,
        '--bundle',
        '--splitting',
        '--outdir=page',
      ],
      project,
    );
    for (const name of of('page').map(moduleOf)) {
      const script = `import('./${name}.js').then(() => { window.outcome = 'done'; }, (error) => { window.outcome = String(error); });`;
      writeFileSync(
        join(project, `page/${name}.html`),
        `<!doctype html><title>${name}</title><div id="app"></div><script type="module">${script}</script>`,
      );
    }
    const dist = join(project, 'node_modules/plumbline-l2/dist');
    for (const file of readdirSync(dist)) {
      if (/^service-worker.*\.js$/.test(file)) cpSync(join(dist, file), join(project, 'page', file));
    }
    provedRoot = await writeShellFiles(project);
    server = await serveFiles(join(project, 'page'));
    if (executablePath !== undefined) browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await endpoints.close();
  });

  test('are found in the documents, of each kind', () => {
    expect(of('page').length).toBeGreaterThan(3);
    expect(of('node').length).toBeGreaterThan(3);
    expect(of('shell').length).toBeGreaterThan(1);
  });

  test('at most four do not run, and each says why; test/packaging/examples.test.ts runs the examples', () => {
    const left = of('not').filter(({ file }) => !file.startsWith('examples/'));
    for (const snippet of left) console.warn(`not run: ${nameOf(snippet)}: ${snippet.with[0]}`);
    expect(left.length).toBeLessThanOrEqual(NOT_RUN);
  });

  test('type-check, strictly', async () => {
    expect(await run(bin('tsc'), ['-p', 'tsconfig.json'], project)).toBe('');
  });

  test.each(of('node').map((snippet) => [nameOf(snippet), snippet] as const))('%s runs in Node', async (_, snippet) => {
    const file = join('node', `${moduleOf(snippet)}.js`);
    await run(process.execPath, ['--import', './guard.mjs', file], project);
  });

  test.skipIf(executablePath === undefined).each(of('page').map((snippet) => [nameOf(snippet), snippet] as const))(
    '%s runs in a page',
    async (_, snippet) => {
      const { outcome, troubles } = await outcomeOf(browser!, `${server.url}${moduleOf(snippet)}.html`);
      // The dictionary of a public network is not to be had here; estimates would say so.
      const { url, mirrors = [] } = linea.dictionary!;
      const addresses = [url!, ...mirrors];
      const others = troubles.filter((trouble) => !addresses.some((address) => trouble.includes(address)));
      expect({ outcome, troubles: others }).toEqual({ outcome: 'done', troubles: [] });
    },
  );

  test.each(of('shell').map((snippet) => [nameOf(snippet), snippet] as const))(
    '%s runs in a shell',
    async (_, snippet) => {
      for (const line of linesOf(snippet.text)) await runLine(endpoints.replace(line), project, { ROOT: provedRoot });
    },
  );
});

/** Commands of a block; a backslash at the end continues a line. */
function linesOf(text: string): string[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Runs a command to its end; one that serves until it says where, and then stops it. */
async function runLine(line: string, project: string, variables: Record<string, string>): Promise<void> {
  const command = line
    .replace(/ --port \d+/, '')
    .replace(/^plumbline serve\b/, 'plumbline serve --port 0')
    .replace(/^plumbline\b/, `exec ${process.execPath} node_modules/plumbline-l2-cli/dist/cli.js`);
  const child = spawn('sh', ['-c', command], { cwd: project, env: { ...process.env, ...variables } });
  let printed = '';
  let stopped = false;
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const note = (data: Buffer): void => {
    printed += data.toString();
    const [, url] = /JSON-RPC {2}(http:\/\/[\d.]+:\d+)/.exec(printed) ?? [];
    if (stopped || !/^plumbline serve/.test(line) || url === undefined) return;
    stopped = true;
    // Once it answers it has printed everything, and listens to signals.
    fetch(url).finally(() => child.kill('SIGINT'));
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  expect(await ended, `${line}\n${printed}`).toBe(0);
}

/** What the commands of the documents read: a proof, a genesis with no blocks after it. @returns the root of the proof */
async function writeShellFiles(project: string): Promise<string> {
  const node = await createInlineNode();
  const answer = await node.request({ method: 'linea_getProof', params: [TEST_TOKEN, [], 'latest'] });
  const data = `0x8be745d1${'0'.repeat(64)}`;
  const call = [{ to: node.info.rollupAddress!, data }, 'latest'];
  const stateRoot = (await node.l1.request<UntypedMethod>({ method: 'eth_call', params: call })) as string;
  await node.close();
  writeFileSync(join(project, 'answer.json'), JSON.stringify({ address: TEST_TOKEN, storageKeys: [], result: answer }));
  const genesis = { config: { chainId: 5 }, alloc: {}, gasLimit: '0x1000000', difficulty: '0x1' };
  writeFileSync(join(project, 'genesis.json'), JSON.stringify(genesis));
  writeFileSync(join(project, 'chain.rlp'), '');
  return stateRoot;
}
