import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeAbiParameters, encodeFunctionData, parseAbi, toEventSelector } from 'viem';
import { namehash } from 'viem/ens';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { isPlumblineError } from '../../src/errors.js';
import type { Command } from '../../src/hosts/cli/arguments.js';
import {
  balanceCommand,
  blockCommand,
  callCommand,
  logsCommand,
  rpcCommand,
  txCommand,
} from '../../src/hosts/cli/read.js';
import { serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { runBuilt } from '../support/built-command.js';
import { accountAt, stranger } from '../support/dev-node.js';
import { deployEns, ENS } from '../support/ens-contracts.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';

const TOKEN = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);
const ALICE = stranger('a1');
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const NOWHERE = `0x${'12'.repeat(32)}`;

let node: PlumblineNode;
let liar: MockEndpoint;
let folder: string;
/** Options of a light node on a devnet with a name service. */
let served: string[];
/** Of a transfer of five tokens to ALICE, and of one that failed. */
let [sent, failed]: string[] = [];
let last: { readonly number: string; readonly hash: string };
const closing: (() => Promise<unknown>)[] = [];

const ask = (method: string, ...params: unknown[]): Promise<unknown> => node.request<UntypedMethod>({ method, params });

beforeAll(async () => {
  node = await createInlineNode({
    chain: { kind: 'devnet', network: { ...devnet(), ens: { registry: ENS.registry } } },
  });
  const names = await deployEns(ask);
  await ask('anvil_setBalance', ALICE, '0x14d1120d7b160001');
  await names.address('alice.eth', ALICE);
  await names.address('token.eth', TEST_TOKEN);
  await names.resolver('far.eth', 'offchain');
  await names.resolver('empty.eth', 'records');
  const send = (value: bigint, gas: string) => {
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [ALICE, value] });
    return ask('eth_sendTransaction', { from: accountAt(0), to: TEST_TOKEN, data, gas }) as Promise<string>;
  };
  sent = await send(5n, '0x186a0');
  failed = await send(2n ** 255n, '0x186a0');
  last = (await ask('eth_getBlockByNumber', 'latest', false)) as typeof last;
  const server = await serve(node, { port: 0 });
  liar = await serveMock(node, {
    tamper({ method }, result) {
      return method === 'eth_getProof' ? { ...(result as object), balance: '0xffffffffffffffffffff' } : result;
    },
  });
  folder = await mkdtemp(join(tmpdir(), 'plumbline-read-'));
  const profile = join(folder, 'network.json');
  await writeFile(profile, JSON.stringify({ ens: { registry: ENS.registry } }));
  served = ['--devnet', `http://127.0.0.1:${server.port}`, '--network', profile];
  closing.push(
    () => liar.close(),
    () => server.close(),
    () => node.close(),
    () => rm(folder, { recursive: true }),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

/** Runs a command here. @returns its exit code and what it printed; for arguments that cannot be used 2 and why */
async function run(command: Command, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: unknown[][] = [[], []];
  const log = vi.spyOn(console, 'log').mockImplementation((line: unknown) => void out!.push(line));
  const error = vi.spyOn(console, 'error').mockImplementation((line: unknown) => void err!.push(line));
  try {
    const code = await command.run(args);
    return { code, out: out!.join('\n'), err: err!.join('\n') };
  } catch (thrown) {
    if (!isPlumblineError(thrown, 'INVALID_PARAMETER')) throw thrown;
    return { code: 2, out: '', err: thrown.message };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

const json = ({ out }: { readonly out: string }) => JSON.parse(out);

describe('plumbline balance', () => {
  test('prints the balance of an address with what it rests on', async () => {
    const { code, out } = await runBuilt(['balance', ALICE, ...served]);
    expect(out.trim().split('\n')).toEqual([
      `address       ${ALICE}`,
      'balance       1.500000000000000001 ETH (1500000000000000001 wei)',
      `proved        block ${Number(last.number)}, level plain`,
    ]);
    expect(code).toBe(0);
    const earlier = await run(balanceCommand, ALICE, '--block', '0', '--json', ...served);
    expect(json(earlier)).toMatchObject({
      address: ALICE,
      wei: '0',
      result: '0x0',
      answer: { class: 'proved', blocks: [{ number: 0 }] },
    });
  });

  test('resolves a name, and says as of which block', async () => {
    const { code, out } = await run(balanceCommand, 'Alice.ETH', ...served);
    expect(out.split('\n')).toEqual([
      `address       ${ALICE}`,
      'of            alice.eth',
      `name          as of block ${Number(last.number)}, computed, level plain`,
      'balance       1.500000000000000001 ETH (1500000000000000001 wei)',
      `proved        block ${Number(last.number)}, level plain`,
    ]);
    expect(code).toBe(0);
    expect(json(await run(balanceCommand, 'alice.eth', '--json', ...served))).toMatchObject({
      address: ALICE,
      name: { status: 'resolved', name: 'alice.eth', trust: { level: 'plain', block: { hash: last.hash } } },
      wei: '1500000000000000001',
      answer: { class: 'proved', level: 'plain', blocks: [{ hash: last.hash }] },
    });
  });

  test('of a name without an address says why not, and prints no address', async () => {
    for (const [name, code, reason, outcome] of [
      ['none.eth', 1, 'none.eth: the name has no resolver', 'refused'],
      ['empty.eth', 1, `empty.eth: the resolver ${ENS.records} has no address of it`, 'refused'],
      ['far.eth', 2, `far.eth: the resolver ${ENS.offchain} asks for a server (CCIP-Read)`, 'unknown'],
    ] as const) {
      const text = await run(balanceCommand, name, ...served);
      expect(text).toMatchObject({ code, out: '', err: expect.stringContaining(reason) });
      const asJson = await run(balanceCommand, name, '--json', ...served);
      expect(asJson.code).toBe(code);
      expect(json(asJson)).toMatchObject({ outcome, name: { name } });
      expect(json(asJson)).not.toHaveProperty('address');
    }
    // The devnet by itself has no names, and text that is no name is not one.
    const without = await run(balanceCommand, 'alice.eth', ...served.slice(0, 2));
    expect(without).toMatchObject({ code: 2, err: expect.stringContaining('devnet has none: ask a node of ethereum') });
    const bad = await run(balanceCommand, 'a_b.eth', ...served);
    expect(bad).toMatchObject({ code: 2, err: expect.stringContaining('is not a name by ENSIP-15') });
    for (const given of ['0x12', 'alice', '0x12.eth'])
      expect(await run(balanceCommand, given, ...served)).toMatchObject({
        code: 2,
        err: expect.stringContaining('must be an address of 20 bytes, or a name of ENS'),
      });
  });

  test('refuses an endpoint that lies, and cannot check one that is down', async () => {
    const lied = await run(balanceCommand, ALICE, '--network', 'devnet', '--upstream', liar.url);
    expect(lied).toMatchObject({
      code: 1,
      out: '',
      err: `refused: ${new URL(liar.url).origin}: account ${ALICE}: balance differs from what the account proof proves`,
    });
    const down = await run(balanceCommand, ALICE, '--network', 'devnet', '--upstream', 'http://127.0.0.1:1');
    expect(down).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^could not check: /) });
  });
});

