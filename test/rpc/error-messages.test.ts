import { expect, test } from 'vitest';
import { type ErrorCode, type ErrorDetails, PlumblineError } from '../../src/errors.js';
import { createInlineNode, type NodeOptions } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { ProviderRpcError } from '../../src/hosts/provider/provider-error.js';
import { toRpcError } from '../../src/rpc/protocol/rpc-errors.js';
import { accountAt, devNode } from '../support/dev-node.js';
import { MISTAKES, mistakenEndpoints } from '../support/endpoint-mistakes.js';
import { PROVIDER_ROWS } from '../support/provider-rows.js';
import { UNKNOWN_OPTIONS } from '../support/unknown-options.js';

// docs/errors.md is what these give: a reviewer reads the file, and a changed message shows up in it
// (`npx vitest run --project node test/rpc/error-messages.test.ts -u`).

const ORIGIN = 'https://host.example';
const endpoints = [{ origin: ORIGIN, kind: 'unavailable', reason: 'status 503', status: 503 }] as const;

/** Details of each code: the compiler asks for all. */
const DETAILS: { readonly [C in ErrorCode]: ErrorDetails[C] } = {
  INVALID_HEX: { value: 'zz', reason: 'zz is not hex' },
  INVALID_QUANTITY: { value: '0x01', reason: '0x01 has a leading zero' },
  INVALID_LENGTH: { what: 'address', expected: '20 bytes', actual: 19 },
  INVALID_PARAMETER: { parameter: 'to', reason: 'must be an address' },
  OUT_OF_RANGE: { what: 'gas', value: '-1', limit: '0 to 2^63 - 1' },
  KERNEL_UNAVAILABLE: { kernel: 'hash', reason: 'no WebAssembly' },
  KERNEL_OUT_OF_MEMORY: { kernel: 'trie', memoryBytes: 1 },
  HASH_INPUT_LENGTH: { scheme: 'mimc', length: 31 },
  HASH_INPUT_NOT_CANONICAL: { scheme: 'mimc' },
  CALLDATA_TOO_LARGE: { length: 60_001, limit: 60_000 },
  DICTIONARY_LENGTH_MISMATCH: { expected: 65_536, actual: 1 },
  DICTIONARY_CHECKSUM_MISMATCH: { expected: '0x01', actual: '0x02' },
  DICTIONARY_UNREACHABLE: { origin: ORIGIN, status: 404 },
  PROOF_MALFORMED: { path: 'accountProof[0]', reason: 'is not hex' },
  PREVIEW_TOO_LARGE: { limit: 8192 },
  WALLET_REFUSED: { rule: 'unsupported', reason: 'tokens are not kept; watch them in the wallet' },
  GAS_IS_ZERO: {},
  TRANSACTION_TYPE_UNSUPPORTED: { type: 3 },
  MARGIN_INVALID: { value: '-1' },
  STATE_MISMATCH: { what: 'root', expected: '0x01', actual: '0x02' },
  STATE_NOT_HELD: { block: 1 },
  TRIE_LOG_MALFORMED: { path: 'accounts', reason: 'is not a list' },
  TRACE_MALFORMED: { path: 'traces[0]', reason: 'is not an object' },
  WITNESS_MISSING: { part: 'leaf' },
  WITNESS_CONFLICT: { position: 1, reason: 'differs' },
  BLOCK_NOT_FOUND: { block: '0x1' },
  BLOCK_NOT_PROVABLE: { block: '0x1' },
  BLOCK_PRUNED: { block: 1, from: 5 },
  TRIE_LOG_MISSING: { block: 7 },
  REPLICA_DIVERGED: { block: 7, what: 'layer-one-root', expected: '0x01', actual: '0x02' },
  BLOCK_INVALID: { block: 7, what: 'gasUsed', expected: '1', actual: '2', head: 6 },
  TRANSACTION_REJECTED: { rule: 'nonce-too-low', reason: 'is 0, the account has 1' },
  EXECUTION_REVERTED: { data: new Uint8Array(), reason: 'paused' },
  EXECUTION_FAILED: { reason: 'out of gas' },
  MODULE_LIMIT_EXCEEDED: { module: 'BLOCK_KECCAK', count: 8193, limit: 8192 },
  INSUFFICIENT_FUNDS: { sender: accountAt(0), required: 2n, balance: 1n },
  UPFRONT_COST_EXCEEDS_BALANCE: { sender: accountAt(0) },
  GAS_ALLOWANCE_EXCEEDED: { allowance: 21_000n },
  GAS_BUDGET_EXCEEDED: { budget: 500 },
  SIMULATION_REFUSED: { rule: 'timestamp', reason: 'block timestamps must grow' },
  METHOD_NOT_FOUND: { method: 'eth_nothing' },
  METHOD_NOT_ENABLED: { method: 'evm_mine' },
  REQUEST_TIMED_OUT: { timeoutMs: 60_000 },
  ABORTED: {},
  ANSWER_TOO_LARGE: { limit: 1000 },
  FILTER_NOT_FOUND: { id: '0x1' },
  FILTER_LIMIT: { limit: 128 },
  SUBSCRIPTION_NOT_FOUND: { id: '0x1' },
  SUBSCRIPTION_LIMIT: { limit: 128 },
  UPSTREAM_CONFIGURATION: { endpoints },
  UPSTREAM_RATE_LIMITED: { endpoints },
  UPSTREAM_MALFORMED: { endpoints },
  UPSTREAM_UNAVAILABLE: { endpoints },
  UPSTREAM_ERROR: { origin: ORIGIN, code: -32601, message: 'Method not found' },
  UPSTREAM_WRONG_CHAIN: { origin: ORIGIN, expected: 59_144, found: '1' },
  UPSTREAM_DISAGREEMENT: { needed: 2, agreed: 1, answers: 2, endpoints },
  TRUST_LEVEL_NOT_REACHED: { required: 'linked', reached: 'plain', reason: 'one endpoint answered' },
  ANSWER_REFUSED: { what: 'header', check: 'HASH_MISMATCH', at: '', origin: ORIGIN },
  FORK_UNSUPPORTED: { network: 'mainnet', fork: 'gloas' },
  LAYER_ONE_CONTRADICTS: { reason: 'EQUIVOCATION', slot: 7 },
  CHECKPOINT_NEEDED: { reason: 'no checkpoint is known; give chain.layerOne.checkpoint' },
  WORKER_FAILED: { reason: 'its script does not load' },
  NODE_CLOSED: {},
  STORE_UNAVAILABLE: { reason: 'no IndexedDB' },
  STORE_TOO_NEW: { version: 9, supported: 8 },
  STORE_CORRUPT: { table: 'headers', reason: 'cannot be decoded' },
  STORE_QUOTA_EXCEEDED: {},
  CHAIN_FILE_REFUSED: { reason: 'is damaged' },
  STORE_TAKEN_OVER: {},
  STORE_IN_USE: { reason: 'other options' },
  OUTCOME_UNKNOWN: { method: 'evm_mine' },
  INTERNAL: { reason: 'a secret' },
};

