import { describe, expect, onTestFinished, test } from 'vitest';
import { type ServeOptions, serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { NodeOptions } from '../../src/hosts/options/options.js';
import { requireOptions } from '../../src/hosts/options/require-options.js';
import { registerRpcProxy } from '../../src/hosts/proxy/register.js';
import { createNode } from '../../src/hosts/worker/client.js';
import { devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import { NETWORKS } from '../../src/networks/networks.js';
import { accountAt } from '../support/dev-node.js';

const KEY = '0123456789abcdef';
const endpoints = [`https://first.example/v3/${KEY}`];

const light = (more: object) => ({ chain: { kind: 'light', network: linea, endpoints, ...more } });
const replica = (more: object) => ({
  chain: { kind: 'replica', network: linea, endpoints, layerOne: endpoints, trieLogs: endpoints, ...more },
});
/** A light node of a profile with another member. */
const ofProfile = (more: object) => light({ network: { ...linea, ...more } });
const withBlobs = (baseFeeUpdateFraction: unknown, target: unknown = 6) => ({
  hardfork: 'cancun',
  block: 0,
  blobs: { target, max: 9, baseFeeUpdateFraction },
});

/** A light node that follows layer 1. */
const followed = (layerOne: object) => ({ chain: { kind: 'light', network: linea, endpoints, layerOne } });

/** Options as a program in JavaScript may give them, and the option that is wrong. */
const WRONG: readonly (readonly [parameter: string, options: unknown])[] = [
  ['chain', { chain: 'devnet' }],
  ['chain', { chain: null }],
  ['chain.kind', { chain: { kind: 'ligth', network: linea, endpoints } }],
  ['chain.kind', { chain: {} }],
  ['chain.endpoints', { chain: { kind: 'light', network: linea } }],
  ['chain.endpoints', { chain: { kind: 'light', network: linea, endpoints: endpoints[0] } }],
  ['chain.endpoints', { chain: { kind: 'replica', network: linea } }],
  ['chain.layerOne', { chain: { kind: 'light', network: linea, endpoints, layerOne: endpoints[0] } }],
  ['chain.layerOne.consensus', followed({ execution: endpoints })],
  ['chain.layerOne.execution', followed({ consensus: endpoints, execution: endpoints[0] })],
  ['chain.layerOne.checkpointServers', followed({ consensus: endpoints, execution: endpoints, checkpointServers: {} })],
  ['chain.layerOne', { chain: { kind: 'replica', network: linea, endpoints, layerOne: {}, trieLogs: endpoints } }],
  ['chain.maru', { chain: { kind: 'light', network: linea, endpoints, maru: { url: endpoints[0] } } }],
  ['chain.network', { chain: { kind: 'light', endpoints } }],
  ['chain.network', { chain: { kind: 'light', network: 'linea', endpoints } }],
  ['chain.network', { chain: { kind: 'devnet', network: 'linea' } }],
  // The function, not what it gives.
  ['chain.network', { chain: { kind: 'devnet', network: devnet } }],
  ['chain.scheme', { chain: { kind: 'devnet', scheme: 'poseidon' } }],
  ['chain.mining', { chain: { kind: 'devnet', mining: 'never' } }],
  ['chain.mining.intervalSeconds', { chain: { kind: 'devnet', mining: { intervalSeconds: 0 } } }],
  [`chain.alloc.${accountAt(1)}.balance`, { chain: { kind: 'devnet', alloc: { [accountAt(1)]: { balance: '0x1' } } } }],
  [`chain.alloc.${accountAt(1)}.nonce`, { chain: { kind: 'devnet', alloc: { [accountAt(1)]: { nonce: 1 } } } }],
  ['dictionary.kind', { dictionary: { kind: 'file' } }],
  ['dictionary', { dictionary: null }],
  ['kernelBuild', { kernelBuild: 'smid' }],
  ['gasSearch', { gasSearch: 'binary' }],
  ['storeCheck', { storeCheck: 'none' }],
  ['requestTimeoutMs', { requestTimeoutMs: -1 }],
  ['gasBudget', { gasBudget: '1000' }],
  ['connectionGasBudget', { connectionGasBudget: 0 }],
  ['maxBatch', { maxBatch: Number.NaN }],
  ['maxSubscriptions', { maxSubscriptions: 0 }],
  ['storage.budgets.devnet', { storage: { budgets: { devnet: '1' } } }],
  ['storage.fallback', { storage: { fallback: 'none' } }],
  ['storeName', { storeName: 5 }],
  ['chain.layerOne', { chain: { kind: 'light', network: linea, endpoints, layerOne: 'holesky' } }],
  ['chain.proveLayerOne', { chain: { kind: 'light', network: linea, endpoints, proveLayerOne: 'yes' } }],
  ['chain.maxReorgDepth', { chain: { kind: 'light', network: linea, endpoints, maxReorgDepth: '5' } }],
  ['chain.maxLagBlocks', { chain: { kind: 'light', network: linea, endpoints, maxLagBlocks: -1 } }],
  ['chain.accessLists', { chain: { kind: 'light', network: linea, endpoints, accessLists: 1 } }],
  ['chain.endpoints[0]', { chain: { kind: 'light', network: linea, endpoints: [5] } }],
  ['chain.endpoints[0].url', { chain: { kind: 'light', network: linea, endpoints: [{ apiKey: KEY }] } }],
  [
    'chain.endpoints[0].headers.a',
    { chain: { kind: 'light', network: linea, endpoints: [{ url: 'x', headers: { a: 1 } }] } },
  ],
  [
    'chain.endpoints[0].timeoutMs',
    { chain: { kind: 'light', network: linea, endpoints: [{ url: 'x', timeoutMs: '1' }] } },
  ],
  ['chain.endpoints[0].headers', light({ endpoints: [{ url: 'x', headers: new Headers({ authorization: KEY }) }] })],
  ['chain.endpoints[0].headers', light({ endpoints: [{ url: 'x', headers: new Map([['authorization', KEY]]) }] })],
  ['chain.endpoints[0].provider', light({ endpoints: [{ provider: {} }] })],
  ['chain.alloc', { chain: { kind: 'devnet', alloc: new Map([[accountAt(1), { balance: 1n }]]) } }],
  ['chain', { chain: new Map([['kind', 'light']]) }],
  ['chain.layerOneHeader', { chain: { kind: 'light', network: linea, endpoints, layerOneHeader: KEY } }],
  ['chain.network.forks[0].hardfork', ofProfile({ forks: [{ hardfork: 'cancoon', block: 0 }] })],
  ['chain.network.forks[0].blobs.baseFeeUpdateFraction', ofProfile({ forks: [withBlobs(5_007_716)] })],
  ['chain.network.forks[0].blobs.target', ofProfile({ forks: [withBlobs(5_007_716n, null)] })],
  ['chain.network.layerOne', ofProfile({ layerOne: 'holesky' })],
  ['chain.network.rollup', ofProfile({ rollup: undefined })],
  ['chain.network.rollup.address', ofProfile({ rollup: { ...linea.rollup, address: '0x12' } })],
  ['chain.network.baseFeePerGas', ofProfile({ baseFeePerGas: 7 })],
  ['chain.network.hashSchemes[0].scheme', ofProfile({ hashSchemes: [{ fromBlock: 0, scheme: 'keccak' }] })],
  ['chain.network.pricing.model', ofProfile({ pricing: { model: 'free' } })],
  [
    'chain.network.pricing.defaults.fixedCostWei',
    ofProfile({ pricing: { ...linea.pricing, defaults: { fixedCostWei: 1 } } }),
  ],
  ['chain.importBlocks', { chain: { kind: 'devnet', importBlocks: 'blocks.rlp' } }],
  ['chain.finality.delayBlocks', { chain: { kind: 'devnet', finality: { delayBlocks: 1.5 } } }],
  ['chain.trieLogs', { chain: { kind: 'replica', network: linea, endpoints, layerOne: endpoints } }],
  ['chain.intermediateRoots', replica({ intermediateRoots: 'no' })],
];

/** What was given in place of options, and the whole message. */
const TOP = "{ chain: { kind: 'light', network: linea, endpoints: ['https://…'] } }; an empty object opens a devnet";
const VIEM = { id: 59_144, name: 'Linea', rpcUrls: { default: { http: [endpoints[0]] } } };
const MEANT: readonly (readonly [message: string, options: unknown])[] = [
  [`options: must be an object, is a string; give ${TOP}`, 'linea'],
  [`options: must be an object, is a string; give ${TOP}`, endpoints[0]],
  [`options: must be an object, is a number; give ${TOP}`, 5],
  [`options: must be an object, is a list; give ${TOP}`, ['x']],
  // What has no members of its own would open a devnet as an empty object does.
  [`options: must be an object, is a Promise; give ${TOP}`, Promise.resolve(light({}))],
  [`options: must be an object, is a Map; give ${TOP}`, new Map([['chain', {}]])],
  [`options: must be an object, is a URL; give ${TOP}`, new URL(endpoints[0]!)],
  [`options: must be an object, is null; give ${TOP}`, null],
  [`options: must be those of a node; this is a chain of viem; give ${TOP}`, VIEM],
  [`chain: is a chain of viem; choose a profile such as \`linea\`: give ${TOP}`, { chain: VIEM }],
  [
    `chain.network: is a chain of viem; choose a profile such as \`linea\`: ${TOP}`,
    { chain: { kind: 'light', endpoints, network: VIEM } },
  ],
  [`rpcUrl: is not an option; URLs are the endpoints of a chain; give ${TOP}`, { rpcUrl: endpoints[0] }],
  [`network: belongs into chain; give ${TOP}`, { network: 'linea' }],
  [`endpoints: belongs into chain; give ${TOP}`, { endpoints }],
  ['apiKey: belongs to an endpoint: endpoints: [{ url, apiKey }]', { apiKey: KEY }],
  [`chain: has no kind; a URL is an endpoint: give ${TOP}`, { chain: { url: endpoints[0] } }],
  ['chain.apiKey: belongs to an endpoint: endpoints: [{ url, apiKey }]', light({ apiKey: KEY })],
  ['chain: must be an object, is a string', { chain: 'linea' }],
  [
    'chain.network: must be a network profile, such as `linea` or `devnet()`; a name is not enough',
    light({ network: 'linea' }),
  ],
];

describe('options that are none', () => {
  test.each(WRONG)('%s: a node does not open and says which, without its value: %#', async (parameter, options) => {
    const error = await createInlineNode(options as NodeOptions).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'PlumblineError', code: 'INVALID_PARAMETER', details: { parameter } });
    expect((error as Error).message).toContain(parameter);
    expect((error as Error).message).not.toContain(KEY);
  });

  test.each(WRONG)('%s: the proxy of a page is not registered with them: %#', async (parameter, options) => {
    const given = { scriptUrl: '/service-worker.js', ...(options as NodeOptions) };
    await expect(registerRpcProxy(given)).rejects.toMatchObject({ code: 'INVALID_PARAMETER', details: { parameter } });
  });

  test.each(MEANT)('%s', async (message, options) => {
    const refused = { name: 'PlumblineError', code: 'INVALID_PARAMETER', message };
    await expect(createInlineNode(options as NodeOptions)).rejects.toMatchObject(refused);
    await expect(createNode(options as NodeOptions)).rejects.toMatchObject(refused);
    expect(message).not.toContain(KEY);
    if (message.startsWith('options')) await expect(registerRpcProxy(options as never)).rejects.toMatchObject(refused);
  });

  test('a profile of the library, and one that came as a message, have no wrong member', async () => {
    const { requireKnown } = await import('../../src/hosts/options/require-known.js');
    for (const network of Object.values(NETWORKS)) {
      const options = { chain: { kind: 'light', network: structuredClone(network), endpoints } } as const;
      expect(() => requireKnown<NodeOptions>(options, {})).not.toThrow();
    }
  });

  test.each([
    ['options', 'demo'],
    ['prot', { prot: 1 }],
    ['port', { port: '8545' }],
    ['webSocket.pingMs', { webSocket: { pingMs: 0 } }],
    ['onRequest', { onRequest: true }],
  ])('of a server: %s', async (parameter, options) => {
    const node = await createInlineNode();
    onTestFinished(() => node.close());
    const refused = { code: 'INVALID_PARAMETER', details: { parameter } };
    await expect(serve(node, options as ServeOptions)).rejects.toMatchObject(refused);
  });

  test('where there are neither workers nor service workers, that is what is said', async () => {
    await expect(createNode()).rejects.toMatchObject({ code: 'WORKER_FAILED', message: /plumbline-l2\/inline/ });
    const registering = registerRpcProxy({ scriptUrl: '/service-worker.js' });
    await expect(registering).rejects.toMatchObject({ code: 'WORKER_FAILED' });
  });

  test.each<NodeOptions>([
    {},
    { chain: { kind: 'devnet', mining: { intervalSeconds: 2 }, alloc: { [accountAt(1)]: {} } } },
    { chain: { kind: 'light', network: linea, endpoints, layerOne: endpoints, level: 'plain' } },
    // As it comes through a message.
    structuredClone({
      chain: { kind: 'replica', network: linea, endpoints, layerOne: endpoints, trieLogs: endpoints },
    }),
    { requestTimeoutMs: Number.POSITIVE_INFINITY, kernelBuild: 'scalar', dictionary: { kind: 'general' } },
  ])('sound ones pass: %#', (options) => {
    expect(() => requireOptions(options)).not.toThrow();
  });
});
