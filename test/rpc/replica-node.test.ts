import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { ReplicaChainOptions, ReplicaProgress } from '../../src/chain/replica/settings.js';
import { PlumblineError } from '../../src/errors.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { OpenProgress } from '../../src/hosts/options/options.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { StoreStatus } from '../../src/store/store-status.js';
import { withBlocksByHash } from '../support/blocks-by-hash.js';
import { accountAt, type DevNode, devNode, KeptStore, stranger, word } from '../support/dev-node.js';
import { serveMock } from '../support/mock-chain.js';
import { devnetLogs } from '../support/mock-shomei-devnet.js';
import { openMockUpstream } from '../support/mock-upstream.js';
import { until } from '../support/mock-upstream-scene.js';

interface ReplicaScene {
  readonly dev: DevNode;
  readonly progress: ReplicaProgress[];
  readonly errors: { code?: string; details?: object }[];
  readonly asked: () => number;
  /** Address of the endpoint. */
  readonly layerOne: string;
  open(chain?: Partial<ReplicaChainOptions>, more?: InlineOptions): ReturnType<typeof createInlineNode>;
}

/** A devnet that finalizes two blocks at a time, the node that has its trie logs, and replicas of it. */
async function replicaScene(spoil?: Parameters<typeof devnetLogs>[2]): Promise<ReplicaScene> {
  const kept = new KeptStore();
  const dev = await devNode({
    store: kept,
    chain: { kind: 'devnet', finality: { batchBlocks: 2, delayBlocks: 1 } },
  });
  const network = devnet();
  const endpoint = await serveMock(dev.node);
  const layerOne = await serveMock(withBlocksByHash(dev.node.l1));
  const logs = await openMockUpstream({ handler: devnetLogs(kept, network.chainId, spoil) });
  for (const mock of [endpoint, layerOne, logs]) onTestFinished(() => mock.close());
  const progress: ReplicaProgress[] = [];
  const errors: ReplicaScene['errors'] = [];
  return {
    dev,
    progress,
    errors,
    asked: () => logs.requests.length,
    layerOne: layerOne.url,
    async open(chain = {}, more = {}) {
      const node = await createInlineNode({
        replicaObserver: {
          progress: (step) => void progress.push(step),
          error: (error) => void errors.push(error as ReplicaScene['errors'][number]),
        },
        ...more,
        chain: {
          kind: 'replica',
          network,
          endpoints: [endpoint.url],
          layerOne: [layerOne.url],
          trieLogs: [logs.url],
          finalityMaxAgeMs: 0,
          headMaxAgeMs: 0,
          followIntervalMs: 20,
          ...chain,
        },
      });
      onTestFinished(() => node.close());
      return node;
    },
  };
}

/** Transfers and token transfers, a block each. */
async function transact({ transfer }: DevNode, blocks: number, from = 0): Promise<void> {
  for (let nonce = from; nonce < from + blocks; nonce++) {
    const data = `0xa9059cbb${'00'.repeat(12)}${'ab'.repeat(19)}${nonce.toString(16).padStart(2, '0')}${word(5n).slice(2)}`;
    if (nonce % 2 === 0) await transfer(0, { nonce, to: stranger((17 + nonce).toString(16)) });
    else await transfer(0, { nonce, to: TEST_TOKEN, data: data as Hex, value: 0n, gasLimit: 100_000n });
  }
}

const QUESTIONS: [Hex, Hex[]][] = [
  [accountAt(0), []],
  [TEST_TOKEN, [word(0n), word(1n), word(2n)]],
  [stranger('13'), []],
  [stranger('ff'), [word(1n)]],
];

