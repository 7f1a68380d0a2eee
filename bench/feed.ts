import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../src/chain/devnet/state/dev-accounts.js';
import { TEST_TOKEN_CODE } from '../src/chain/devnet/state/test-token.generated.js';
import { serve } from '../src/hosts/cli/server.js';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../src/hosts/provider/node-handle.js';
import { devnet } from '../src/networks/devnet.js';
import type { Hex } from '../src/primitives/hex.js';
import { freePort } from '../test/support/anvil.js';
import type { BenchArea, Figure } from './area.js';

const WALLETS = Number(process.env.PLUMBLINE_WALLETS ?? 1_000);
const BLOCKS = Number(process.env.PLUMBLINE_BLOCKS ?? 100);
/** Blocks of the runs beside the one of the goal. */
const FEW_BLOCKS = Math.ceil(BLOCKS / 10);
/** Transfers of a block, between accounts that are no wallets. */
const TRANSFERS = 10;
/** Wallets that ask at the same time. */
const AT_ONCE = 50;
/** How long nginx keeps the newest block, in its whole seconds: a wallet that asks then sees the new one. */
const HEAD_MS = 2_200;
/** Above this, a slot key is a hash: of the balance of one owner. */
const LAST_COMMON_KEY = 2n ** 32n;
const SECOND_TOKEN: Hex = '0x7e57c0de0000000000000000000000000000beef';
const TOKENS = [TEST_TOKEN, SECOND_TOKEN];

const addressOf = (index: number): Hex => `0x${(0xa11e7000000000n + BigInt(index)).toString(16).padStart(40, '0')}`;
const balanceOf = (owner: Hex): Hex => `0x70a08231${owner.slice(2).padStart(64, '0')}`;

/** nginx as a cache in front of an origin, and its log. */
interface Cache {
  readonly url: string;
  /** What was asked since the last call. */
  taken(): Promise<readonly Asked[]>;
  close(): Promise<void>;
}

interface Asked {
  readonly kind: string;
  readonly isOfOne: boolean;
  readonly isHit: boolean;
  readonly status: number;
  readonly bytes: number;
}

/** The configuration that docs/scale.md shows, with paths of this run. */
async function startCache(origin: number): Promise<Cache> {
  const directory = await mkdtemp(join(tmpdir(), 'plumbline-feed-'));
  const port = await freePort();
  const log = join(directory, 'access.log');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${directory}/${name};`)
    .join('\n  ');
  await writeFile(
    join(directory, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off;
pid ${directory}/pid;
error_log ${directory}/error.log;
events { worker_connections 4096; }
http {
  ${temporary}
  log_format feed '$upstream_cache_status $status $body_bytes_sent $request_uri';
  access_log ${log} feed buffer=64k flush=1s;
  proxy_cache_path ${directory}/cache levels=1:2 keys_zone=feed:64m max_size=2g inactive=1h use_temp_path=off;
  upstream origin { server 127.0.0.1:${origin}; keepalive 32; }
  server {
    listen 127.0.0.1:${port} backlog=2048;
    keepalive_requests 1000000;
    location /feed/ {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Host 127.0.0.1;
      proxy_set_header Connection "";
      proxy_set_header Accept-Encoding "";
      proxy_ignore_headers Vary;
      proxy_cache feed;
      proxy_cache_key $request_uri;
      proxy_cache_lock on;
      proxy_cache_use_stale updating;
      proxy_cache_revalidate on;
    }
    location = /feed/metrics { return 404; }
  }
}
`,
  );
  const nginx = spawn(
    'nginx',
    ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', join(directory, 'error.log')],
    {
      stdio: 'inherit',
    },
  );
  await listening(nginx, port);
  let offset = 0;
  return {
    url: `http://127.0.0.1:${port}/feed`,
    async taken() {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const file = await open(log);
      const asked: Asked[] = [];
      for await (const line of file.readLines({ start: offset, autoClose: false })) {
        offset += line.length + 1;
        if (line.includes(' /feed/')) asked.push(read(line));
      }
      await file.close();
      return asked;
    },
    async close() {
      nginx.kill('SIGTERM');
      if (nginx.exitCode === null) await once(nginx, 'exit');
      await rm(directory, { recursive: true });
    },
  };
}

