import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { Anvil, anvilPath, castPath, foundryPath } from '../support/anvil.js';
import { type Endpoint, openEndpoint } from './endpoint.js';
import { runFoundry } from './foundry.js';

const CHAIN_ID = 59_139;
const [owner, receiver] = DEV_ACCOUNTS as unknown as [(typeof DEV_ACCOUNTS)[0], (typeof DEV_ACCOUNTS)[0]];
const KEY = ['--private-key', owner!.privateKey];
/** So that a transaction has the same hash on both chains. */
const FEES = ['--gas-limit', '200000', '--gas-price', '100gwei', '--priority-gas-price', '1gwei'];

const COUNTER = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

contract Counter {
    uint256 public number;
    event Set(address indexed by, uint256 value);
    error TooBig(uint256 value);

    constructor(uint256 start) {
        number = start;
    }

    function set(uint256 value) external {
        if (value > 1000) revert TooBig(value);
        number = value;
        emit Set(msg.sender, value);
    }
}
`;

const SCRIPT = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Counter} from "../src/Counter.sol";

interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
}

contract Deploy {
    bool public IS_SCRIPT = true;
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function run() external {
        vm.startBroadcast();
        Counter counter = new Counter(7);
        counter.set(42);
        vm.stopBroadcast();
        require(counter.number() == 42);
    }
}
`;

/** The compiler as forge calls it: solc-js, as there is no native one among npm's packages. */
const SOLC = `#!/usr/bin/env node
const solc = require(${JSON.stringify(createRequire(import.meta.url).resolve('solc'))});
if (process.argv.includes('--version')) console.log('Version: ' + solc.version().replace('.Emscripten.clang', '.Linux.g++'));
else process.stdout.write(solc.compile(require('node:fs').readFileSync(0, 'utf8')));
`;

const CONFIG = `[profile.default]
libs = []
solc = './solc'
offline = true
evm_version = 'cancun'
`;

const isMissing = [anvilPath(), castPath(), foundryPath('forge')].includes(undefined);

