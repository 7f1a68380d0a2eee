import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Command } from '../../src/hosts/cli/arguments.js';
import { serveCommand } from '../../src/hosts/cli/serve.js';
import { sizeCommand } from '../../src/hosts/cli/size.js';
import { verifyCommand } from '../../src/hosts/cli/verify.js';
import { eventually } from '../support/eventually.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import type { AnswerFixture } from '../support/proof-fixtures.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plumbline-cli-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function saved(name: string, content: unknown): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Exit code and what was printed. */
async function run(command: Command, ...args: string[]): Promise<{ code: number; text: string }> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    const code = await command.run(args);
    return { code, text: log.mock.calls.join('\n') };
  } finally {
    log.mockRestore();
  }
}

const unusable = { code: 'INVALID_PARAMETER' };

describe.skipIf(!hasFixture('state/getproof/poseidon2-devnet-contract.json'))('plumbline verify', () => {
  const proof = (name: string) => fixtureJson<AnswerFixture>(`state/getproof/${name}.json`);

  test('verifies recorded answers of both schemes in every form a file may have', async () => {
    for (const name of ['mimc-contract-three-slots', 'poseidon2-devnet-contract', 'poseidon2-missing-account']) {
      const { scheme, address, storageKeys, stateRoot, result } = proof(name);
      const options = ['--root', stateRoot, '--scheme', scheme];
      const question = ['--address', address, ...storageKeys.flatMap((key) => ['--key', key])];
      const request = { method: 'linea_getProof', params: [address, storageKeys, '0x1'] };
      const response = { jsonrpc: '2.0', id: 1, result };
      const forms: [unknown, string[]][] = [
        [proof(name), []],
        [result, [...options, ...question]],
        [response, [...options, ...question]],
        [{ request, response }, options],
        [{ request, response: result, stateRoot, scheme }, []],
      ];
      for (const [content, args] of forms) {
        const { code, text } = await run(verifyCommand, await saved('proof.json', content), ...args);
        expect(text, name).toContain('verified');
        expect(code).toBe(0);
      }
    }
  });

  test('shows the values that are proved', async () => {
    const path = await saved('proof.json', proof('poseidon2-devnet-contract'));
    const { text } = await run(verifyCommand, path, '--json');
    const { storageKeys, result } = proof('poseidon2-devnet-contract') as AnswerFixture & {
      result: { storageProofs: { proof: { value: string } }[] };
    };
    expect(JSON.parse(text)).toMatchObject({
      verified: true,
      slots: [{ key: storageKeys[0], value: result.storageProofs[0]!.proof.value, exists: true }],
    });
  });

  test('refuses another root and another question', async () => {
    const path = await saved('proof.json', proof('poseidon2-devnet-contract'));
    const refused = await run(verifyCommand, path, '--root', `0x${'00'.repeat(32)}`);
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('ROOT_MISMATCH') });
    expect((await run(verifyCommand, path, '--address', `0x${'11'.repeat(20)}`)).code).toBe(1);
  });

  test('does not check what it cannot read', async () => {
    const { result, ...question } = proof('poseidon2-devnet-contract');
    const path = await saved('proof.json', { ...question, result });
    const cases: string[][] = [
      [join(directory, 'nothing.json')],
      [await saved('text.json', 'oops')],
      [await saved('error.json', { ...question, error: { code: -32600, message: 'missing' } })],
      [await saved('other.json', { ...question, result: { accountProof: 7 } })],
      [await saved('rootless.json', { result })],
      [await saved('keys.json', { ...question, result, storageKeys: question.storageKeys[0] })],
      [await saved('key.json', { ...question, result, storageKeys: [{ toString: 1 }] })],
      [await saved('scheme.json', { ...question, result, scheme: { toString: 1 } })],
      [path, '--root', '0x12'],
      [path, '--scheme', 'keccak'],
      [path, '--key', 'oops'],
      [path, path],
      [path, '--frobnicate'],
      [],
    ];
    for (const args of cases) await expect(run(verifyCommand, ...args), args.join(' ')).rejects.toMatchObject(unusable);
  });
});

describe('plumbline size', () => {
  test('tells sizes and the dictionary', async () => {
    const { code, text } = await run(sizeCommand, `0x${'00'.repeat(500)}`, '--json');
    const sizes = JSON.parse(text);
    expect(code).toBe(0);
    expect(sizes).toMatchObject({ bytes: 500, dictionary: { name: 'general' } });
    // 500 bytes alike go into one field element, which has room for 31 whole bytes.
    expect(sizes.compressedBytes).toBeLessThan(32);
    expect(sizes.compressedTxSize).toBe(32);
  });

  test('refuses what is no hex, or too long', async () => {
    await expect(run(sizeCommand, '1234')).rejects.toMatchObject(unusable);
    await expect(run(sizeCommand, `0x${'00'.repeat(262_145)}`)).rejects.toMatchObject(unusable);
    await expect(run(sizeCommand, '0x12', '--dictionary', join(directory, 'none'))).rejects.toMatchObject(unusable);
  });
});

