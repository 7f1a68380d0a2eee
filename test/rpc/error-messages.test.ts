import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type ErrorCode, PlumblineError } from '../../src/errors.js';
import { createInlineNode, type NodeOptions } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { ProviderRpcError } from '../../src/hosts/provider/provider-error.js';
import { toRpcError } from '../../src/rpc/rpc-errors.js';
import { accountAt, devNode } from '../support/dev-node.js';
import { MISTAKES, mistakenEndpoints } from '../support/endpoint-mistakes.js';
import { EVERY_ERROR, ORIGIN } from '../support/every-error.js';
import { PROVIDER_ROWS } from '../support/provider-rows.js';
import { UNKNOWN_OPTIONS } from '../support/unknown-options.js';

// docs/errors.md is what these give: a reviewer reads the file, and a changed message shows up in it
// (`npx vitest run --project node test/rpc/error-messages.test.ts -u`).

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

const SOURCE = readFileSync(new URL('../../src/errors.ts', import.meta.url), 'utf8');

test('each code of src/errors.ts has a row in test/support/every-error.ts', () => {
  const [members] = /(?<=export interface ErrorDetails \{\n)[\s\S]*?(?=\n\})/.exec(SOURCE)!;
  expect([...members.matchAll(/^ {2}([A-Z_]+): /gm)].map(([, code]) => code).sort()).toEqual(
    Object.keys(EVERY_ERROR).sort(),
  );
});

/** Cause and remedy of a code, from its doc comment. */
function explained(code: ErrorCode): [cause: string, remedy: string] {
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n  ${code}: `).exec(SOURCE)?.[1] ?? '';
  const [cause = '', remedy = ''] = comment
    .replace(/\s*\n\s*\* ?/g, ' ')
    .trim()
    .split(' Remedy: ');
  if (remedy === '') throw new Error(`${code}: its doc comment names no remedy`);
  return [cause, remedy];
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
  const codes = (Object.keys(EVERY_ERROR) as ErrorCode[]).map((code) => {
    const rpc = toRpcError(new PlumblineError(code, '(message of the error)', EVERY_ERROR[code]));
    return [code, String(rpc.code), rpc.message.replace(/id [0-9a-f]{8}/, 'id 3f2a91c0'), ...explained(code)];
  });
  const sections = [
    '# Error messages',
    'Written by `test/rpc/error-messages.test.ts`. Ports, keys and the like are examples.',
    '## Options of a node',
    'If an option is wrong, opening the node throws a `PlumblineError`.',
    table(['mistake', 'code', 'message'], await optionRows()),
    '## Endpoints of a light node',
    'The JSON-RPC errors of `eth_blockNumber` if the node has one endpoint and this is true for it. `node.status()` gives the same reasons.',
    table(['the endpoint', 'code', 'message'], await endpointRows()),
    '## Requests',
    table(['request', 'code', 'message'], await requestRows()),
    '## Codes of `PlumblineError`, and their JSON-RPC errors',
    'The numbers are those over HTTP. In the page, two numbers differ: a method that the node does not have (METHOD_NOT_ENABLED) is 4200, and a request to a node that has ended (NODE_CLOSED, WORKER_FAILED) is 4900. An error of `node.request` has the code in `reason`, and typed `details`. Over HTTP, both are in `data`, unless the method uses `data` for something else. KERNEL_UNAVAILABLE, WORKER_FAILED, STORE_UNAVAILABLE and STORE_CORRUPT have only `reason` over HTTP, because their details may contain text of the host.',
    table(['code', 'JSON-RPC', 'message', 'cause', 'remedy'], codes),
  ];
  sections.push(providers());
  await expect(`${sections.join('\n\n')}\n`).toMatchFileSnapshot('../../docs/errors.md');
});

/** The table of test/light/providers.long.test.ts, which runs each row. */
function providers(): string {
  const rows = PROVIDER_ROWS.map(({ name, did, done, reads, most }) => {
    const counts = [most.once ?? '–', most.alone, most.beside].join(', ');
    return `| ${name} | ${did} | ${done} | ${counts} | ${reads.replace('ENDPOINT', 'https://host.example')} |`;
  });
  return [
    '## How providers say no',
    'This table shows what a light node does if a provider refuses. In each row, the node is asked for twelve balances at once. The column “requests” has three numbers: the most requests that the endpoint gets if it refuses once, if it always refuses, and if it always refuses but there is another endpoint. `npm run test:slow -- providers` prints the real numbers.',
    [
      '| who | what the endpoint does | what the node does | requests | what the user reads, if it is the only endpoint |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
  ].join('\n\n');
}