async function listening(nginx: ChildProcess, port: number): Promise<void> {
  for (let i = 0; i < 100 && nginx.exitCode === null; i++) {
    if (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('nginx does not answer');
}

function read(line: string): Asked {
  const [cached, status, bytes, uri = ''] = line.split(' ');
  const [, , first = '', , third = '', address = '', key = '0x0'] = uri.split('/');
  const kind = first === 'block' ? third : first;
  const isOwn = kind === 'account' && !TOKENS.includes(address as Hex) && address.startsWith(addressOf(0).slice(0, 30));
  const isOfOne = isOwn || (kind === 'slot' && BigInt(key) > LAST_COMMON_KEY);
  return {
    kind,
    isOfOne,
    isHit: cached === 'HIT' || cached === 'UPDATING' || cached === 'STALE',
    status: Number(status),
    bytes: Number(bytes),
  };
}

interface Followed {
  readonly wallets: number;
  readonly blocks: number;
  /** Of the first block, when wallets know nothing, and of all others. */
  readonly first: readonly Asked[];
  readonly later: readonly Asked[];
  readonly laterMs: number;
}

/** Light nodes that follow a devnet through a cache; each reads its own balance and those of two tokens after every block. */
async function follow(hardfork: 'osaka' | 'amsterdam', wallets: number, blocks: number): Promise<Followed> {
  const token = { code: TEST_TOKEN_CODE };
  const alloc = Object.fromEntries([
    ...Array.from({ length: wallets }, (_, i) => [addressOf(i), { balance: BigInt(i + 1) }]),
    ...TOKENS.map((address) => [address, token]),
    ...DEV_ACCOUNTS.map(({ address }) => [address, { balance: 10n ** 21n }]),
  ]);
  const network = devnet({ hardfork });
  const full = await createInlineNode({ chain: { kind: 'devnet', network, mining: 'manual', alloc } });
  const limit = 1_000_000;
  const server = await serve(full, { port: 0, feed: { ratePerSecond: limit, ratePerClient: limit } });
  const cache = await startCache(server.port);
  const nodes: PlumblineNode[] = [];
  for (let i = 0; i < wallets; i++)
    nodes.push(
      await createInlineNode({
        chain: { kind: 'light', network, endpoints: [{ feed: cache.url }], accessLists: false, headMaxAgeMs: 1_000 },
      }),
    );
  const next = async (block: number) => {
    for (let i = 0; i < TRANSFERS; i++) {
      const [from, to] = [DEV_ACCOUNTS[i % 5]!.address, DEV_ACCOUNTS[5 + ((i + block) % 5)]!.address];
      await full.request({ method: 'eth_sendTransaction', params: [{ from, to, value: '0x1', gas: '0x5208' }] });
    }
    await full.request({ method: 'evm_mine', params: [] });
    await new Promise((resolve) => setTimeout(resolve, HEAD_MS));
    // The first who asks has the cache fetch the new block; those who ask meanwhile get the old one.
    await (await fetch(`${cache.url}/head/latest`)).arrayBuffer();
    await inTurns(nodes, async (node, i) => {
      const owner = addressOf(i);
      const balance = await node.request({ method: 'eth_getBalance', params: [owner, 'latest'] });
      if (BigInt(balance) !== BigInt(i + 1)) throw new Error(`balance of wallet ${i}: ${balance}`);
      await Promise.all(
        TOKENS.map((to) => node.request({ method: 'eth_call', params: [{ to, data: balanceOf(owner) }, 'latest'] })),
      );
    });
  };
  try {
    await next(0);
    const first = await cache.taken();
    const started = performance.now();
    for (let block = 1; block < blocks; block++) await next(block);
    const laterMs = performance.now() - started;
    return { wallets, blocks, first, later: await cache.taken(), laterMs };
  } finally {
    for (const node of nodes) await node.close();
    await cache.close();
    await server.close({ graceMs: 0 });
    await full.close();
  }
}

async function inTurns<T>(items: readonly T[], act: (item: T, index: number) => Promise<void>): Promise<void> {
  let at = 0;
  const work = async () => {
    while (at < items.length) {
      const index = at++;
      await act(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

const reached = (asked: readonly Asked[]) => asked.filter(({ isHit }) => !isHit);
const common = (asked: readonly Asked[]) => asked.filter(({ kind, isOfOne }) => kind !== 'head' && !isOfOne);
const own = (asked: readonly Asked[]) => asked.filter(({ isOfOne }) => isOfOne);
const heads = (asked: readonly Asked[]) => asked.filter(({ kind }) => kind === 'head');

function countsOf(asked: readonly Asked[]): string {
  const counts = new Map<string, number>();
  for (const { kind, isOfOne } of asked) {
    const name = isOfOne ? `${kind} of one wallet` : kind;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function figuresOf(name: string, { wallets, blocks, first, later, laterMs }: Followed): Figure[] {
  const failed = [...first, ...later].filter(({ status }) => status >= 400).length;
  const each = wallets * (blocks - 1);
  const bytes = later.reduce((sum, one) => sum + one.bytes, 0);
  const at = `${name}, ${wallets} wallets`;
  const figure = (what: string, value: number, unit: string, note?: string): Figure => ({
    name: `${at}: ${what}`,
    value,
    unit,
    ...(note !== undefined && { note }),
  });
  return [
    figure('requests of a wallet for its first block', first.length / wallets, 'requests', countsOf(first)),
    figure('requests of a wallet for each later one', later.length / each, 'requests', countsOf(later)),
    figure('bytes of a wallet for each later one', bytes / each, 'bytes'),
    figure('hit rate', (100 * (later.length - reached(later).length)) / later.length, '%', `${failed} errors`),
    figure(
      'at the origin, first block, common',
      reached(common(first)).length,
      'requests',
      countsOf(reached(common(first))),
    ),
    figure('at the origin, first block, of one wallet', reached(own(first)).length, 'requests'),
    figure('at the origin, each later block, common', reached(common(later)).length / (blocks - 1), 'requests'),
    figure('at the origin, each later block, of one wallet', reached(own(later)).length / (blocks - 1), 'requests'),
    figure('at the origin, newest block', reached(heads(later)).length / (laterMs / 1_000), 'requests/s'),
  ];
}

/** How the common requests that reach the origin, for a first block and a later one, grow from few wallets to many; 1 is the goal. */
function growth(name: string, few: Followed, many: Followed): Figure {
  const asked = ({ first, later, blocks }: Followed) =>
    reached(common(first)).length + reached(common(later)).length / (blocks - 1);
  return {
    name: `${name}: common requests at the origin, ${many.wallets} wallets over ${few.wallets}`,
    value: asked(many) / asked(few),
    unit: 'x',
    bar: { atMost: 1.1 },
  };
}

export const feeding: BenchArea = {
  name: 'feed',
  question: `What do ${WALLETS} wallets behind an HTTP cache ask, and what of it reaches the origin?`,
  async run() {
    if (spawnSync('nginx', ['-v']).error !== undefined) {
      console.warn('  no nginx was found (Debian: apt-get install nginx-light): nothing was measured');
      return [];
    }
    const few = Math.ceil(WALLETS / 10);
    const lists = [await follow('amsterdam', few, FEW_BLOCKS), await follow('amsterdam', WALLETS, BLOCKS)] as const;
    const proofs = [await follow('osaka', few, FEW_BLOCKS), await follow('osaka', WALLETS, FEW_BLOCKS)] as const;
    return [
      ...figuresOf('by access lists', lists[1]),
      growth('by access lists', ...lists),
      ...figuresOf('by proofs', proofs[1]),
      growth('by proofs', ...proofs),
    ];
  },
};