const failureOf = (work: Promise<unknown>): Promise<ProviderRpcError> =>
  work.then(
    () => Promise.reject(new Error('no error')),
    (error) => error,
  );
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A Markdown table. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
}

async function optionRows(): Promise<string[][]> {
  const wrong: readonly (readonly [string, unknown])[] = [
    ['chain: "devnet"', { chain: 'devnet' }],
    ['chain.kind: "ligth"', { chain: { kind: 'ligth' } }],
    ['no endpoints', { chain: { kind: 'light' } }],
    ['openCheck: "never"', { openCheck: 'never' }],
    ['maxBatch: 0', { maxBatch: 0 }],
  ];
  const rows: string[][] = [];
  for (const [name, options] of [...UNKNOWN_OPTIONS.map(([, given]) => ['unknown member', given] as const), ...wrong]) {
    const { code, message } = await failureOf(createInlineNode(options as NodeOptions));
    rows.push([name, String(code), message]);
  }
  return rows;
}

async function endpointRows(): Promise<string[][]> {
  const dev = await devNode();
  const rows: string[][] = [];
  for (const mistake of MISTAKES.filter(({ fetch }) => fetch === undefined)) {
    const { options, origins, close } = await mistakenEndpoints(dev, [mistake]);
    const node = await createInlineNode(options);
    const { code, message } = await failureOf(node.request({ method: 'eth_blockNumber' }));
    rows.push([mistake.name, String(code), message.replaceAll(origins[0]!, ORIGIN)]);
    await node.close();
    await close();
  }
  return rows;
}

async function requestRows(): Promise<string[][]> {
  const { node } = await devNode();
  const asked: readonly (readonly [string, readonly unknown[]])[] = [
    ['eth_nothing', []],
    ['eth_getBalance', ['0x12', 'latest']],
    ['eth_getBalance', [accountAt(0), 'newest']],
    ['eth_call', [{ to: accountAt(0), gas: 21_000 }, 'latest']],
    ['eth_sendRawTransaction', ['0x01']],
  ];
  const rows: string[][] = [];
  for (const [method, params] of asked) {
    const { code, message } = await failureOf(node.request<UntypedMethod>({ method, params }));
    rows.push([`${method} ${JSON.stringify(params)}`, String(code), message]);
  }
  return rows;
}

test('docs/errors.md has all messages', async () => {
  const codes = (Object.keys(DETAILS) as ErrorCode[]).map((code) => {
    const rpc = toRpcError(new PlumblineError(code, '(message of the error)', DETAILS[code]));
    return [code, String(rpc.code), rpc.message];
  });
  const sections = [
    '# Error messages',
    'Written by `test/rpc/error-messages.test.ts`. Ports, keys and the like are examples.',
    '## Options of a node',
    'Thrown when it is opened, as a `PlumblineError`.',
    table(['mistake', 'code', 'message'], await optionRows()),
    '## Endpoints of a light node',
    'JSON-RPC errors of `eth_blockNumber` with one endpoint of which this is true. `node.status()` has the same reasons.',
    table(['the endpoint', 'code', 'message'], await endpointRows()),
    '## Requests',
    table(['request', 'code', 'message'], await requestRows()),
    '## Codes of `PlumblineError`, and their JSON-RPC errors',
    'The same in the page and over HTTP.',
    table(['code', 'JSON-RPC', 'message'], codes),
  ];
  sections.push(providers());
  await expect(`${sections.join('\n\n')}\n`).toMatchFileSnapshot('../../docs/errors.md');
});

/** The table of test/light/providers.test.ts, which runs each row. */
function providers(): string {
  const rows = PROVIDER_ROWS.map(({ name, did, done, reads, most }) => {
    const counts = [most.once ?? '–', most.alone, most.beside].join(', ');
    return `| ${name} | ${did} | ${done} | ${counts} | ${reads.replace('ENDPOINT', 'https://host.example')} |`;
  });
  return [
    '## How providers say no',
    'What a light node does about it. Twelve balances are asked for at once. The requests are the most that the endpoint gets for that: if it says no once, always, and always beside another endpoint. `npm run test:slow -- providers` prints them as they are.',
    [
      '| who | what the endpoint does | what is done | requests | what the user reads, if it is the only endpoint |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
  ].join('\n\n');
}
