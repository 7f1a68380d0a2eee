import { createHash } from 'node:crypto';
import { DEV_ACCOUNTS } from '../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../src/hosts/provider/node-handle.js';
import { devnet } from '../src/networks/devnet.js';
import type { Network } from '../src/networks/network.js';
import type { Hex } from '../src/primitives/hex.js';
import type { ExplainedEstimate } from '../src/rpc/schema/answers.js';
import { contracts } from '../test/support/contracts.js';
import { type MockEndpoint, serveMock } from '../test/support/mock-chain.js';
import { ShiftedClock } from '../test/support/shifted-clock.js';
import { swapScene } from '../test/support/swap-scene.js';
import { createStatistics } from '../test/support/upstream-statistics.js';
import { type BenchArea, type Figure, median, medianRatio } from './area.js';
import { type ParentJson, type RemoteCall, remoteRun } from './light-runs.js';

const LATENCY_MS = 50;
const ROUNDS = 7;
const WARM_UPS = 2;

interface Figures {
  /** Sequential round trips and HTTP requests of each stage. */
  readonly trips: number;
  readonly requests: number;
}

/** A dictionary of the network's own, so that it can be given as bytes. */
const DICTIONARY = Uint8Array.from({ length: 65_536 }, (_, i) => (i * 31 + (i >> 8) * 17) & 255);
const NETWORK: Network = {
  ...devnet(),
  dictionary: {
    name: 'bench',
    byteLength: DICTIONARY.length,
    sha256: `0x${createHash('sha256').update(DICTIONARY).digest('hex')}`,
  },
};
const dictionary = { kind: 'bytes', bytes: DICTIONARY } as const;

class Scene {
  readonly statistics = createStatistics();
  readonly clock = new ShiftedClock();

  constructor(
    readonly full: PlumblineNode,
    readonly endpoints: readonly MockEndpoint[],
  ) {}

  /** A light node without any memory. */
  light(endpoints: number): Promise<PlumblineNode> {
    return createInlineNode({
      chain: {
        kind: 'light',
        network: NETWORK,
        endpoints: this.endpoints.slice(0, endpoints).map(({ url }) => url),
        level: endpoints > 1 ? 'linked' : 'plain',
      },
      dictionary,
      clock: this.clock,
      upstreamObserver: this.statistics,
    });
  }

  /** What one estimate takes; its answer has to be that of the node that holds the state. */
  async count(node: PlumblineNode, call: RemoteCall): Promise<Figures> {
    this.statistics.reset();
    const answer = await estimate(node, call);
    const { roundTrips: trips, totals } = this.statistics;
    const expected = await estimate(this.full, call);
    if (JSON.stringify(answer) !== JSON.stringify(expected)) {
      throw new Error(`estimate ${JSON.stringify(answer)}, expected ${JSON.stringify(expected)}`);
    }
    return { trips, requests: totals.requests };
  }

  async fresh(endpoints: number, call: RemoteCall): Promise<Figures> {
    const node = await this.light(endpoints);
    try {
      return await this.count(node, call);
    } finally {
      await node.close();
    }
  }

  /** A call of a node that has estimated another one on the same block. */
  async second(first: RemoteCall, call: RemoteCall): Promise<Figures> {
    const node = await this.light(2);
    try {
      await estimate(node, first);
      return await this.count(node, call);
    } finally {
      await node.close();
    }
  }

  accessLists(present: boolean): void {
    for (const { options } of this.endpoints) options.missing = present ? [] : ['eth_createAccessList'];
  }
}

function estimate(node: PlumblineNode, call: RemoteCall): Promise<unknown> {
  return node.request({ method: 'linea_estimateGas', params: [call] });
}

const trips = (name: string, { trips: value, requests }: Figures, atMost: number): Figure => ({
  name: `${name}: round trips`,
  value,
  unit: 'trips',
  bar: { atMost },
  note: `${requests} requests`,
});

