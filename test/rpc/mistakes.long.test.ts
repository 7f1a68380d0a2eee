import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { linea } from '../../src/networks/linea.js';
import { accountAt, devNode, stranger, word } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';
import { signTransaction } from '../support/sign.js';

/*
 * What newcomers get wrong: the code and the sentence that they read, and what they meant, which has to work. Mistakes with endpoints
 * are in endpoint-mistakes.long.test.ts; those of a page, such as its policy and its bundler, in test/page/worker-policies.spec.ts and
 * test/packaging.
 */

const [ONE, TWO] = ['https://host.example/v3/KEY', 'https://other.example/v3/KEY'];
const [ME, OTHER] = [accountAt(0), stranger('42')];
const light = (more: object) => ({ chain: { kind: 'light', network: linea, endpoints: [ONE], ...more } });
const devnet = (more: object) => ({ chain: { kind: 'devnet', ...more } });
const NO_PROFILE = 'chain.network: must be a network profile, such as `linea` or `devnet()`; a name is not enough';
const consensus = (checkpoint: object) => light({ layerOne: { consensus: [ONE], execution: [TWO], checkpoint } });

/** Options with which no node opens, all `INVALID_PARAMETER`; and those that were meant. */
const OPTIONS: readonly (readonly [mistake: string, given: unknown, sentence: string, meant: unknown])[] = [
  ['a kind in place of a chain', { chain: 'devnet' }, 'chain: must be an object, is a string', devnet({})],
  ['a misspelt kind', light({ kind: 'lihgt' }), 'chain.kind: must be one of devnet, light, replica', light({})],
  ['a misspelt option', { chian: {} }, 'chian: is not an option; did you mean chain?', devnet({})],
  [
    'an option of the chain beside it',
    { kind: 'devnet' },
    'kind: is not an option; the options are chain, ',
    devnet({}),
  ],
  ['no network', light({ network: undefined }), NO_PROFILE, light({})],
  ['a network by its name', light({ network: 'linea' }), NO_PROFILE, light({})],
  ['a network by its number', light({ network: 59_144 }), NO_PROFILE, light({})],
  [
    'no endpoints',
    light({ endpoints: undefined }),
    'chain.endpoints: must be a list of endpoints: docs/providers.md lists some; none is a default, since an endpoint sees what you ask',
    light({}),
  ],
  ['an empty list of endpoints', light({ endpoints: [] }), 'endpoints: must name at least one endpoint', light({})],
  ['one URL', light({ endpoints: ONE }), 'chain.endpoints: must be a list of endpoints, is a string', light({})],
  [
    'a URL without https',
    light({ endpoints: ['host.example'] }),
    'endpoint: must be an absolute http or https URL',
    light({}),
  ],
  ['a WebSocket', light({ endpoints: ['wss://host.example'] }), 'endpoint: must be an http or https URL', light({})],
  ['a key alone', light({ endpoints: [{ apiKey: 'KEY' }] }), 'chain.endpoints[0].url: must be text', light({})],
  [
    'a key that is a number',
    light({ endpoints: [{ url: 'https://host.example', apiKey: 12 }] }),
    'chain.endpoints[0].apiKey: must be text',
    light({ endpoints: [{ url: 'https://host.example', apiKey: '12' }] }),
  ],
  [
    'a level of its own',
    light({ level: 'trusted' }),
    'level: must be one of plain, linked, attested, sealed',
    light({ level: 'plain' }),
  ],
  [
    'a level for several endpoints',
    light({ level: 'linked' }),
    'level: linked needs endpoints of two hosts or more',
    light({ level: 'linked', endpoints: [ONE, TWO] }),
  ],
  [
    'rpcUrl',
    light({ rpcUrl: ONE }),
    'chain.rpcUrl: is not an option; the options are kind, network, endpoints, ',
    light({}),
  ],
  [
    'layer1',
    light({ layer1: [TWO] }),
    'chain.layer1: is not an option; did you mean layerOne?',
    light({ layerOne: [TWO] }),
  ],
  [
    'one URL of layer 1',
    light({ layerOne: TWO }),
    'chain.layerOne: must be a list of endpoints or { consensus, execution }, is a string',
    light({ layerOne: [TWO] }),
  ],
  [
    'a checkpoint without its root',
    consensus({}),
    'chain.layerOne.checkpoint.root: must be hex text that begins with 0x',
    consensus({ root: word(1n) }),
  ],
  [
    'a time limit below zero',
    { requestTimeoutMs: -1 },
    'requestTimeoutMs: must be a number above zero',
    { requestTimeoutMs: 1_000 },
  ],
  ['batches of nothing', { maxBatch: 0 }, 'maxBatch: must be a number above zero', { maxBatch: 10 }],
  [
    'a check of its own',
    { openCheck: 'never' },
    'openCheck: must be one of wait, background',
    { openCheck: 'background' },
  ],
  [
    'mining of its own',
    devnet({ mining: 'automatic' }),
    'chain.mining: must be one of auto, manual, { intervalSeconds }',
    devnet({ mining: 'auto' }),
  ],
  [
    'a short address',
    devnet({ alloc: { '0x12': { balance: 1n } } }),
    'chain.alloc.0x12: must be an address of 20 bytes in hex',
    devnet({ alloc: { [OTHER]: { balance: 1n } } }),
  ],
  [
    'a balance that is a number',
    devnet({ alloc: { [OTHER]: { balance: 1 } } }),
    `chain.alloc.${OTHER}.balance: must be a bigint, zero or above`,
    devnet({ alloc: { [OTHER]: { balance: 1n } } }),
  ],
  [
    'a dictionary without its place',
    { dictionary: { kind: 'url' } },
    'dictionary.url: must be text',
    { dictionary: { kind: 'url', url: 'http://127.0.0.1:1/dictionary' } },
  ],
];

