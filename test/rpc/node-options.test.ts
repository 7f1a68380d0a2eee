import { describe, expect, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { NodeOptions } from '../../src/hosts/options/options.js';
import { requireOptions } from '../../src/hosts/options/require-options.js';
import { proxyConfig } from '../../src/hosts/proxy/config.js';
import { registerRpcProxy } from '../../src/hosts/proxy/register.js';
import { createNode } from '../../src/hosts/worker/client.js';
import { devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import { accountAt } from '../support/dev-node.js';

const KEY = '0123456789abcdef';
const endpoints = [`https://first.example/v3/${KEY}`];

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
  ['chain.mining', { chain: { kind: 'devnet', mining: { intervalSeconds: 0 } } }],
  ['chain.alloc', { chain: { kind: 'devnet', alloc: { [accountAt(1)]: { balance: '0x1' } } } }],
  ['chain.alloc', { chain: { kind: 'devnet', alloc: { [accountAt(1)]: { nonce: 1 } } } }],
  ['dictionary.kind', { dictionary: { kind: 'file' } }],
  ['dictionary.kind', { dictionary: null }],
  ['kernelBuild', { kernelBuild: 'smid' }],
  ['gasSearch', { gasSearch: 'binary' }],
  ['storeCheck', { storeCheck: 'none' }],
  ['requestTimeoutMs', { requestTimeoutMs: -1 }],
  ['gasBudget', { gasBudget: '1000' }],
  ['connectionGasBudget', { connectionGasBudget: 0 }],
  ['maxBatch', { maxBatch: Number.NaN }],
  ['maxSubscriptions', { maxSubscriptions: 0 }],
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

  test.each(WRONG.filter(([, options]) => (options as NodeOptions).chain !== null))(
    '%s: the proxy of a page is not registered with them: %#',
    (parameter, options) => {
      const given = { scriptUrl: '/service-worker.js', ...(options as NodeOptions) };
      expect(() => proxyConfig(given, 'https://dapp.example/')).toThrow(parameter);
    },
  );

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