/** Milliseconds of the first estimate of a fresh node, opening included, and of one execution over `RPCStateManager`. */
async function compare(scene: Scene, name: string, call: RemoteCall, atLeast: number): Promise<Figure> {
  const parent = (await scene.full.request({
    method: 'eth_getBlockByNumber',
    params: ['latest', false],
  })) as ParentJson;
  const { evidence } = (await scene.full.explainEstimate([call])) as ExplainedEstimate;
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    const startedOurs = performance.now();
    const node = await scene.light(2);
    await estimate(node, call);
    const tookOurs = performance.now() - startedOurs;
    await node.close();
    const startedTheirs = performance.now();
    const gasUsed = await remoteRun(scene.endpoints[0]!.url, NETWORK.chainId, parent, call);
    const tookTheirs = performance.now() - startedTheirs;
    if (BigInt(evidence.gas.gasUsed) !== gasUsed) {
      throw new Error(`gas used ${gasUsed}, expected ${evidence.gas.gasUsed}`);
    }
    if (round < 0) continue;
    ours.push(tookOurs);
    theirs.push(tookTheirs);
  }
  return {
    name: `${name}: one unverified run over RPCStateManager, over the first verified search`,
    value: medianRatio(theirs, ours),
    unit: 'x',
    bar: { atLeast },
    note: `${median(theirs).toFixed(0)} and ${median(ours).toFixed(0)} ms`,
  };
}

/** What is estimated; `token` is the transfer of another token. */
type Calls = Readonly<Record<'transfer' | 'other' | 'token' | 'swap', RemoteCall>>;

async function figuresOf(scene: Scene, { transfer, other, token, swap }: Calls): Promise<Figure[]> {
  const node = await scene.light(2);
  try {
    const first = await scene.count(node, transfer);
    const again = await scene.count(node, transfer);
    const others = await scene.count(node, other);
    await scene.full.request({ method: 'evm_mine', params: [] });
    scene.clock.advance(60_000);
    const next = await scene.count(node, transfer);
    const plain = await scene.fresh(1, transfer);
    const swapped = await scene.fresh(2, swap);
    const second = await scene.second(transfer, token);
    scene.accessLists(false);
    const unlisted = await scene.fresh(2, transfer);
    const unlistedSwap = await scene.fresh(2, swap);
    const unlistedSecond = await scene.second(transfer, token);
    scene.accessLists(true);
    const requests = (name: string, { requests: value }: Figures, atMost: number): Figure => ({
      name: `${name}: requests`,
      value,
      unit: 'requests',
      bar: { atMost },
    });
    return [
      trips('ERC-20 transfer, fresh node', first, 2),
      requests('ERC-20 transfer, fresh node', first, 3),
      requests('ERC-20 transfer, one endpoint', plain, 2),
      requests('the same again', again, 0),
      requests('another call on known state', others, 0),
      trips('after the next block', next, 1),
      trips('two-hop swap, fresh node', swapped, 3),
      trips('transfer without access lists', unlisted, 4),
      trips('swap without access lists', unlistedSwap, 4),
      trips('a second token, same block', second, 1),
      trips('a second token, without access lists', unlistedSecond, 1),
      await compare(scene, 'ERC-20 transfer', transfer, 2),
      await compare(scene, 'two-hop swap', swap, 6),
    ];
  } finally {
    await node.close();
  }
}

/** Accounts beside those of the scene, so that proofs have some depth, and transfers in a busy block. */
const CROWD = 4_000;
const BUSY = 150;
const addressOf = (number: number): Hex => `0x${(0x5ca1ab1en + BigInt(number)).toString(16).padStart(40, '0')}`;