test.each(OPTIONS)('options: %s', async (_, given, sentence, meant) => {
  const error = await createInlineNode(given as InlineOptions).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'PlumblineError', code: 'INVALID_PARAMETER' });
  const { message } = error as Error;
  // A list of all options is long.
  expect(sentence.endsWith(' ') ? message.slice(0, sentence.length) : message).toBe(sentence);
  const node = await createInlineNode(meant as InlineOptions);
  await node.close();
});

const TRANSFER = { from: ME, to: OTHER, value: '0x1' };
const FEES = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
const raw = (more: object) => [signTransaction(0, { nonce: 0, to: OTHER, gasLimit: 21_000n, ...FEES, ...more })];
const [BALANCE, CALL] = [
  [ME, 'latest'],
  [{ to: OTHER }, 'latest'],
];

type Row = readonly [
  mistake: string,
  method: string,
  params: readonly unknown[],
  reason: string,
  sentence: string,
  meant: readonly unknown[],
  meantMethod?: string,
];

const INVALID = 'INVALID_PARAMETER';
const REJECTED = 'TRANSACTION_REJECTED';

/** Requests of a devnet. Where the reference node has a text of its own, the sentence is that one. */
const REQUESTS: readonly Row[] = [
  [
    'a method that is not there',
    'eth_getTokens',
    [],
    'METHOD_NOT_FOUND',
    'Method not found (eth_getTokens)',
    [],
    'eth_accounts',
  ],
  [
    'other letters',
    'eth_getbalance',
    BALANCE,
    'METHOD_NOT_FOUND',
    'Method not found (eth_getbalance)',
    BALANCE,
    'eth_getBalance',
  ],
  [
    'a short address',
    'eth_getBalance',
    ['0x12', 'latest'],
    INVALID,
    'Invalid address params (address: expected 20 bytes, got 1)',
    BALANCE,
  ],
  [
    'no 0x',
    'eth_getBalance',
    [ME.slice(2), 'latest'],
    INVALID,
    'Invalid address params (address: does not start with 0x)',
    BALANCE,
  ],
  [
    'a name',
    'eth_getBalance',
    ['me.eth', 'latest'],
    INVALID,
    'Invalid address params (address: does not start with 0x)',
    BALANCE,
  ],
  ['no address', 'eth_getBalance', [], INVALID, 'Invalid address params (address: is missing)', BALANCE],
  [
    'a tag of its own',
    'eth_getBalance',
    [ME, 'newest'],
    INVALID,
    'Invalid block param (block: is neither a block tag nor hex)',
    BALANCE,
  ],
  [
    'a block that is a number',
    'eth_getBlockByNumber',
    [0, false],
    INVALID,
    'Invalid block param (block: is a number; write it in hex, such as "0x1b4")',
    ['0x0', false],
  ],
  ['a later block', 'eth_getBalance', [ME, '0x999'], 'BLOCK_NOT_FOUND', 'Unknown block', BALANCE],
  [
    'gas that is a number',
    'eth_call',
    [{ to: OTHER, gas: 21_000 }],
    INVALID,
    'Invalid call params (gas: is not a string)',
    CALL,
  ],
  [
    'decimal digits',
    'eth_call',
    [{ to: OTHER, value: '10' }],
    INVALID,
    'Invalid call params (value: is not 0x and hex digits)',
    CALL,
  ],
  [
    'ether in place of wei',
    'eth_sendTransaction',
    [{ ...TRANSFER, value: '0.1' }],
    INVALID,
    'Invalid call params (value: is not 0x and hex digits)',
    [TRANSFER],
  ],
  [
    'two data',
    'eth_call',
    [{ to: OTHER, data: '0x01', input: '0x02' }],
    INVALID,
    'Invalid call params (data: differs from input)',
    CALL,
  ],
  [
    'two kinds of price',
    'eth_estimateGas',
    [{ ...TRANSFER, gasPrice: '0x7', maxFeePerGas: '0x7' }],
    INVALID,
    'Invalid params (gasPrice: cannot be combined with maxFeePerGas)',
    [{ ...TRANSFER, gasPrice: '0x7' }],
  ],
  [
    'more ether than there is',
    'eth_estimateGas',
    [{ from: OTHER, to: ME, value: '0x1', gasPrice: '0x1' }],
    'UPFRONT_COST_EXCEEDS_BALANCE',
    'Upfront cost exceeds account balance',
    [{ from: OTHER, to: ME, value: '0x1', gasPrice: '0x1' }, 'latest', { [OTHER]: { balance: '0xde0b6b3a7640000' } }],
  ],
  [
    'a call that reverts',
    'eth_estimateGas',
    [{ from: ME, data: '0x60006000fd' }],
    'EXECUTION_REVERTED',
    'Execution reverted',
    [TRANSFER],
  ],
  [
    'an account without a key',
    'eth_sendTransaction',
    [{ ...TRANSFER, from: OTHER }],
    REJECTED,
    'Sender account not authorized to send transactions',
    [TRANSFER],
  ],
  [
    'a signature without a key',
    'personal_sign',
    ['0x00', OTHER],
    'WALLET_REFUSED',
    `no key is held for ${OTHER}; use an account of eth_accounts`,
    ['0x00', ME],
  ],
  [
    'text',
    'eth_sendRawTransaction',
    ['hello'],
    INVALID,
    'Invalid transaction params (transaction: does not start with 0x)',
    raw({ nonce: 4 }),
  ],
  [
    'bytes of nothing',
    'eth_sendRawTransaction',
    ['0x01'],
    REJECTED,
    'Invalid transaction params (the transaction is malformed: the payload is not a list)',
    raw({ nonce: 5 }),
  ],
  ['another chain', 'eth_sendRawTransaction', raw({ chainId: 1 }), REJECTED, 'Wrong chainId', raw({ nonce: 6 })],
  [
    'too little gas',
    'eth_sendRawTransaction',
    raw({ gasLimit: 20_000n, nonce: 7 }),
    REJECTED,
    'Intrinsic gas exceeds gas limit',
    raw({ nonce: 7 }),
  ],
  [
    'a price below the base fee',
    'eth_sendRawTransaction',
    raw({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, nonce: 8 }),
    REJECTED,
    'Gas price below configured minimum gas price',
    raw({ nonce: 8 }),
  ],
  [
    'a used nonce',
    'eth_sendRawTransaction',
    raw({ nonce: 0, value: 7n }),
    REJECTED,
    'Nonce too low',
    raw({ nonce: 9 }),
  ],
  [
    'a short hash',
    'eth_getTransactionReceipt',
    ['0x12'],
    INVALID,
    'Invalid params (transactionHash: expected 32 bytes, got 1)',
    [word(1n)],
  ],
  [
    'a filter that is gone',
    'eth_getFilterChanges',
    ['0x1234'],
    'FILTER_NOT_FOUND',
    'Filter not found',
    [],
    'eth_newBlockFilter',
  ],
  [
    'blocks in the wrong order',
    'eth_getLogs',
    [{ fromBlock: '0x2', toBlock: '0x1' }],
    INVALID,
    'Invalid block range params (fromBlock: is above toBlock)',
    [{ fromBlock: '0x1', toBlock: '0x2' }],
  ],
  [
    'a proof of a block that is not final',
    'linea_getProof',
    [ME, [], '0x999'],
    'BLOCK_NOT_PROVABLE',
    'BLOCK_MISSING_IN_CHAIN - block is missing',
    [ME, [], 'finalized'],
  ],
  [
    'a long key',
    'eth_getStorageAt',
    [OTHER, `${word(1n)}00`, 'latest'],
    INVALID,
    'Invalid position params (position: is longer than 32 bytes)',
    [OTHER, word(1n), 'latest'],
  ],
  [
    'overrides in a list',
    'eth_call',
    [{ to: OTHER }, 'latest', []],
    INVALID,
    'Invalid state override params (stateOverride: is not an object)',
    [{ to: OTHER }, 'latest', {}],
  ],
  [
    'news of its own',
    'eth_subscribe',
    ['newBlocks'],
    INVALID,
    'Invalid params (subscription: must be one of newHeads, logs, transactionReceipts, syncing, newPendingTransactions)',
    ['newHeads'],
  ],
  [
    'a chain that the node does not have',
    'wallet_switchEthereumChain',
    [{ chainId: '0x1' }],
    'WALLET_REFUSED',
    'this connection has one chain, 0xe703; chain 0x1 needs a connection of its own',
    [{ chainId: '0xe703' }],
  ],
];