describe('plumbline serve', () => {
  test('refuses what it cannot use before anything is opened', async () => {
    const profile = (content: unknown) => saved('network.json', content);
    const cases: string[][] = [
      ['--network', 'linea'],
      ['--network', 'linea-sepolia', '--upstream', 'http://127.0.0.1:1', '--block-time', '2'],
      ['--network', 'linea', '--upstream', 'no address'],
      ['--upstream', 'http://127.0.0.1:1'],
      ['--fork', 'linea'],
      ['--fork', 'linea', '--network', 'linea', '--upstream', 'http://127.0.0.1:1'],
      ['--fork', 'linea', '--genesis', 'genesis.json', '--upstream', 'http://127.0.0.1:1'],
      ['--fork', 'linea', '--upstream', 'http://127.0.0.1:1', '--fork-block', 'first'],
      ['--fork-block', '1'],
      ['--l1', 'http://127.0.0.1:1'],
      ['--port', '65536'],
      ['--port', '-1'],
      ['--block-time', '0'],
      ['--tool', 'truffle'],
      ['--max-batch', 'many'],
      ['--max-answer', '0'],
      ['--max-answer', '1e6'],
      ['--max-connections-per-client', '0'],
      ['--max-filters', '-1'],
      ['--receive-timeout', 'long'],
      ['--allow-origin', 'https://app.example/'],
      ['--allow-origin', 'app.example'],
      ['--genesis', join(directory, 'none.json')],
      ['--network', await profile({ chainId: '12' })],
      ['extra'],
    ];
    for (const args of cases) await expect(run(serveCommand, ...args), args.join(' ')).rejects.toMatchObject(unusable);
    const profiles = [
      ...[{ colour: 'red' }, { txGasLimit: 'much' }, { gasSearch: 'fast' }, { forks: [] }, [], { forks: [null] }],
      ...[{ pricing: { model: 'extra-data' } }, { rollup: { address: '0x12' } }, { hashSchemes: [{ fromBlock: 0 }] }],
      ...[{ pool: { margin: '1' } }, { moduleLimits: { BLOCK_KECCAK: -1 } }, { chainId: 0 }, { slotSeconds: 0 }],
    ];
    for (const content of profiles) {
      await expect(run(serveCommand, '--network', await profile(content))).rejects.toMatchObject(unusable);
    }
  });
});

