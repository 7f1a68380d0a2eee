import { devnet } from '../../../src/networks/devnet.js';
import { accountAt } from '../dev-node.js';
import { ENDLESS, endlessAccounts, roundsOf } from '../endless.js';

/* Requests that hold a node for as long as they may. */

/** So much gas that a call takes minutes. */
const GAS = 9_000_000_000n;
const gas = `0x${GAS.toString(16)}`;

const { alloc, calls } = endlessAccounts({ ...ENDLESS, short: { code: roundsOf(0x4500) } });
const short = calls.at(-1)![1];

export const request = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
const many = (count: number, one: object) => Array.from({ length: count }, (_, id) => ({ ...one, id }));
const keys = Array.from({ length: 1024 }, (_, key) => `0x${key.toString(16)}`);
const block = { calls: Array.from({ length: 8 }, () => ({ to: short.to, gas: '0x10000' })) };

/** The devnet that they are sent to. */
export const HEAVY_CHAIN = {
  kind: 'devnet',
  network: { ...devnet(), rpcGasCap: GAS },
  alloc,
  mining: 'manual',
} as const;

/** Loads what requests load at first. */
export const WARM_UP = request('eth_call', { ...short, gas: '0x10000' }, 'latest');

/** Programs that end only when their gas does. */
export const PROGRAMS = calls.slice(0, -1).map(([name, call]) => [name, { ...call, gas }] as const);

/** Requests of any chain, by their names. */
export const HEAVY_READS: readonly (readonly [name: string, body: unknown])[] = [
  ['1 024 calls of half a million gas', many(1024, request('eth_call', short, 'latest'))],
  ['1 024 blocks', many(1024, request('eth_getBlockByNumber', 'latest', true))],
  ['one proof of 1 024 slots', request('eth_getProof', short.to, keys, 'latest')],
  ['one zk proof of 1 024 slots', request('linea_getProof', short.to, keys, 'latest')],
  ['a simulation of 256 blocks', request('eth_simulateV1', { blockStateCalls: Array(256).fill(block) }, 'latest')],
];

export const TRANSACTIONS = many(
  1024,
  request('eth_sendTransaction', { from: accountAt(0), to: accountAt(1), value: '0x1' }),
);

export const ENDLESS_BATCH = many(1024, request('eth_call', PROGRAMS[0]![1]));

/** A batch whose answers would have 5 GB: each returns 2 500 000 bytes of its memory. */
export const LARGE_BATCH = many(
  1024,
  request('eth_call', { to: `0x${'c0'.repeat(20)}` }, 'latest', {
    [`0x${'c0'.repeat(20)}`]: { code: '0x63002625a06000f3' },
  }),
);
/** How many of its answers fit, of 5 000 002 bytes each in 32 MiB. */
export const LARGE_FIT = 6;
export const TOO_LARGE = {
  code: -32003,
  message: 'Response too large (more than 33554432 bytes)',
  data: { reason: 'ANSWER_TOO_LARGE', details: { limit: 33_554_432 } },
};

const nested = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
/** JSON nested a million deep: a request, parameters, and text that ends before its brackets do. */
export const NESTED = [nested, `{"id":1,"method":"eth_chainId","params":${nested}}`, '{"a":'.repeat(1_000_000)];
export const NESTED_ANSWER = {
  jsonrpc: '2.0',
  id: null,
  error: {
    code: -32600,
    message: 'Invalid Request (nested deeper than 256 levels)',
    data: { reason: 'REQUEST_MALFORMED', details: { reason: 'nested deeper than 256 levels' } },
  },
};

export const TIMED_OUT = { error: { code: -32603, message: 'Timeout expired' } };
