import { describe, expect, test, vi } from 'vitest';
import type { Command } from '../../src/hosts/cli/arguments.js';
import { chainOptions, nodeOptions } from '../../src/hosts/cli/chain.js';
import { serveCommand } from '../../src/hosts/cli/serve.js';
import { sizeCommand } from '../../src/hosts/cli/size.js';
import { verifyCommand } from '../../src/hosts/cli/verify.js';
import { startUntil } from '../support/built-command.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import type { AnswerFixture } from '../support/proof-fixtures.js';
import { savedFiles } from '../support/saved-files.js';

const { pathOf, saved } = savedFiles();

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
      [pathOf('nothing.json')],
      [await saved('text.json', 'oops')],
      [await saved('error.json', { ...question, error: { code: -32600, message: 'missing' } })],
      [await saved('other.json', { ...question, result: { accountProof: 7 } })],
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
    // It says where a root can be had.
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { stateRoot: _, ...rootless } = question;
    expect(await run(verifyCommand, await saved('rootless.json', { ...rootless, result }))).toEqual({
      code: 2,
      text: '',
    });
    expect(error.mock.calls.join('\n')).toMatch(/^plumbline verify: --root: is missing, .+\n {2}--l1 URL /);
    error.mockRestore();
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
    await expect(run(sizeCommand, '0x12', '--dictionary', pathOf('none'))).rejects.toMatchObject(unusable);
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
      ['--max-body', '500000001'],
      ['--receive-timeout', 'long'],
      ['--allow-origin', 'https://app.example/'],
      ['--allow-origin', 'app.example'],
      ['--genesis', pathOf('none.json')],
      ['--demo', pathOf('nowhere')],
      ['--chain-id', '0'],
      ['--chain-id', '5', '--network', await profile({ chainId: 12 })],
      ['--balance', '1.5'],
      ['--log', 'yaml'],
      ['--accounts', '0'],
      ['--mnemonic', 'test test'],
      ['--accounts', '3', '--network', 'linea', '--upstream', 'http://127.0.0.1:1'],
      ['--load-state', pathOf('none.json')],
      ['--load-state', await saved('no-state.json', [])],
      ['--state', 'a', '--dump-state', 'b'],
      ['--state', 'a', '--network', 'linea', '--upstream', 'http://127.0.0.1:1'],
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

  test('serves a layer 1: by its name, or by a file in which members of a rollup are null', async () => {
    const none = { rollup: null, pricing: null, hashSchemes: null, dictionary: null, moduleLimits: null };
    const file = await saved('network.json', { ...none, chainId: 1, layerOne: 'mainnet', gasSearch: 'geth' });
    const given = { upstream: ['http://127.0.0.1:1'], 'l1-consensus': ['http://127.0.0.1:2'] };
    for (const network of ['ethereum', file]) {
      const chain = await chainOptions({ ...given, network } as Parameters<typeof chainOptions>[0]);
      expect(chain).toMatchObject({ kind: 'light', layerOne: { consensus: given['l1-consensus'] } });
      expect(chain.network).not.toHaveProperty('rollup');
    }
    await expect(
      run(serveCommand, '--network', 'ethereum', '--upstream', 'http://127.0.0.1:1', '--l1', 'http://127.0.0.1:2'),
    ).rejects.toThrow(/--l1: must be left out: ethereum is its own layer 1/);
  });

  test('serves a network and its layer 1, whose endpoints are those of --l1', async () => {
    const given = { network: 'linea', upstream: ['http://127.0.0.1:1'], l1: ['http://127.0.0.1:2'] };
    const followed = { ...given, 'l1-consensus': ['http://127.0.0.1:3'], checkpoint: `0x${'12'.repeat(32)}` };
    type Given = Parameters<typeof nodeOptions>[0];
    const { chains } = await nodeOptions(followed as unknown as Given, 'ethereum');
    expect(chains).toMatchObject([
      { network: { name: 'linea' }, endpoints: given.upstream },
      {
        network: { name: 'ethereum' },
        endpoints: given.l1,
        layerOne: { consensus: followed['l1-consensus'], checkpoint: { root: followed.checkpoint } },
      },
    ]);
    expect(chains![0]).not.toHaveProperty('layerOne');
    for (const [values, name, why] of [
      [followed, 'sepolia', /^--with: must be the layer 1 of linea; sepolia is not/],
      [followed, 'linea', /^--with: must be the layer 1 of linea/],
      [given, 'ethereum', /^--with: needs endpoints of ethereum in --l1, and in --l1-consensus/],
      [{ network: 'devnet' }, 'ethereum', /^--with: is for light nodes/],
    ] as const)
      await expect(nodeOptions(values as unknown as Given, name)).rejects.toThrow(why);
    const served = await startUntil(
      /"listening".*\n/,
      ...[
        'serve',
        '--port',
        '0',
        '--network',
        'linea',
        '--upstream',
        'http://127.0.0.1:1',
        '--l1',
        'http://127.0.0.1:2',
      ],
      ...['--l1-consensus', 'http://127.0.0.1:3', '--with', 'ethereum', '--json'],
    );
    const { chains: told, endpoints } = JSON.parse(served.out());
    // Of both chains: what each has, once.
    expect(endpoints.map(({ role, endpoint }: Record<string, string>) => [role, endpoint])).toEqual([
      ['l2', 'http://127.0.0.1:1'],
      ['l2', 'http://127.0.0.1:2'],
      ['l1-consensus', 'http://127.0.0.1:3'],
    ]);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
    const headers = { 'content-type': 'application/json' };
    for (const { url, chainId } of told) {
      const answer = await fetch(url, { method: 'POST', headers, body });
      expect(await answer.json()).toMatchObject({ result: `0x${chainId.toString(16)}` });
    }
    expect(await served.stop('SIGTERM')).toBe(0);
  });
});