test('plumbline call executes a call, to an address or a name', async () => {
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [ALICE] });
  const five = encodeAbiParameters([{ type: 'uint256' }], [5n]);
  const end = `computed      block ${Number(last.number)}, level plain`;
  for (const to of [[TEST_TOKEN], ['--to', TEST_TOKEN], ['token.eth']]) {
    const { code, out } = await run(callCommand, ...to, '--data', data, ...served);
    expect([code, ...out.split('\n').slice(-2)]).toEqual([0, `result        ${five}`, end]);
  }
  const at = await run(callCommand, TEST_TOKEN, '--data', data, '--block', '0', '--json', ...served);
  expect(json(at)).toMatchObject({ address: TEST_TOKEN, result: `0x${'0'.repeat(64)}`, answer: { class: 'computed' } });
  const tooMuch = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [ALICE, 1n] });
  const reverted = await run(callCommand, TEST_TOKEN, '--from', stranger('cc'), '--data', tooMuch, ...served);
  expect(reverted).toMatchObject({ code: 1, err: expect.stringMatching(/^refused: execution reverted/) });
  expect(await run(callCommand, TEST_TOKEN, '--to', TEST_TOKEN, ...served)).toMatchObject({ code: 2 });
  expect(await run(callCommand, ...served)).toMatchObject({
    code: 2,
    err: expect.stringContaining('ADDRESS: is missing'),
  });
});

test('plumbline logs prints the logs of a range', async () => {
  const topics = [
    '--topic',
    `${NOWHERE},${TRANSFER}`,
    '--topic',
    '-',
    '--topic',
    `0x${ALICE.slice(2).padStart(64, '0')}`,
  ];
  const range = ['--address', TEST_TOKEN, '--from-block', '0', '--to-block', 'latest'];
  const logs = (await ask('eth_getLogs', { fromBlock: '0x0', address: TEST_TOKEN })) as { blockNumber: string }[];
  expect(logs).toHaveLength(1);
  const asJson = await run(logsCommand, ...range, ...topics, '--json', ...served);
  expect(json(asJson)).toMatchObject({ result: logs, answer: { class: 'proved', level: 'plain' } });
  const { code, out } = await run(logsCommand, ...range, ...topics, ...served);
  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    `log           0 of block ${Number(logs[0]!.blockNumber)}, transaction ${sent}`,
    `  address     ${TEST_TOKEN}`,
    `  topic       ${TRANSFER}`,
    `  topic       0x${accountAt(0).slice(2).padStart(64, '0')}`,
    `  topic       0x${ALICE.slice(2).padStart(64, '0')}`,
    `  data        ${encodeAbiParameters([{ type: 'uint256' }], [5n])}`,
    'logs          1',
    expect.stringMatching(/^proved {8}blocks \d+, \d+, level plain$/),
  ]);
  const others = await run(logsCommand, ...range, '--topic', NOWHERE, ...served);
  expect(others).toMatchObject({ code: 0, out: expect.stringMatching(/^logs {10}0\nproved/) });
  expect(await run(logsCommand, ...range, '--topic', '0x12', ...served)).toMatchObject({ code: 2 });
});

