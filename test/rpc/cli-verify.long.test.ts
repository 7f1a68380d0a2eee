import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { type RunningServer, serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { type Ended, runBuilt } from '../support/built-command.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import type { AnswerFixture } from '../support/proof-fixtures.js';

/** Nothing listens there. */
const NOBODY = 'http://127.0.0.1:1';
const [{ address: account }] = DEV_ACCOUNTS as [(typeof DEV_ACCOUNTS)[0]];

let directory: string;
let node: PlumblineNode;
let server: RunningServer;
let url: string;
/** The first answer of this devnet about an account: the bytes that curl saves. */
let response: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plumbline-verify-'));
  node = await createInlineNode();
  server = await serve(node, { port: 0 });
  url = `http://127.0.0.1:${server.port}`;
  response = await curl('linea_getProof', account, ['0x0'], 'latest');
});
afterAll(async () => {
  await server.close();
  await node.close();
  await rm(directory, { recursive: true });
});

async function curl(method: string, ...params: unknown[]): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text();
}

async function verify(content: string, ...args: string[]): Promise<Ended> {
  const file = join(directory, 'answer.json');
  await writeFile(file, content);
  return runBuilt(['verify', file, ...args]);
}

describe('plumbline verify of a response as curl saves it', () => {
  test('takes account and slots from it, and the root from layer 1 of a devnet', async () => {
    const { code, out } = await verify(response, '--devnet', url);
    expect(code).toBe(0);
    expect(out).toMatch(/^verified\n/);
    expect(out).toContain(`account  ${account}\n`);
    expect(out).toContain('balance  10000000000000000000000 wei\n');
    // An account without storage has no proof of its slots, so the response says of none that it was asked for.
    expect(out).not.toContain('slot');
    expect(out).toContain(`of block 0, as ${url} has it at layer-1 block 0`);
  });

  test('reads standard input, and prints JSON', async () => {
    // Slot 2 of the test token: its total supply.
    const ofToken = await curl('linea_getProof', TEST_TOKEN, ['0x2'], 'latest');
    const { code, out } = await runBuilt(
      ['verify', '-', '--l1', `${url}/l1`, '--network', 'devnet', '--json'],
      ofToken,
    );
    expect(code).toBe(0);
    const supply = JSON.parse(await curl('eth_getStorageAt', TEST_TOKEN, '0x2', 'latest')) as { result: string };
    expect(JSON.parse(out)).toMatchObject({
      verified: true,
      address: TEST_TOKEN,
      block: 0,
      account: { balance: '0x0', nonce: '0x1' },
      slots: [{ key: `0x${'02'.padStart(64, '0')}`, value: supply.result, exists: true }],
      layerOne: { origins: [url] },
    });
  });

  test('refuses a proof that was changed, and one of another account', async () => {
    const other = response.replaceAll(account.slice(2), DEV_ACCOUNTS[1]!.address.slice(2));
    expect(other).not.toBe(response);
    const { accountProof } = JSON.parse(response).result;
    const richer = response.replace(accountProof.proof.value, accountProof.proof.value.replace('21e19e', '31e19e'));
    expect(richer).not.toBe(response);
    for (const changed of [other, richer]) {
      const { code, out } = await verify(changed, '--devnet', url);
      expect(out).toMatch(/^refused: [A-Z_]+ at accountProof/);
      expect(code).toBe(1);
    }
    const asked = await verify(response, '--devnet', url, '--address', DEV_ACCOUNTS[1]!.address, '--json');
    expect(asked.code).toBe(1);
    expect(JSON.parse(asked.out)).toMatchObject({ verified: false, reason: 'KEY_MISMATCH' });
  });

  test('refuses a file whose request cannot be read, which may have been of another account', async () => {
    const asked = { jsonrpc: '2.0', id: 1, method: 'linea_getProof', params: [account, ['0x0'], 'latest'] };
    const file = (request: unknown) => JSON.stringify({ request, response: JSON.parse(response) });
    expect((await verify(file(asked), '--devnet', url)).code).toBe(0);
    for (const request of [[asked], JSON.stringify(asked), { ...asked, params: { address: account } }, {}]) {
      const { code, out, err } = await verify(file(request), '--devnet', url);
      expect({ code, out }, JSON.stringify(request)).toEqual({ code: 2, out: '' });
      expect(err).toMatch(/^plumbline verify: FILE: holds a request without a list of params\n/);
    }
  });

  test('explains how to get a root where there is none', async () => {
    const { code, err } = await verify(response);
    expect(code).toBe(2);
    // The contract of Linea on Ethereum: docs.linea.build, "Contracts".
    for (const part of ['--l1 URL', '--devnet URL', '--root HEX', '0xd19d4B5d358258f05D7B411E21A1460D11B0876F', 'cast'])
      expect(err).toContain(part);
  });

  test('could not check: layer 1 is down, does not answer, or disagrees', async () => {
    const down = await verify(response, '--devnet', NOBODY);
    expect(down).toEqual({
      code: 2,
      out: '',
      err: 'could not check: no endpoint could be reached (http://127.0.0.1:1: no connection; check host and port, and that it runs)\n',
    });
    const asJson = await verify(response, '--devnet', NOBODY, '--json');
    expect(asJson.code).toBe(2);
    expect(JSON.parse(asJson.out)).toMatchObject({ outcome: 'unknown', error: { code: 'UPSTREAM_UNAVAILABLE' } });
    const liar = await serveMock(node.l1, {
      tamper: ({ method }, result) => (method === 'eth_call' ? `0x${'11'.repeat(32)}` : result),
    });
    try {
      const both = await verify(response, '--l1', `${url}/l1`, '--l1', liar.url, '--network', 'devnet', '--block', '0');
      expect(both.code).toBe(2);
      expect(both.err).toMatch(/^could not check: /);
    } finally {
      await liar.close();
    }
  });

  test('arguments that cannot be used', async () => {
    const root = `0x${'00'.repeat(32)}`;
    const cases: string[][] = [
      ['--devnet', 'nowhere'],
      ['--devnet', url, '--root', root],
      ['--devnet', url, '--l1', url],
      ['--devnet', url, '--block', 'latest'],
      ['--devnet', url, '--network', 'mars'],
    ];
    for (const args of cases) {
      const { code, out, err } = await verify(response, ...args);
      expect({ code, out }, args.join(' ')).toEqual({ code: 2, out: '' });
      expect(err).toMatch(/^plumbline verify: --/);
    }
    expect((await verify(await curl('eth_getBalance', account), '--devnet', url)).code).toBe(2);
    expect((await verify(await curl('linea_getProof', account), '--devnet', url)).err).toContain('holds an error');
  });

  test('of an older block: found among the newest ones, or by its number', async () => {
    await node.request({ method: 'evm_mine', params: [{ blocks: 10 }] });
    const found = await verify(response, '--devnet', url, '--json');
    expect(JSON.parse(found.out)).toMatchObject({ verified: true, block: 0 });
    await node.request({ method: 'evm_mine', params: [{ blocks: 70 }] });
    const { code, err } = await verify(response, '--devnet', url);
    expect(code).toBe(2);
    expect(err).toMatch(/^could not check: the proof leads to the root 0x[0-9a-f]{64}, which layer 1 has for none/);
    expect((await verify(response, '--devnet', url, '--block', '0')).code).toBe(0);
    expect((await verify(response, '--devnet', url, '--block', '5')).out).toMatch(/^refused: ROOT_MISMATCH/);
    const missing = await verify(response, '--devnet', url, '--block', '999');
    expect(missing.code).toBe(2);
    expect(missing.err).toContain('layer 1 has no root of block 999');
  });
});