/** The estimate of a swap on the next block of Amsterdam: by its access list, and by proofs. */
async function listFigures(): Promise<Figure[]> {
  const { alloc, swap } = swapScene(await contracts(), DEV_ACCOUNTS[0]!.address);
  const network: Network = { ...devnet({ hardfork: 'amsterdam' }), dictionary: NETWORK.dictionary! };
  const { accessLists: _, ...withoutLists } = network;
  const crowd = Object.fromEntries(Array.from({ length: CROWD }, (_, i) => [addressOf(i), { balance: 1n }]));
  const chain = { kind: 'devnet', network, mining: 'manual', alloc: { ...alloc, ...crowd } } as const;
  const full = await createInlineNode({ chain, dictionary });
  const mock = await serveMock(full, { latencyMs: LATENCY_MS });
  const clock = new ShiftedClock();
  const statistics = createStatistics();
  const open = (profile: Network) =>
    createInlineNode({
      chain: { kind: 'light', network: profile, endpoints: [mock.url], level: 'plain' },
      ...{ dictionary, clock, upstreamObserver: statistics },
    });
  const [byLists, byProofs] = [await open(network), await open(withoutLists)];
  const next = async (transfers: number) => {
    for (let i = 0; i < transfers; i++) {
      const [from, to] = [DEV_ACCOUNTS[1 + (i % 9)]!.address, addressOf(CROWD + i)];
      await full.request({ method: 'eth_sendTransaction', params: [{ from, to, value: '0x1', gas: '0x493e0' }] });
    }
    await full.request({ method: 'evm_mine', params: [] });
    clock.advance(60_000);
    const expected = JSON.stringify(await estimate(full, swap));
    const taken: { trips: number; bytes: number; methods: string[] }[] = [];
    for (const node of [byLists, byProofs]) {
      statistics.reset();
      mock.seen.length = 0;
      const answer = JSON.stringify(await estimate(node, swap));
      if (answer !== expected) throw new Error(`estimate ${answer}, expected ${expected}`);
      const methods = mock.seen.flat().map(({ method }) => method);
      taken.push({ trips: statistics.roundTrips, bytes: statistics.totals.bytesReceived, methods });
    }
    const list = await full.request({ method: 'eth_getBlockAccessList', params: ['latest'] });
    return { taken: taken as [(typeof taken)[0], (typeof taken)[0]], list: JSON.stringify(list).length };
  };
  const proofsOf = ({ methods }: { methods: string[] }) => methods.filter((name) => name === 'eth_getProof').length;
  const figures: Figure[] = [];
  try {
    await next(0);
    for (const [name, transfers] of [
      ['quiet', 0],
      ['busy', BUSY],
    ] as const) {
      const { taken, list } = await next(transfers);
      const [lists, proofs] = taken;
      const asked = lists.methods.includes('eth_getBlockAccessList') ? 'by the list' : 'by proofs';
      const note = `${transfers} transfers to new accounts; list of ${list} bytes; the node read ${asked}`;
      const bar = name === 'quiet' && { bar: { atMost: 0 } };
      figures.push(
        { name: `swap on the next block, ${name}: proofs`, value: proofsOf(lists), unit: 'proofs', ...bar, note },
        { name: `swap on the next block, ${name}: received`, value: lists.bytes, unit: 'bytes', note: 'with lists' },
        {
          ...{ name: `swap on the next block, ${name}: received without lists`, value: proofs.bytes, unit: 'bytes' },
          note: `${proofsOf(proofs)} proofs`,
        },
        trips(`swap on the next block, ${name}`, { trips: lists.trips, requests: lists.methods.length }, 1),
      );
    }
    return figures;
  } finally {
    for (const node of [byLists, byProofs, full]) await node.close();
    await mock.close();
  }
}

export const lightNode: BenchArea = {
  name: 'light',
  question: `What does a verified estimate cost over endpoints ${LATENCY_MS} ms away?`,
  async run() {
    const trader = DEV_ACCOUNTS[0]!.address;
    const scene = swapScene(await contracts(), trader);
    const chain = { kind: 'devnet', network: NETWORK, alloc: scene.alloc } as const;
    const full = await createInlineNode({ chain, dictionary });
    const mocks = await Promise.all([0, 1].map(() => serveMock(full, { latencyMs: LATENCY_MS })));
    const { transfer, swap } = scene;
    // Another amount to the same receiver: the same accounts and slots.
    const half = `${transfer.data.slice(0, -64)}${(5n * 10n ** 17n).toString(16).padStart(64, '0')}` as Hex;
    try {
      const calls = {
        transfer,
        swap,
        other: { ...transfer, data: half },
        token: { ...transfer, data: half, to: scene.tokens[2] },
      };
      const figures = await figuresOf(new Scene(full, mocks), calls);
      return [...figures, ...(await listFigures())];
    } finally {
      for (const mock of mocks) await mock.close();
      await full.close();
    }
  },
};