describe.skipIf(isMissing)('Foundry: what it prints of a devnet, it prints of anvil', () => {
  let ours: Endpoint;
  let anvil: Anvil;
  let project: string;
  /** Of the counter that `forge create` made. */
  let counter: string;

  beforeAll(async () => {
    ours = await openEndpoint();
    anvil = await Anvil.start('osaka', [], { chainId: CHAIN_ID, accounts: 10 });
    project = await mkdtemp(join(tmpdir(), 'forge-project-'));
    for (const folder of ['src', 'script']) await mkdir(join(project, folder));
    await writeFile(join(project, 'solc'), SOLC);
    await chmod(join(project, 'solc'), 0o755);
    await writeFile(join(project, 'foundry.toml'), CONFIG);
    await writeFile(join(project, 'src/Counter.sol'), COUNTER);
    await writeFile(join(project, 'script/Deploy.s.sol'), SCRIPT);
  });
  afterAll(async () => {
    await anvil.close();
    await ours.close();
    await rm(project, { recursive: true });
  });

  const urls = () => [ours.http, anvil.url];
  /** `--constructor-args` takes all that follows. */
  const withUrl = (args: readonly string[], url: string) => {
    const at = args.includes('--constructor-args') ? 1 : args.length;
    return [...args.slice(0, at), '--rpc-url', url, ...args.slice(at)];
  };
  /** Runs a command for both. @returns what it prints for each */
  async function both(program: 'cast' | 'forge', args: readonly string[]): Promise<string[]> {
    const printed: string[] = [];
    for (const url of urls()) printed.push((await runFoundry(program, withUrl(args, url), project)).trim());
    return printed;
  }

  test('forge create deploys', async () => {
    const args = ['create', 'src/Counter.sol:Counter', ...KEY, '--broadcast', '--json', '--constructor-args', '7'];
    const [found, expected] = (await both('forge', args)).map((text) => JSON.parse(text.slice(text.indexOf('{'))));
    const { transactionHash, ...deployed } = found;
    expect(deployed).toEqual({ deployer: expected.deployer, deployedTo: expected.deployedTo });
    counter = deployed.deployedTo;
    const codes = await both('cast', ['code', counter]);
    expect(codes[0]).toBe(codes[1]);
    expect(codes[0]!.length).toBeGreaterThan(100);
  });

  test('forge script simulates, broadcasts and writes its record', async () => {
    const records: unknown[] = [];
    for (const url of urls()) {
      await runFoundry(
        'forge',
        // One transaction after the other: anvil may mine two that come together in one block.
        ['script', 'script/Deploy.s.sol:Deploy', ...KEY, '--broadcast', '--slow', '--rpc-url', url],
        project,
      );
      const file = join(project, `broadcast/Deploy.s.sol/${CHAIN_ID}/run-latest.json`);
      const { transactions, receipts } = JSON.parse(await readFile(file, 'utf8'));
      records.push([
        transactions.map(({ transactionType, contractName, contractAddress, arguments: args }: never) => {
          return { transactionType, contractName, contractAddress, args };
        }),
        receipts.map(
          ({ status, from, to, contractAddress, logs, gasUsed }: { logs: unknown[] } & Record<string, unknown>) => {
            return { status, from, to, contractAddress, logs: logs.length, gasUsed };
          },
        ),
      ]);
    }
    expect(records[0]).toEqual(records[1]);
    expect(records[0]).toMatchObject([
      [{ contractName: 'Counter' }, { contractName: 'Counter' }],
      [{ status: '0x1' }, { status: '0x1' }],
    ]);
  });

  test('cast send sends, and shows a revert by its name', async () => {
    const send = (value: string) => both('cast', ['send', counter, 'set(uint256)', value, ...KEY, ...FEES, '--json']);
    const [found, expected] = (await send('500')).map((text) => JSON.parse(text));
    for (const name of ['status', 'transactionHash', 'gasUsed', 'from', 'to', 'logsBloom'])
      expect([name, found[name]]).toEqual([name, expected[name]]);
    const failures: string[] = [];
    for (const url of urls()) {
      const call = ['call', counter, 'set(uint256)', '5000', '--rpc-url', url];
      failures.push(await runFoundry('cast', call, project).catch((error) => String(error.stderr)));
    }
    // The name is of the artifacts of the project, or the data alone: as cast shows it for anvil.
    const revert = /(TooBig|data: "0x[0-9a-f]+")/;
    expect(revert.exec(failures[0]!)?.[0]).toBe(revert.exec(failures[1]!)?.[0]);
    expect(failures[0]).toMatch(revert);
  });

  /** Commands of cast that print the same for both chains. HASH is the transaction of `cast send`, COUNTER the contract. */
  const SAME: readonly string[][] = [
    ['chain-id'],
    ['chain'],
    ['block-number'],
    ['balance', receiver!.address],
    ['balance', '--ether', receiver!.address],
    ['nonce', owner!.address],
    ['codesize', 'COUNTER'],
    ['codehash', 'COUNTER'],
    ['storage', 'COUNTER', '0'],
    ['storage-root', 'COUNTER'],
    ['call', 'COUNTER', 'number()(uint256)'],
    ['call', 'COUNTER', '--override-state-diff', 'COUNTER:0:9', 'number()(uint256)'],
    ['access-list', 'COUNTER', '--from', owner!.address, 'set(uint256)', '6'],
    ['tx', 'HASH', 'input'],
    ['tx', 'HASH', 'nonce'],
    ['tx', 'HASH', '--raw'],
    ['receipt', 'HASH', 'status'],
    ['receipt', 'HASH', 'gasUsed'],
    ['receipt', 'HASH', 'logs'],
    ['block', '1', '--field', 'receiptsRoot'],
    ['block', '1', '--field', 'number'],
    ['block', 'latest', '--field', 'gasUsed'],
    ['logs', '--address', 'COUNTER', 'Set(address,uint256)', '--from-block', '1', '--json'],
    ['implementation', 'COUNTER'],
    ['admin', 'COUNTER'],
    ['compute-address', owner!.address],
    ['rpc', 'eth_getTransactionCount', owner!.address, 'latest'],
    ['rpc', 'eth_getCode', 'COUNTER', 'latest'],
    ['rpc', 'eth_chainId'],
    ['tx-pool', 'status'],
    ['tx-pool', 'content'],
    ['mktx', receiver!.address, '--value', '1', '--nonce', '9', ...KEY, ...FEES],
    ['run', 'HASH', '--quick'],
    ['call', 'COUNTER', '--trace', 'set(uint256)', '6'],
  ];

  test('cast', async () => {
    const sent = await both('cast', ['send', counter, 'set(uint256)', '77', ...KEY, ...FEES, '--json']);
    const [hash, theirs] = sent.map((text) => JSON.parse(text).transactionHash as string);
    expect(hash).toBe(theirs);
    for (const command of SAME) {
      const args = command.map((word) => word.replaceAll('COUNTER', counter).replaceAll('HASH', hash!));
      const [found, expected] = (await both('cast', args)).map((text) =>
        text.replaceAll(/"(blockHash|blockTimestamp)":"\w+"/g, ''),
      );
      expect.soft([command.join(' '), found]).toEqual([command.join(' '), expected]);
    }
  });

  test('cast, of what is each chain’s own', async () => {
    const number = /^\d+$/;
    for (const command of [['gas-price'], ['base-fee'], ['age'], ['find-block', '1'], ['client']]) {
      const [found, expected] = await both('cast', command);
      expect([command[0], number.test(found!)]).toEqual([command[0], number.test(expected!)]);
    }
    // Each searches in its own way; with what it says, the transaction succeeds.
    const set = [counter, 'set(uint256)', '6', '--rpc-url', ours.http];
    const gas = (await runFoundry('cast', ['estimate', '--from', owner!.address, ...set])).trim();
    const sent = await runFoundry('cast', ['send', ...KEY, '--gas-limit', gas, '--json', ...set]);
    expect(JSON.parse(sent)).toMatchObject({ status: '0x1' });
    const hash = await runFoundry('cast', ['publish', '--async', await signed(), '--rpc-url', ours.http]);
    expect(hash.trim()).toMatch(/^"?0x[0-9a-f]{64}"?$/);
  });

  async function signed(): Promise<string> {
    const nonce = (await runFoundry('cast', ['nonce', owner!.address, '--rpc-url', ours.http])).trim();
    const to = [receiver!.address, '--value', '1', '--nonce', nonce];
    return (await runFoundry('cast', ['mktx', ...to, ...KEY, ...FEES, '--rpc-url', ours.http])).trim();
  }
});