describe('the built command', () => {
  const script = fileURLToPath(new URL('../../dist/node/cli.js', import.meta.url));

  /** Starts it and resolves once it has printed `expected`. */
  async function start(expected: RegExp, ...args: string[]): Promise<{ child: ChildProcess; match: RegExpExecArray }> {
    const child = spawn(process.execPath, [script, ...args]);
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      const match = expected.exec(printed);
      if (match !== null) return { child, match };
    }
    throw new Error(`it ended after: ${printed}`);
  }

  async function exitCode(...args: string[]): Promise<number | null> {
    const child = spawn(process.execPath, [script, ...args], { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  }

  test('has the exit codes its help speaks of', async () => {
    expect(await exitCode()).toBe(2);
    expect(await exitCode('--help')).toBe(0);
    expect(await exitCode('serve', '--help')).toBe(0);
    expect(await exitCode('frobnicate')).toBe(2);
    expect(await exitCode('size', '0x1234')).toBe(0);
    expect(await exitCode('size', 'oops')).toBe(2);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'serves a profile until %s, then answers what is under way',
    async (signal) => {
      const network = await saved('network.json', { name: 'mine', chainId: 4242, blockGasLimit: '30000000' });
      const { child, match } = await start(
        /http:\/\/127\.0\.0\.1:(\d+)\//,
        'serve',
        '--port',
        '0',
        '--network',
        network,
      );
      const url = `http://127.0.0.1:${match[1]}/`;
      const ask = (method: string, ...params: unknown[]) =>
        fetch(url, { method: 'POST', body: JSON.stringify({ id: 1, method, params }) });
      expect(await (await ask('eth_chainId')).json()).toMatchObject({ result: '0x1092' });
      expect(await (await ask('eth_getBlockByNumber', '0x0', false)).json()).toMatchObject({
        result: { gasLimit: '0x1c9c380' },
      });
      expect(await exitCode('serve', '--port', match[1]!)).toBe(1);
      const mining = ask('evm_mine', { blocks: 100 });
      await eventually(async () =>
        expect(await (await ask('eth_blockNumber')).json()).not.toMatchObject({ result: '0x0' }),
      );
      const ended = once(child, 'exit');
      child.kill(signal);
      expect(await (await mining).json()).toMatchObject({ result: '0x0' });
      expect(await ended).toEqual([0, null]);
    },
  );

  test('takes its limits and the origins of pages', async () => {
    const limits = ['--max-answer', '1000', '--max-filters', '1', '--max-connections-per-client', '8'];
    const access = ['--allow-origin', 'https://app.example', '--allow-host', 'node.test'];
    const { child, match } = await start(/http:\/\/127\.0\.0\.1:(\d+)\//, 'serve', '--port', '0', ...limits, ...access);
    const ask = async (method: string, headers: Record<string, string> = {}, ...params: unknown[]) => {
      const body = JSON.stringify({ id: 1, method, params });
      const sent = request({ port: match[1], host: '127.0.0.1', method: 'POST', headers });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const text = (await response.toArray()).join('');
      return { status: response.statusCode, ...(JSON.parse(text) as { result?: unknown; error?: unknown }) };
    };
    const newest = await ask('eth_getBlockByNumber', {}, 'latest', true);
    expect(newest.error).toEqual({ code: -32003, message: 'Response too large (more than 1000 bytes)' });
    expect(await ask('eth_newBlockFilter')).toHaveProperty('result');
    expect((await ask('eth_newBlockFilter')).error).toEqual({ code: -32005, message: 'Number of filters exceeds 1' });
    const statuses = [
      { origin: 'https://app.example' },
      { origin: 'http://node.test', host: 'node.test' },
      { host: 'localhost' },
      { origin: 'https://evil.example' },
      { host: 'evil.example' },
    ].map(async (headers) => (await ask('eth_chainId', headers as Record<string, string>)).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 403, 403]);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('says in its first line that no endpoint answers rightly, and why', async () => {
    const network = await saved('down.json', { name: 'mine', chainId: 4242 });
    const light = ['serve', '--port', '0', '--network', network, '--upstream', 'http://127.0.0.1:1/v3/SECRET'];
    const { child, match } = await start(/^plumbline .*\n.*\n/, ...light);
    expect(match[0]).toMatch(
      /^plumbline mine, chain id 4242, kernels \w+: NOT READY, no endpoint of layer 2 answers rightly\n {2}endpoint {2}l2 http:\/\/127\.0\.0\.1:1: DOES NOT ANSWER RIGHTLY: no connection/,
    );
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  });

  test('serves a fork of what another one serves, which does not change that', async () => {
    const network = await saved('network.json', { name: 'mine', chainId: 4242 });
    const dev = await start(/http:\/\/127\.0\.0\.1:(\d+)\//, 'serve', '--port', '0', '--network', network);
    const below = `http://127.0.0.1:${dev.match[1]}/`;
    const fork = await start(
      /^plumbline mine, chain id 4242, kernels \w+\n {2}fork {6}of block 0, (0x[0-9a-f]{64})\n[\s\S]*?:(\d+)\/ /,
      ...['serve', '--port', '0', '--fork', network, '--upstream', below, '--fork-block', '0', '--tool', 'anvil'],
    );
    const ask = async (url: string, method: string, ...params: unknown[]) => {
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ id: 1, method, params }) });
      return ((await answer.json()) as { result?: unknown }).result;
    };
    const url = `http://127.0.0.1:${fork.match[2]}/`;
    expect(await ask(below, 'eth_getBlockByNumber', '0x0', false)).toMatchObject({ hash: fork.match[1] });
    const [from, to] = DEV_ACCOUNTS.map(({ address }) => address);
    const hash = await ask(url, 'eth_sendTransaction', { from, to, value: '0x5' });
    expect(await ask(url, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', blockNumber: '0x1' });
    expect(await ask(url, 'eth_getBalance', to, 'latest')).toBe('0x21e19e0c9bab2400005');
    expect(await ask(below, 'eth_getBalance', to, 'latest')).toBe('0x21e19e0c9bab2400000');
    for (const { child } of [fork, dev]) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    }
  });

  test('serves as a light node what another one serves as a devnet', async () => {
    const network = await saved('network.json', { name: 'mine', chainId: 4242 });
    const listening = /http:\/\/127\.0\.0\.1:(\d+)\//;
    const serving = ['serve', '--port', '0', '--network', network];
    const dev = await start(listening, ...serving);
    const below = `http://127.0.0.1:${dev.match[1]}`;
    const upstreams = ['--upstream', `${below}/`, '--l1', `${below}/l1`];
    const light = await start(
      /^plumbline mine, chain id 4242, kernels \w+\n[\s\S]*?:(\d+)\/ /,
      ...serving,
      ...upstreams,
    );
    expect(light.match[0]).toContain(`  endpoint  l2 ${below}: answers, chain id 4242, head 0\n`);
    expect(light.match[0]).toContain(`  endpoint  l1 ${below}: answers, chain id `);
    const ask = async (url: string, method: string, ...params: unknown[]) => {
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ id: 1, method, params }) });
      return ((await answer.json()) as { result?: unknown }).result;
    };
    const [account] = DEV_ACCOUNTS;
    const url = `http://127.0.0.1:${light.match[1]}/`;
    expect(await ask(url, 'eth_getBalance', account!.address, 'latest')).toBe('0x21e19e0c9bab2400000');
    const call = { from: account!.address, to: account!.address, value: '0x1' };
    const estimate = await ask(`${below}/`, 'linea_estimateGas', call);
    expect(estimate).toMatchObject({ gasLimit: '0x5208' });
    expect(await ask(url, 'linea_estimateGas', call)).toEqual(estimate);
    expect(await ask(url, 'evm_mine')).toBeUndefined();
    for (const { child } of [light, dev]) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    }
  });
});
