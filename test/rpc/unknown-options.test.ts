import { describe, expect, test } from 'vitest';
import { createInlineNode, type NodeOptions } from '../../src/hosts/opening/inline.js';
import { proxyConfig } from '../../src/hosts/proxy/config.js';
import { createNode } from '../../src/hosts/worker/client.js';
import { devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import { accountAt } from '../support/dev-node.js';

const KEY = '0123456789abcdef';
const url = `https://first.example/v3/${KEY}`;
const light = (more: object) => ({ chain: { kind: 'light', network: linea, endpoints: [url], ...more } });
const onDevnet = (more: object) => ({ chain: { kind: 'devnet', ...more } });
const ENDPOINT = 'timeoutMs, ratePerSecond, burst, concurrency, batchLimit, url, apiKey, headers, maxResponseBytes';

/** Options with a member that does not exist, and the whole message. */
const UNKNOWN: readonly (readonly [message: string, options: object])[] = [
  ['chian: is not an option; did you mean chain?', { chian: light({}).chain }],
  ['Chain: is not an option; did you mean chain?', { Chain: light({}).chain }],
  ['store: is not an option; did you mean storeName?', { store: 'wallet' }],
  ['storage.budget: is not an option; did you mean budgets?', { storage: { budget: {} } }],
  ['storage.budgets.proof: is not an option; did you mean proofs?', { storage: { budgets: { proof: 1 } } }],
  ['dictionary.urls: is not an option; did you mean url?', { dictionary: { kind: 'url', urls: [url] } }],
  ['chain.endpoint: is not an option; did you mean endpoints?', light({ endpoint: url })],
  ['chain.layer1: is not an option; did you mean layerOne?', light({ layer1: [url] })],
  ['chain.endpoints[0].apikey: is not an option; did you mean apiKey?', light({ endpoints: [{ url, apikey: KEY }] })],
  [
    `chain.endpoints[1].secret: is not an option; the options are ${ENDPOINT}`,
    light({ endpoints: [url, { url, secret: KEY }] }),
  ],
  [
    'chain.layerOne.checkpoint.rot: is not an option; did you mean root?',
    light({ layerOne: { consensus: [url], execution: [url], checkpoint: { rot: '0x' } } }),
  ],
  [
    'chain.layerOne.consensus[0].header: is not an option; did you mean headers?',
    light({ layerOne: { consensus: [{ url, header: {} }], execution: [url] } }),
  ],
  ['chain.network.chainID: is not an option; did you mean chainId?', light({ network: { ...linea, chainID: 1 } })],
  [
    'chain.network.sealing.clique.signer: is not an option; did you mean signers?',
    light({ network: { ...linea, sealing: { clique: { signer: [], lastBlock: 1, epochLength: 1 } } } }),
  ],
  [
    'chain.network.pricing.margin: is not an option; the options are model, defaults, estimateMargin',
    onDevnet({ network: { ...devnet(), pricing: { ...devnet().pricing, margin: 1 } } }),
  ],
  ['chain.minning: is not an option; did you mean mining?', onDevnet({ minning: 'manual' })],
  ['chain.mining.interval: is not an option; did you mean intervalSeconds?', onDevnet({ mining: { interval: 1 } })],
  ['chain.finality.delay: is not an option; did you mean delayBlocks?', onDevnet({ finality: { delay: 1 } })],
  [
    `chain.alloc.${accountAt(1)}.balanse: is not an option; did you mean balance?`,
    onDevnet({ alloc: { [accountAt(1)]: { balanse: 1n } } }),
  ],
  ['http.allowedOrigin: is not an option; did you mean allowedOrigins?', { http: { allowedOrigin: '*' } }],
];

const thrownBy = (opening: Promise<unknown>) =>
  opening.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('members of options that do not exist', () => {
  const cases = UNKNOWN.map(([message, options]) => [message, options as NodeOptions] as const);

  test.each(cases.filter(([message]) => !message.startsWith('store:')))('%s', async (message, options) => {
    const refused = { name: 'PlumblineError', code: 'INVALID_PARAMETER', message };
    expect(await thrownBy(createInlineNode(options))).toMatchObject(refused);
    expect(message).not.toContain(KEY);
  });

  test.each(cases)('%s (in a page)', async (message, options) => {
    // Before a worker is started: there are none here.
    expect(await thrownBy(createNode(options))).toMatchObject({ code: 'INVALID_PARAMETER', message });
  });

  test.each(cases.filter(([message]) => !message.startsWith('http')))('%s (proxy of a page)', (message, options) => {
    const given = { scriptUrl: '/service-worker.js', ...options };
    expect(() => proxyConfig(given, 'https://dapp.example/')).toThrow(message);
  });

  test('options of one way to open a node are not those of another', async () => {
    const asInline = await thrownBy(createInlineNode({ loadTimeoutMs: 1 } as NodeOptions));
    expect(asInline).toMatchObject({ code: 'INVALID_PARAMETER', details: { parameter: 'loadTimeoutMs' } });
    const asProxy = { scriptUrl: '/service-worker.js', scopes: '/' };
    expect(() => proxyConfig(asProxy as never, 'https://dapp.example/')).toThrow(
      'scopes: is not an option; did you mean scope?',
    );
  });

  test('a name that an object inherits is not one of its options', async () => {
    const given = JSON.parse('{"constructor": 1}');
    expect(await thrownBy(createInlineNode(given))).toMatchObject({ details: { parameter: 'constructor' } });
  });

  test('names that a caller chooses are not checked: headers, modules, the members of a genesis file', async () => {
    const headers = { 'x-anything': 'yes' };
    const network = { ...linea, moduleLimits: { HUB: 1 } as object };
    const node = await createInlineNode({
      chain: { kind: 'light', network, endpoints: [{ url: 'http://127.0.0.1:9/', headers }] },
      dictionary: { kind: 'general' },
      http: { allowedOrigins: '*' },
    });
    expect(node.info.chainId).toBe(59_144);
    await node.close();
  });
});
