import { devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import { accountAt } from './dev-node.js';

/** A key in the options: it must not be in any message. */
export const KEY = '0123456789abcdef';
const url = `https://first.example/v3/${KEY}`;
const light = (more: object) => ({ chain: { kind: 'light', network: linea, endpoints: [url], ...more } });
const onDevnet = (more: object) => ({ chain: { kind: 'devnet', ...more } });
const ENDPOINT = 'timeoutMs, ratePerSecond, burst, concurrency, batchLimit, url, apiKey, headers, maxResponseBytes';

/** Options with a member that does not exist, and the whole message. */
export const UNKNOWN_OPTIONS: readonly (readonly [message: string, options: object])[] = [
  ['chian: is not an option; did you mean chain?', { chian: light({}).chain }],
  ['Chain: is not an option; did you mean chain?', { Chain: light({}).chain }],
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
    'chain.endpoints[0].batchLimit: is not an option; the options are timeoutMs, ratePerSecond, burst, concurrency, feed, maxAgeMs, maxResponseBytes',
    light({ endpoints: [{ feed: url, batchLimit: 1 }] }),
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
