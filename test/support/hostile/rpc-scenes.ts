import { createInlineNode, type InlineOptions } from '../../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../../src/hosts/provider/provider.js';
import { devnet } from '../../../src/networks/devnet.js';
import { withBlocksByHash } from '../blocks-by-hash.js';
import { KeptStore } from '../dev-node.js';
import { devnetLogs } from '../mock-shomei-devnet.js';
import { history, validRequests } from './requests.js';
import { type HostileScene, post } from './run.js';
import { asking, bodiesFor, LIMITS, Target } from './target.js';

/** A devnet with some blocks, sent requests of every method. */
export async function devnetScene(): Promise<HostileScene<string>> {
  const target = await new Target().open(LIMITS);
  const ask = asking(target.node);
  await history(ask);
  const inputs = bodiesFor(await validRequests(ask));
  return { inputs, check: (body) => target.check(body), close: () => target.node.close() };
}

/** The simulated layer 1 of a devnet. */
export async function layerOneScene(): Promise<HostileScene<string>> {
  const target = await new Target().open(LIMITS);
  await history(asking(target.node));
  const l1 = (method: string) => target.node.l1.request<UntypedMethod>({ method, params: ['latest', false] });
  const { hash } = (await l1('eth_getBlockByNumber')) as { hash: string };
  const to = target.node.info.rollupAddress!;
  const inputs = bodiesFor({
    beacon_get: [
      ['/eth/v1/beacon/headers/finalized'],
      ['/eth/v1/beacon/light_client/updates?start_period=1490000&count=2'],
      [`/eth/v1/beacon/light_client/bootstrap/${hash}`],
    ],
    eth_blockNumber: [[]],
    eth_call: [
      [{ to, data: '0x695378f5' }, 'latest'],
      [{ to, data: `0x8be745d1${'0'.repeat(64)}` }, '0x1'],
    ],
    eth_chainId: [[]],
    eth_getBlockByHash: [[hash, false]],
    eth_getBlockByNumber: [
      ['latest', false],
      ['0x1', true],
    ],
    eth_getLogs: [[{ fromBlock: '0x0', toBlock: 'latest', address: to }], [{ blockHash: hash }]],
    eth_getProof: [
      [to, ['0x1', `0x${'00'.repeat(32)}`], 'latest'],
      [to, [], hash],
    ],
  });
  const way = { send: (body: string) => post(target.node, body, 'l1'), onlyReads: () => true };
  return { inputs, check: (body) => target.check(body, way), close: () => target.node.close() };
}

/** A light node whose endpoints are honest, sent the requests of a devnet. The chain stands still. */
export async function lightScene(): Promise<HostileScene<string>> {
  const dev = await createInlineNode({ chain: { kind: 'devnet', mining: 'manual' } });
  await history(asking(dev));
  const target = await new Target().open({
    ...LIMITS,
    chain: {
      kind: 'light',
      network: devnet(),
      endpoints: ['one', 'other'].map((name) => ({ provider: dev, name })),
      layerOne: [{ provider: dev.l1 }],
    },
  });
  return besideScene(target, dev);
}

/** A replica of a devnet, all of whose finalized blocks it has, sent the requests of the devnet. The chain stands still. */
export async function replicaScene(): Promise<HostileScene<string>> {
  const network = devnet();
  const kept = new KeptStore();
  const finality = { batchBlocks: 2, delayBlocks: 1 };
  const dev = await createInlineNode({ store: kept, chain: { kind: 'devnet', mining: 'manual', finality } });
  await history(asking(dev));
  const logs = devnetLogs(kept, network.chainId);
  const target = new Target();
  await new Promise<void>((resolve, reject) => {
    const options: InlineOptions = {
      ...LIMITS,
      replicaObserver: {
        progress: (step) => step.confirmed === step.target && resolve(),
        error: reject,
      },
      chain: {
        kind: 'replica',
        network,
        endpoints: [{ provider: dev }],
        layerOne: [{ provider: withBlocksByHash(dev.l1) }],
        trieLogs: [{ provider: { request: async ({ method, params = [] }) => logs(method, params) } }],
        followIntervalMs: 2 ** 31 - 1,
      },
    };
    target.open(options).catch(reject);
  });
  return besideScene(target, dev);
}

/** A node beside the devnet that it reads, sent the requests of that devnet. */
async function besideScene(target: Target, dev: PlumblineNode): Promise<HostileScene<string>> {
  return {
    inputs: bodiesFor(await validRequests(asking(dev))),
    check: (body) => target.check(body),
    async close() {
      await target.node.close();
      await dev.close();
    },
  };
}