async function asked(node: PlumblineNode, method: string, params: readonly unknown[]) {
  const request = node.request<UntypedMethod>({ method, params });
  return request.then(
    (result) => ({ result }),
    ({ reason, message }) => ({ reason, message }),
  );
}

describe('requests', () => {
  let node: PlumblineNode;
  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet' } });
    // Two blocks, of the first two nonces.
    for (let i = 0; i < 2; i++)
      await node.request({ method: 'eth_sendTransaction', params: [{ ...TRANSFER, gas: '0x5208' } as never] });
  });
  afterAll(() => node.close());

  for (const [mistake, method, params, reason, message, meant, meantMethod = method] of REQUESTS) {
    test(mistake, async () => {
      expect(await asked(node, method, params)).toEqual({ reason, message });
      expect(await asked(node, meantMethod, meant)).toHaveProperty('result');
    });
  }

  test('a light node: what only a devnet has, and a key that it does not hold', async () => {
    const scene = await lightScene();
    const keys = 'this node holds no keys; sign in the wallet and send with eth_sendRawTransaction, or open a devnet';
    expect(await asked(scene.light, 'evm_mine', [])).toEqual({
      reason: 'METHOD_NOT_ENABLED',
      message: 'Method not enabled (evm_mine)',
    });
    expect(await asked(scene.light, 'eth_sendTransaction', [TRANSFER])).toEqual({
      reason: 'METHOD_NOT_ENABLED',
      message: `Method not enabled (eth_sendTransaction: ${keys})`,
    });
  });

  test('a node that was closed', async () => {
    const { node: other } = await devNode();
    await other.close();
    expect(await asked(other, 'eth_chainId', [])).toEqual({
      reason: 'NODE_CLOSED',
      message: 'the node was closed; open it again',
    });
  });

  test('a body that is no JSON, and an empty batch', async () => {
    const { node: other } = await devNode();
    onTestFinished(() => other.close());
    const answer = async (body: string) =>
      (await other.handle(new Request('http://localhost/', { method: 'POST', body }))).json();
    expect(await answer('{method: eth_chainId}')).toMatchObject({ error: { code: -32700 } });
    expect(await answer('[]')).toMatchObject({ error: { code: -32600 } });
  });
});

test('the tables have sixty mistakes', () => {
  expect(OPTIONS.length + REQUESTS.length + 5).toBeGreaterThanOrEqual(60);
});