test('plumbline tx prints a transaction and its receipt', async () => {
  const { code, out } = await run(txCommand, sent!, ...served);
  expect(code).toBe(0);
  expect(out).toContain(`from          ${accountAt(0)}, nonce`);
  expect(out).toContain('status        success, gas used ');
  expect(out).toMatch(/, 1 logs\nproved {8}block \d+, level plain$/);
  const reverted = await run(txCommand, failed!, '--json', ...served);
  expect(reverted.code).toBe(1);
  expect(json(reverted)).toMatchObject({
    transaction: { hash: failed },
    result: { transactionHash: failed, status: '0x0' },
    answer: { class: 'proved' },
  });
  // That nothing has a hash is the word of endpoints.
  expect(await run(txCommand, NOWHERE, ...served)).toMatchObject({
    code: 2,
    out: '',
    err: 'the endpoints know no such transaction\nforwarded     from an endpoint, not checked',
  });
  expect(await run(txCommand, '0x12', ...served)).toMatchObject({ code: 2, err: expect.stringContaining('32 bytes') });
});

test('plumbline block prints a block by number, hash or tag', async () => {
  const number = Number(last.number);
  for (const args of [[], ['latest'], [String(number)], [last.hash]]) {
    const { code, out } = await run(blockCommand, ...args, ...served);
    expect(code).toBe(0);
    expect(out).toContain(`block         ${number}\nhash          ${last.hash}\n`);
    expect(out).toMatch(new RegExp(`transactions  1\nproved {8}block ${number}, level plain$`));
  }
  expect(json(await run(blockCommand, '--json', ...served)).result).toEqual(last);
  // The head shows that there is no block above it.
  const above = await run(blockCommand, '99999', ...served);
  expect(above).toMatchObject({ code: 1, err: expect.stringMatching(/^there is no such block\nproved/) });
  const unknown = await run(blockCommand, NOWHERE, '--json', ...served);
  expect([unknown.code, json(unknown)]).toMatchObject([2, { result: null, answer: { class: 'forwarded' } }]);
});

test('plumbline rpc asks any method, with parameters as JSON or text', async () => {
  const code = await ask('eth_getCode', TEST_TOKEN, 'latest');
  const text = await run(rpcCommand, 'eth_getCode', TEST_TOKEN, 'latest', ...served);
  expect(text).toMatchObject({ code: 0, out: `"${code}"\nproved        block ${Number(last.number)}, level plain` });
  const call = JSON.stringify({ to: TEST_TOKEN, data: '0x18160ddd' });
  const asJson = await run(rpcCommand, 'eth_call', call, '{"blockNumber":"latest"}', '--json', ...served);
  expect(json(asJson)).toMatchObject({
    result: await ask('eth_call', JSON.parse(call)),
    answer: { class: 'computed' },
  });
  const lookup = await run(rpcCommand, 'plumbline_lookupAddress', ALICE, '--json', ...served);
  expect(json(lookup).result).toMatchObject({ status: 'noResolver', record: 'reverse' });
  expect(namehash('alice.eth')).toHaveLength(66);
  const held = await run(rpcCommand, 'eth_chainId', ...served);
  expect(held).toMatchObject({ code: 0, out: '"0xe703"\nheld          of the node itself' });
  const missing = await run(rpcCommand, 'eth_getCodes', ...served);
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('could not check: ') });
  expect(await run(rpcCommand, ...served)).toMatchObject({
    code: 2,
    err: expect.stringContaining('METHOD: is missing'),
  });
});

test('the help of each command says what its exit codes mean', async () => {
  const { out } = await runBuilt(['--help']);
  for (const [name, command] of Object.entries({
    balance: balanceCommand,
    call: callCommand,
    logs: logsCommand,
    tx: txCommand,
    block: blockCommand,
    rpc: rpcCommand,
  })) {
    expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(command.help).toMatch(new RegExp(`^plumbline ${name}\\b`));
    expect(command.help).toContain('Exit codes: 0 ');
  }
});
