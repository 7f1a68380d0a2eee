import type { ServerResponse } from 'node:http';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { ProviderRpcError } from '../../src/hosts/provider/provider-error.js';
import { devnet } from '../../src/networks/devnet.js';
import { accountAt, type DevNode, PRICE } from './dev-node.js';
import { type MockBeacon, serveBeacon } from './mock-beacon.js';
import { type MockEndpoint, type MockOptions, type SeenCall, serveMock } from './mock-chain.js';
import { signTransaction } from './sign.js';

/** In path and query of each endpoint, and in what endpoints say. */
const KEY = '0123456789abcdef0123456789abcdef';
/** What endpoints say: with their key, a URL, a line feed, an escape sequence and a text that turns its direction. */
const WORDS = `no ${KEY} https://host.example/v3/${KEY}?q=${KEY}\n\u001b[31mred\u202e`;

/** The servers of one row. */
interface Servers {
  readonly one: MockEndpoint;
  readonly two: MockEndpoint;
  readonly execution: MockEndpoint;
  readonly beacon: MockBeacon;
}

/** One failure of endpoints or of layer 1, and what a program and a user must be told of it. */
export interface FailureRow {
  readonly name: string;
  /** Sets the servers up. */
  readonly fails: (servers: Servers) => void | Promise<void>;
  readonly chain?: (servers: Servers, root: string) => Partial<LightChainOptions>;
  readonly asks: readonly [method: string, ...params: unknown[]];
  readonly reason: string;
  /** What the sentence must have; `ONE`, `TWO`, `EXECUTION` and `BEACON` are origins. */
  readonly tells: readonly RegExp[];
}

const BALANCE = ['eth_getBalance', accountAt(0), 'latest'] as const;
const FINAL = ['eth_getBalance', accountAt(0), 'finalized'] as const;

type Intercept = NonNullable<MockOptions['intercept']>;