describe.skipIf(!hasFixture('state/getproof/l1-anchor-620681.json'))('the recorded proofs of block 620681', () => {
  let recorded: MockEndpoint;
  beforeAll(async () => {
    const anchor = fixtureJson<{ storage: Record<string, { value: string }> }>('state/getproof/l1-anchor-620681.json');
    const word = (name: string) => `0x${anchor.storage[name]!.value.slice(2).padStart(64, '0')}`;
    recorded = await serveMock(node.l1, {
      tamper({ method, params }, result) {
        if (method !== 'eth_call') return result;
        const { data } = params[0] as { data: string };
        return word(data.length === 10 ? 'currentL2BlockNumber' : 'stateRootHashes[620681]');
      },
    });
  });
  afterAll(() => recorded.close());

  test.each(['mimc-620681-account-and-slot', 'mimc-620681-missing-account', 'mimc-620681-missing-slot'])(
    '%s, with the recorded root of layer 1',
    async (name) => {
      const fixture = fixtureJson<AnswerFixture>(`state/getproof/${name}.json`);
      const { result, address, storageKeys, stateRoot } = fixture;
      const saved = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
      const question = ['--address', address, ...storageKeys.flatMap((key) => ['--key', key])];
      const sepolia = ['--l1', recorded.url, '--network', 'linea-sepolia'];
      const { code, out, err } = await verify(saved, ...sepolia, '--json', ...question);
      expect(err).toBe('');
      expect(JSON.parse(out)).toMatchObject({ verified: true, address, block: 620_681, stateRoot });
      expect(code).toBe(0);
    },
  );

  test('with a root, a proof of the other scheme names the option for it', async () => {
    const fixture = fixtureJson<AnswerFixture>('state/getproof/mimc-620681-account-and-slot.json');
    const { result, address, stateRoot } = fixture;
    const saved = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
    const asked = ['--address', address, '--root', stateRoot];
    const { code, err } = await verify(saved, ...asked);
    expect(err).toMatch(/the proof has the form of that scheme; give --scheme mimc/);
    expect(code).not.toBe(0);
    const right = await verify(
      saved,
      ...asked,
      '--scheme',
      'mimc',
      ...fixture.storageKeys.flatMap((key) => ['--key', key]),
    );
    expect(right.out).toMatch(/^verified\n/);
  });
});