describe('a replica node', () => {
  test('builds the proofs the chain itself gives, and answers the rest as a light node', async () => {
    const scene = await replicaScene();
    const { dev, progress } = scene;
    await transact(dev, 7);
    const node = await scene.open();
    const ask = (method: string, ...params: unknown[]) => node.request<UntypedMethod>({ method, params });
    await until(() => progress.at(-1)?.confirmed === 6);
    let compared = 0;
    for (const block of ['earliest', '0x0', '0x2', '0x4', '0x6', 'latest', 'finalized', 'safe', 'pending']) {
      for (const [address, keys] of QUESTIONS) {
        const answer = await ask('linea_getProof', address, keys, block);
        expect(answer, block).toEqual(await dev.ask('linea_getProof', address, keys, block));
        compared++;
      }
    }
    expect(compared).toBe(36);
    for (const block of ['0x1', '0x3', '0x7', '0x8']) {
      await expect(ask('linea_getProof', accountAt(0), [], block), block).rejects.toMatchObject({
        code: -32600,
        message: 'BLOCK_MISSING_IN_CHAIN - block is missing',
      });
    }
    const balance = ['eth_getBalance', accountAt(0), 'latest'] as const;
    expect(await ask(...balance)).toBe(await dev.ask(...balance));
    const simulation = { blockStateCalls: [{ calls: [{ from: accountAt(0), to: accountAt(1), value: '0x1' }] }] };
    expect(await ask('eth_simulateV1', simulation, '0x6')).toEqual(await dev.ask('eth_simulateV1', simulation, '0x6'));
    const call = { from: accountAt(1), to: stranger('13'), value: '0x1' };
    expect(await node.diagnoseTransaction(call)).toMatchObject({
      verdict: 'will-be-included',
      origin: 'call',
      block: 7,
    });

    await transact(dev, 2, 7);
    await until(() => progress.at(-1)?.confirmed === 8);
    const latest = ['linea_getProof', accountAt(0), [], '0x8'] as const;
    expect(await ask(...latest)).toEqual(await dev.ask(...latest));
    expect(progress.map(({ block }) => block)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(scene.errors).toEqual([]);
  });

  test('tells how far it is behind a node that is ready', async () => {
    const scene = await replicaScene();
    await transact(scene.dev, 7);
    const told: OpenProgress[] = [];
    await scene.open({}, { onProgress: (step) => void told.push(step) });
    await until(() => scene.progress.at(-1)?.confirmed === 6);
    const steps = Array.from({ length: 7 }, (_, block) => ({
      stage: 'sync',
      fraction: (block + 1) / 7,
      block,
      target: 6,
    }));
    expect(told.filter(({ stage }) => stage === 'sync')).toEqual(steps);
    expect(told.findIndex(({ stage }) => stage === 'ready')).toBeLessThan(told.length - 1);
  });

  test('goes on from its store, and proves from it at once', async () => {
    const scene = await replicaScene();
    const { dev, progress } = scene;
    await transact(dev, 5);
    const store = new KeptStore();
    const first = await scene.open({}, { store });
    await until(() => progress.at(-1)?.confirmed === 4);
    await first.close();
    const asked = scene.asked();
    await transact(dev, 2, 5);
    const again = await scene.open({ followIntervalMs: 1e6 }, { store });
    const params = [TEST_TOKEN, [word(0n), word(2n)], '0x4'];
    const question = { method: 'linea_getProof', params };
    expect(await again.request<UntypedMethod>(question)).toEqual(await dev.ask('linea_getProof', ...params));
    await until(() => progress.at(-1)?.confirmed === 6);
    expect(progress.map(({ block }) => block)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(scene.asked()).toBeGreaterThan(asked);
  });

  test('tells of a store that is full, proves what it has meanwhile, and goes on when there is room', async () => {
    const scene = await replicaScene();
    const { dev, progress } = scene;
    await transact(dev, 5);
    const store = new KeptStore();
    const node = await scene.open({}, { store });
    const statuses: StoreStatus[] = [];
    node.on('storage', (status) => statuses.push(status));
    await until(() => progress.at(-1)?.confirmed === 4);
    const commit = store.commit.bind(store);
    store.commit = () => Promise.reject(new PlumblineError('STORE_QUOTA_EXCEEDED', 'store is full', {}));
    await transact(dev, 2, 5);
    await until(() => statuses.at(-1)?.mode === 'memory');
    expect(statuses.at(-1)).toMatchObject({ reason: 'STORE_QUOTA_EXCEEDED' });
    const params = [TEST_TOKEN, [word(0n), word(2n)], '0x4'];
    const question = { method: 'linea_getProof', params };
    expect(await node.request<UntypedMethod>(question)).toEqual(await dev.ask('linea_getProof', ...params));
    store.commit = commit;
    await until(() => progress.at(-1)?.confirmed === 6);
    expect(statuses.at(-1)).toEqual({ mode: 'durable' });
    expect(scene.errors.every(({ code }) => code === 'STORE_QUOTA_EXCEEDED')).toBe(true);
  });

  test('stops at logs that do not lead to the root of layer 1, and proves what it had', async () => {
    const scene = await replicaScene((log, { block }) => {
      // One byte of a balance.
      const at = log.length - 40;
      return block.header.number === 5 ? log.with(at, log[at]! ^ 1) : log;
    });
    const { dev, progress, errors } = scene;
    await transact(dev, 7);
    const node = await scene.open();
    await until(() => errors.some(({ code }) => code === 'REPLICA_DIVERGED' || code === 'TRIE_LOG_MALFORMED'));
    expect(progress.at(-1)!.confirmed).toBe(4);
    const question = { method: 'linea_getProof', params: [accountAt(0), [], 'latest'] };
    expect(await node.request<UntypedMethod>(question)).toEqual(
      await dev.ask('linea_getProof', accountAt(0), [], '0x4'),
    );
    expect(await node.request({ method: 'eth_blockNumber', params: [] })).toBe('0x7');
  });

  test('stops where the origins of layer 1 that have to agree do not', async () => {
    const scene = await replicaScene();
    await transact(scene.dev, 5);
    const other = await serveMock(scene.dev.node.l1);
    onTestFinished(() => other.close());
    const layerOne = [scene.layerOne, other.url];
    await scene.open({ layerOne, layerOneAgreeing: 2 });
    await until(() => scene.progress.at(-1)?.confirmed === 4);
    const before = scene.progress.length;
    // The root of block 1 for any block, as one of them says.
    other.options.tamper = ({ method, params }, result) =>
      method === 'eth_call' && (params[0] as { data: string }).data.startsWith('0x8be745d1') ? word(1n) : result;
    await scene.open({ layerOne, layerOneAgreeing: 2 });
    await until(() => scene.errors.some(({ code }) => code === 'UPSTREAM_DISAGREEMENT'));
    expect(scene.progress.length).toBe(before);
  });

  test('goes as far as a trusted block of layer 1, and no further', async () => {
    const scene = await replicaScene();
    await transact(scene.dev, 5);
    const at = await scene.dev.node.l1.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] });
    await transact(scene.dev, 4, 5);
    await scene.open({ layerOneHeader: { hash: (at as { hash: Hex }).hash } });
    await until(() => scene.progress.at(-1)?.confirmed === 4);
    expect(scene.progress.at(-1)).toMatchObject({ block: 4, target: 4 });
  });

  test('does not open without layer 1', async () => {
    const scene = await replicaScene();
    const layerOne = undefined as unknown as ReplicaChainOptions['layerOne'];
    await expect(scene.open({ layerOne })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
  });
});