const http = (status: number, body = '', headers: Record<string, string> = {}): Intercept => {
  return (response: ServerResponse) => {
    response.writeHead(status, headers).end(body);
    return true;
  };
};
const says = (code: number, message = WORDS) => JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
const failing = (method: string, code: number, message = WORDS): NonNullable<MockOptions['answers']> => {
  return (call: SeenCall) => {
    if (call.method === method && call.params[0] !== 'latest') throw { code, message };
    return undefined;
  };
};
const changing = (
  method: string,
  change: (result: never, call: SeenCall) => unknown,
): NonNullable<MockOptions['tamper']> => {
  return (call: SeenCall, result: unknown) => (call.method === method ? change(result as never, call) : result);
};
const WHOLE: readonly (readonly [name: string, Intercept, reason: string, tells: RegExp])[] = [
  ['hangs', () => true, 'UPSTREAM_UNAVAILABLE', /ONE: no answer in \d+ ms; it hangs: raise timeoutMs/],
  [
    'answers with HTML',
    http(200, '<!doctype html><p>hi'),
    'UPSTREAM_CONFIGURATION',
    /ONE: .*HTML instead of JSON; check the path/,
  ],
  ['answers with text', http(200, 'It works'), 'UPSTREAM_CONFIGURATION', /ONE: .*not JSON; check the path/],
  ['answers with nothing', http(200, ''), 'UPSTREAM_MALFORMED', /ONE: not a JSON-RPC answer/],
  ['answers with other JSON', http(200, '{"ok":true}'), 'UPSTREAM_MALFORMED', /ONE: not a JSON-RPC answer/],
  ['breaks off', http(200, '{"jsonrpc":"2.0","id":1,"resu'), 'UPSTREAM_MALFORMED', /ONE: not a JSON-RPC answer/],
  ['answers nested too deep', http(200, `${'['.repeat(300)}${']'.repeat(300)}`), 'UPSTREAM_MALFORMED', /ONE: .*nested/],
  ['answers too long', http(200, `"${' '.repeat(17 * 2 ** 20)}"`), 'UPSTREAM_MALFORMED', /ONE: answer above \d+ bytes/],
  [
    'refuses the key, 401',
    http(401, says(-32000)),
    'UPSTREAM_CONFIGURATION',
    /ONE: status 401, it says "no \[redacted\] .*"; check its API key/,
  ],
  [
    'wants to be paid, 402',
    http(402, says(-32000)),
    'UPSTREAM_CONFIGURATION',
    /ONE: status 402, it says ".*"; check its API key, plan/,
  ],
  [
    'refuses the origin, 403',
    http(403),
    'UPSTREAM_CONFIGURATION',
    /ONE: status 403; check its API key, plan and allowed origins/,
  ],
  ['has no such path, 404', http(404), 'UPSTREAM_CONFIGURATION', /ONE: status 404; check the path/],
  [
    'redirects',
    http(302, '', { location: `https://other.example/${KEY}` }),
    'UPSTREAM_CONFIGURATION',
    /ONE: status 302: redirects .*; give that address/,
  ],
  [
    'limits the rate',
    http(429, says(-32005), { 'retry-after': '600' }),
    'UPSTREAM_RATE_LIMITED',
    /ONE: status 429, it says "/,
  ],
  ['is out of order, 503', http(503, says(-32000)), 'UPSTREAM_UNAVAILABLE', /ONE: status 503, it says "/],
  [
    'limits the rate at 200',
    http(200, says(-32005, `rate limit ${WORDS}`)),
    'UPSTREAM_RATE_LIMITED',
    /ONE: it says "rate limit no \[redacted\]/,
  ],
  [
    'refuses the project at 200',
    http(200, says(-32002, `bad project id ${WORDS}`)),
    'UPSTREAM_CONFIGURATION',
    /ONE: it says "bad project id no \[redacted\]/,
  ],
  ['is syncing', http(200, says(-32008, `syncing ${WORDS}`)), 'UPSTREAM_UNAVAILABLE', /ONE: it says "syncing/],
];

const ofOne = (options: Partial<MockOptions>) => (servers: Servers) => void Object.assign(servers.one.options, options);
const ofBoth = (one: Partial<MockOptions>, two: Partial<MockOptions>) => (servers: Servers) => {
  Object.assign(servers.one.options, one);
  Object.assign(servers.two.options, two);
};
const pair = (servers: Servers): Partial<LightChainOptions> => ({
  endpoints: [
    { url: servers.one.url, timeoutMs: 300 },
    { url: servers.two.url, timeoutMs: 300 },
  ],
  level: 'linked',
});
const head = (change: (header: Record<string, unknown>, call: SeenCall) => unknown): Partial<MockOptions> => ({
  tamper: changing('eth_getBlockByNumber', change as never),
});

const ERRORS: readonly (readonly [asks: FailureRow['asks'], method: string, block: string])[] = [
  [BALANCE, 'eth_getProof', ' of block 0x\\w+'],
  [['eth_getStorageAt', accountAt(0), '0x0', 'latest'], 'eth_getProof', ' of block 0x\\w+'],
  [['eth_getBlockByNumber', 'latest', true], 'eth_getBlockByHash', ' of block 0x\\w{64}'],
  [['eth_getBlockByNumber', '0x1', false], 'eth_getBlockByNumber', ' of block 0x\\w+'],
  [['eth_getTransactionByHash', `0x${'11'.repeat(32)}`], 'eth_getTransactionByHash', ''],
  [['eth_getCode', '0x0000f90827f1c53a10cb7a02335b175320002935', 'latest'], 'eth_getCode', ' of block 0x\\w+'],
];

export const FAILURE_ROWS: readonly FailureRow[] = [
  ...WHOLE.map(
    ([name, intercept, reason, tells]): FailureRow => ({
      name: `the endpoint ${name}`,
      fails: ofOne({ intercept }),
      asks: ['eth_blockNumber'],
      reason,
      tells: [tells],
    }),
  ),
  {
    name: 'the endpoint is down',
    fails: ({ one }) => one.close(),
    asks: ['eth_blockNumber'],
    reason: 'UPSTREAM_UNAVAILABLE',
    tells: [/ONE: no connection \(ECONNREFUSED\); check host and port, and that it runs/],
  },
  ...ERRORS.map(
    ([asks, method, block]): FailureRow => ({
      name: `an error of ${method} for ${asks[0]}`,
      fails: ofOne({ answers: failing(method, -32000) }),
      asks,
      reason: 'UPSTREAM_ERROR',
      tells: [
        new RegExp(
          `^ONE answered ${method}${block} with error -32000, it says "no \\[redacted\\] https://host.example\\\\u\\{a\\}`,
        ),
      ],
    }),
  ),
  {
    name: 'a method that it does not have',
    fails: ofOne({ missing: ['eth_getProof'] }),
    asks: BALANCE,
    reason: 'UPSTREAM_ERROR',
    tells: [/^ONE answered eth_getProof of block 0x\w+ with error -32601, it says "Method not found"/],
  },
  ...(
    [
      ['geth', -32000, 'missing trie node 1f2e3d'],
      ['reth', -32602, 'distance to target block exceeds maximum proof window'],
      ['Nethermind', -32002, 'No state available for block 0x5'],
    ] as const
  ).map(
    ([who, code, message]): FailureRow => ({
      name: `a state that ${who} has pruned`,
      fails: ofOne({ answers: failing('eth_getProof', code, message) }),
      asks: BALANCE,
      reason: 'UPSTREAM_ERROR',
      tells: [
        new RegExp(
          `^ONE answered eth_getProof of block 0x\\w+ with error ${code}, it says "${message}"; it does not hold the state`,
        ),
      ],
    }),
  ),
  {
    name: 'a raw transaction that it refuses',
    fails: ofOne({ answers: failing('eth_sendRawTransaction', -32000, 'nope') }),
    asks: [
      'eth_sendRawTransaction',
      signTransaction(1, { nonce: 0, to: accountAt(0), value: 1n, gasLimit: 21_000n, ...PRICE }),
    ],
    reason: 'UPSTREAM_ERROR',
    tells: [/^nope$/],
  },
  {
    name: 'another chain',
    fails: ofOne({ tamper: changing('eth_chainId', () => '0x1') }),
    asks: ['eth_blockNumber'],
    reason: 'UPSTREAM_WRONG_CHAIN',
    tells: [/^ONE serves chain 1, not 59139 \(devnet\); give the URL of that network$/],
  },
  {
    name: 'a chain id that is none',
    fails: ofOne({ tamper: changing('eth_chainId', () => WORDS) }),
    asks: ['eth_blockNumber'],
    reason: 'UPSTREAM_WRONG_CHAIN',
    tells: [/^ONE names no chain id, not 59139 \(devnet\); give the URL of that network$/],
  },
  ...(
    [
      [
        'no newest block',
        head((header, { params }) => (params[0] === 'latest' ? null : header)),
        BALANCE,
        'TRUST_LEVEL_NOT_REACHED',
        /ONE has no newest block/,
      ],
      [
        'a header that does not have its hash',
        head((header) => ({ ...header, gasUsed: '0x1' })),
        BALANCE,
        'ANSWER_REFUSED',
        /the answer of ONE to .*eth_getBlockByNumber about header was refused: HASH_MISMATCH/,
      ],
      ['a header that is none', head(() => 5), BALANCE, 'PROOF_MALFORMED', /^the answer of ONE to .* is malformed: /],
      [
        'a proof that is null',
        { tamper: changing('eth_getProof', () => null) },
        BALANCE,
        'ANSWER_REFUSED',
        /the answer of ONE to eth_getProof about state of block 0x\w+ was refused: MISSING/,
      ],
      [
        'a proof with another balance',
        { tamper: changing('eth_getProof', (proof: object) => ({ ...proof, balance: '0x1' })) },
        BALANCE,
        'ANSWER_REFUSED',
        /the answer of ONE to eth_getProof about account 0x\w{40} was refused: VALUE_MISMATCH/,
      ],
      [
        'a proof that is none',
        { tamper: changing('eth_getProof', () => ({})) },
        BALANCE,
        'PROOF_MALFORMED',
        /^the answer of ONE to .* is malformed: /,
      ],
      [
        'a body of another block',
        { tamper: changing('eth_getBlockByHash', (block: object) => ({ ...block, transactions: [] })) },
        ['eth_getBlockByNumber', '0x1', true],
        'ANSWER_REFUSED',
        /the answer of ONE to eth_getBlockByHash about body of block 1 was refused/,
      ],
      [
        'receipts that are too few',
        { tamper: changing('eth_getBlockReceipts', () => []) },
        ['eth_getBlockReceipts', '0x1'],
        'ANSWER_REFUSED',
        /the answer of ONE to eth_getBlockReceipts about receipts of block 1 was refused/,
      ],
    ] as const
  ).map(
    ([name, options, asks, reason, tells]): FailureRow => ({
      name,
      fails: ofOne(options as MockOptions),
      asks: asks as FailureRow['asks'],
      reason,
      tells: [tells],
    }),
  ),
  // Two endpoints that must agree.
  {
    name: 'one of two is down',
    fails: ({ two }) => two.close(),
    chain: pair,
    asks: BALANCE,
    reason: 'UPSTREAM_UNAVAILABLE',
    tells: [
      /^2 endpoints must agree, but only ONE answered \(TWO: no connection/,
      /name another in its place, or need fewer \(chain\.level/,
    ],
  },
  {
    name: 'one of two refuses the key',
    fails: ofBoth({}, { intercept: http(401, says(-32000)) }),
    chain: pair,
    asks: BALANCE,
    reason: 'UPSTREAM_CONFIGURATION',
    tells: [/^2 endpoints must agree, but only ONE answered \(TWO: status 401, it says "/, /name another in its place/],
  },
  {
    name: 'one of two is of another chain',
    fails: ofBoth({}, { tamper: changing('eth_chainId', () => '0x1') }),
    chain: pair,
    asks: BALANCE,
    reason: 'UPSTREAM_WRONG_CHAIN',
    tells: [/only ONE answered \(TWO serves chain 1, not 59139/],
  },
  {
    name: 'both are down',
    fails: async ({ one, two }) => void (await Promise.all([one.close(), two.close()])),
    chain: pair,
    asks: BALANCE,
    reason: 'UPSTREAM_UNAVAILABLE',
    tells: [/ONE: no connection .*; TWO: no connection/],
  },
  {
    name: 'two name different heads',
    fails: async (servers) => forked(servers.two),
    chain: pair,
    asks: BALANCE,
    reason: 'TRUST_LEVEL_NOT_REACHED',
    tells: [/ONE names block \d+, 0x\w{64}; TWO names block \d+, 0x\w{64}/],
  },
  {
    name: 'one of two does not know any block',
    fails: ofBoth(
      {},
      head(() => null),
    ),
    chain: pair,
    asks: BALANCE,
    reason: 'TRUST_LEVEL_NOT_REACHED',
    tells: [/only ONE answered \(.*TWO has no newest block/],
  },
  // Layer 1 by JSON-RPC.
  ...(
    [
      [
        'layer 1 has no such contract',
        { tamper: changing('eth_call', () => '0x') },
        'LAYER_ONE_UNUSABLE',
        /^the layer 1 at EXECUTION has no rollup contract at 0x\w{40}; name an endpoint/,
      ],
      [
        'layer 1 names no finalized block',
        head((header, { params }) => (params[0] === 'finalized' ? null : header)),
        'LAYER_ONE_UNUSABLE',
        /^the layer 1 at EXECUTION names no finalized block: it does not finalize yet; wait until it does, or name another endpoint$/,
      ],
      [
        'layer 1 knows no finalized block',
        { answers: failing('eth_getBlockByNumber', -39001, 'Unknown block') },
        'LAYER_ONE_UNUSABLE',
        /^the layer 1 at EXECUTION names no finalized block/,
      ],
      [
        'layer 1 answers with an error',
        { answers: failing('eth_call', -32000) },
        'UPSTREAM_ERROR',
        /^EXECUTION answered eth_call of block 0x\w{64} with error -32000, it says "no \[redacted\]/,
      ],
      [
        'layer 1 answers with HTML',
        { intercept: http(200, '<html>') },
        'UPSTREAM_CONFIGURATION',
        /EXECUTION: status 200: HTML instead of JSON/,
      ],
      [
        'layer 1 refuses the key',
        { intercept: http(401) },
        'UPSTREAM_CONFIGURATION',
        /EXECUTION: status 401; check its API key/,
      ],
      ['layer 1 hangs', { intercept: () => true }, 'UPSTREAM_UNAVAILABLE', /EXECUTION: no answer in \d+ ms/],
      [
        'layer 1 names a header that does not have its hash',
        head((header) => ({ ...header, gasUsed: '0x5' })),
        'ANSWER_REFUSED',
        /the answer of EXECUTION to eth_getBlockByNumber about layer-1 header was refused: HASH_MISMATCH/,
      ],
      [
        'layer 1 has no root',
        {
          tamper: changing('eth_call', (result: string, { params }) =>
            (params[0] as { data: string }).data.startsWith('0x8be745d1') ? `0x${'00'.repeat(32)}` : result,
          ),
        },
        'ANSWER_REFUSED',
        /^the answer of EXECUTION about rollup contract was refused: ROOT_MISSING \(it has no root of its own newest block \d+; check rollup\.address of the profile\)$/,
      ],
      [
        'layer 1 answers half a word',
        { tamper: changing('eth_call', () => '0x1234') },
        'PROOF_MALFORMED',
        /^the answer of EXECUTION to eth_call is malformed: /,
      ],
    ] as const
  ).map(
    ([name, options, reason, tells]): FailureRow => ({
      name,
      fails: ({ execution }) => void Object.assign(execution.options, options),
      chain: ({ execution }) => ({ layerOne: [{ url: execution.url, timeoutMs: 300 }] }),
      asks: FINAL,
      reason,
      tells: [tells],
    }),
  ),
  {
    name: 'layer 1 is down',
    fails: ({ execution }) => execution.close(),
    chain: ({ execution }) => ({ layerOne: [execution.url] }),
    asks: FINAL,
    reason: 'UPSTREAM_UNAVAILABLE',
    tells: [/EXECUTION: no connection/],
  },
  {
    name: 'no layer 1 is named',
    fails: () => {},
    asks: FINAL,
    reason: 'BLOCK_NOT_FOUND',
    tells: [/^Unknown block \(finalized: there is none yet, or chain\.layerOne names no layer 1\)$/],
  },
  {
    name: 'layer 1 is of another chain, at opening',
    fails: ({ execution }) =>
      void Object.assign(execution.options, {
        tamper: changing('eth_call', () => '0x'),
        answers: (call: SeenCall) => (call.method === 'eth_getCode' ? '0x' : undefined),
      }),
    chain: ({ execution }) => ({ layerOne: [execution.url] }),
    asks: ['open'],
    reason: 'LAYER_ONE_UNUSABLE',
    tells: [/^the layer 1 at EXECUTION has no rollup contract/],
  },
  {
    name: 'two of layer 1 that must agree: one is down',
    fails: ({ one }) => void one,
    chain: ({ execution }) => ({
      layerOne: [execution.url, { url: 'http://127.0.0.1:9/', timeoutMs: 300 }],
      layerOneAgreeing: 2,
    }),
    asks: FINAL,
    reason: 'UPSTREAM_UNAVAILABLE',
    tells: [/^2 endpoints must agree, but only EXECUTION answered \(http:\/\/127\.0\.0\.1:9: no connection/],
  },
  // Layer 1 by its consensus.
  ...(
    [
      [
        'the beacon node has no data for light clients',
        (path: string) => (path.includes('light_client') ? { status: 501, body: {} } : undefined),
        'LAYER_ONE_UNUSABLE',
        /^the layer 1 at BEACON serves no data for light clients \(status 501\); start that beacon node with its light client server, or name another$/,
      ],
      [
        'the beacon node is of another genesis',
        (path: string, { body }: { body: { data: { header: { beacon: { proposer_index: string } } } } }) => {
          const root = `0x${'42'.repeat(32)}`;
          if (path.endsWith('genesis')) return { status: 200, body: { data: { genesis_validators_root: root } } };
          if (!path.includes('bootstrap')) return undefined;
          body.data.header.beacon.proposer_index = '7';
          return { status: 200, body };
        },
        'LAYER_ONE_UNUSABLE',
        /^the layer 1 at BEACON follows another beacon chain than \w+: its validators of genesis are 0x4242\w+, not 0x\w{64}$/,
      ],
      [
        'the beacon node gives another checkpoint',
        (path: string, { body }: { body: { data: { header: { beacon: { proposer_index: string } } } } }) => {
          if (!path.includes('bootstrap')) return undefined;
          body.data.header.beacon.proposer_index = '7';
          return { status: 200, body };
        },
        'ANSWER_REFUSED',
        /^the answer of BEACON to \/eth\/v1\/beacon\/light_client\/bootstrap\/0x\w+ about bootstrap of layer 1 was refused: /,
      ],
      [
        'the beacon node does not know the checkpoint',
        (path: string) =>
          path.includes('bootstrap') ? { status: 404, body: { code: 404, message: 'no such\nblock' } } : undefined,
        'UPSTREAM_ERROR',
        /^BEACON answered \/eth\/v1\/beacon\/light_client\/bootstrap\/0x\w+ with error 404, it says "no such\\u\{a\}block"$/,
      ],
      [
        'the beacon node is out of order',
        () => ({ status: 503, body: {} }),
        'UPSTREAM_UNAVAILABLE',
        /BEACON: status 503/,
      ],
      [
        'the beacon node refuses the key',
        () => ({ status: 401, body: {} }),
        'UPSTREAM_CONFIGURATION',
        /BEACON: status 401; check its API key/,
      ],
      [
        'the beacon node answers with other JSON',
        () => ({ status: 200, body: { ok: true } }),
        'PROOF_MALFORMED',
        /^the answer of BEACON to .* is malformed: /,
      ],
    ] as const
  ).map(
    ([name, answer, reason, tells]): FailureRow => ({
      name,
      fails: ({ beacon }) => {
        beacon.tamper = (path, honest) => answer(path, honest as never) ?? honest;
      },
      chain: ({ execution, beacon }, root) => ({
        layerOne: { consensus: [beacon.url], execution: [execution.url], checkpoint: { root: root as `0x${string}` } },
      }),
      asks: FINAL,
      reason,
      tells: [tells],
    }),
  ),
  {
    name: 'no checkpoint is given',
    fails: () => {},
    chain: ({ execution, beacon }) => ({ layerOne: { consensus: [beacon.url], execution: [execution.url] } }),
    asks: FINAL,
    reason: 'CHECKPOINT_NEEDED',
    tells: [/give its root in layerOne\.checkpoint, or name servers in layerOne\.checkpointServers/],
  },
];

/** What a user reads in one row. */
export interface FailureOutcome {
  readonly reason: string;
  readonly sentence: string;
}

/** Runs one row. @param dev - a devnet with a few blocks @param root - of a beacon block of its layer 1 */
export async function runFailure(row: FailureRow, dev: DevNode, root: string): Promise<FailureOutcome> {
  const [one, two, execution] = await Promise.all([serveMock(dev.node), serveMock(dev.node), serveMock(dev.node.l1)]);
  const beacon = await serveBeacon(dev.node);
  const servers = { one, two, execution, beacon };
  await row.fails(servers);
  const url = `${new URL(one.url).origin}/v3/${KEY}?key=${KEY}`;
  const chain: LightChainOptions = {
    kind: 'light',
    network: devnet(),
    endpoints: [{ url, timeoutMs: 300 }],
    level: 'plain',
    finalityMaxAgeMs: 1,
    ...row.chain?.(servers, root),
  };
  const [method, ...params] = row.asks;
  let sentence = 'no error';
  let reason = 'none';
  try {
    const isOpening = method === 'open';
    const node = await createInlineNode({ chain, ...(isOpening && { openCheck: 'wait' }), requestTimeoutMs: 8_000 });
    try {
      if (!isOpening) await node.request<UntypedMethod>({ method, params });
    } finally {
      await node.close();
    }
  } catch (error) {
    const { message, reason: told, code } = error as ProviderRpcError;
    [sentence, reason] = [message, told ?? String(code)];
  } finally {
    await Promise.all([one, two, execution, beacon].map((server) => server.close().catch(() => {})));
  }
  const names = { ONE: one.url, TWO: two.url, EXECUTION: execution.url, BEACON: beacon.url };
  for (const [name, at] of Object.entries(names)) sentence = sentence.replaceAll(new URL(at).origin, name);
  return { reason, sentence };
}

/** What is wrong with an outcome; empty if nothing is. */
export function faultsOf({ reason, tells }: FailureRow, outcome: FailureOutcome): string[] {
  const { sentence } = outcome;
  return [
    ...(outcome.reason === reason ? [] : [`the reason is ${outcome.reason}, not ${reason}`]),
    ...tells.filter((told) => !told.test(sentence)).map((told) => `the sentence does not have ${told}`),
    ...(sentence.includes(KEY) ? ['the sentence has the key'] : []),
    ...(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(sentence)
      ? ['the sentence has control characters']
      : []),
  ];
}

/** The chain and layer 1 behind the rows. */
export async function failureChain(dev: DevNode): Promise<string> {
  await dev.transfer(0, { nonce: 0 });
  await dev.ask('anvil_mine', '0x8');
  const params = ['/eth/v1/beacon/headers/finalized'];
  const { body } = (await dev.node.l1.request<UntypedMethod>({ method: 'beacon_get', params })) as {
    body: { data: { root: string } };
  };
  return body.data.root;
}

/** Has the endpoint name a head of its own. */
async function forked(two: MockEndpoint): Promise<void> {
  const other = await createInlineNode();
  await other.request<UntypedMethod>({ method: 'anvil_mine', params: ['0x8', '0x5'] });
  two.options.tamper = ({ method, params }, result) =>
    method.startsWith('eth_getBlock') ? other.request<UntypedMethod>({ method, params }) : result;
}
