import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeErrorResult, encodeFunctionData, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { type RunningServer, serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { type Ended, runBuilt } from '../support/built-command.js';
import { serveMock } from '../support/mock-chain.js';

const ABI = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'error InsufficientBalance(address owner, uint256 balance, uint256 needed)',
]);
const NOBODY = 'http://127.0.0.1:1';
const [sender, receiver] = DEV_ACCOUNTS as [(typeof DEV_ACCOUNTS)[0], (typeof DEV_ACCOUNTS)[0]];
/** An account without tokens. */
const POOR = '0x00000000000000000000000000000000000000aa';
const UNIT = 10n ** 18n;

let directory: string;
let node: PlumblineNode;
let server: RunningServer;
let url: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plumbline-commands-'));
  node = await createInlineNode();
  server = await serve(node, { port: 0 });
  url = `http://127.0.0.1:${server.port}`;
});
afterAll(async () => {
  await server.close();
  await node.close();
  await rm(directory, { recursive: true });
});

const cli = (...args: string[]): Promise<Ended> => runBuilt([...args, '--devnet', url]);
const transfer = (to: string, value: bigint) =>
  encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [to as `0x${string}`, value] });

describe('plumbline proof', () => {
  test('proves an account of the devnet, in text and as JSON that verify reads', async () => {
    const { code, out } = await cli('proof', sender.address);
    expect(code).toBe(0);
    expect(out).toMatch(/^verified\n/);
    expect(out).toContain('balance  10000000000000000000000 wei\n');
    expect(out).toMatch(/of block 0, level finalized\n$/);
    const supply = await node.request({ method: 'eth_getStorageAt', params: [TEST_TOKEN, '0x2', 'latest'] });
    const asJson = await cli('proof', TEST_TOKEN, '--key', '0x2', '--json');
    const proved = JSON.parse(asJson.out);
    expect(proved).toMatchObject({ verified: true, block: 0, slots: [{ value: supply, exists: true }] });
    const saved = join(directory, 'proof.json');
    await writeFile(saved, asJson.out);
    const again = await cli('verify', saved, '--json');
    expect(JSON.parse(again.out)).toMatchObject({ verified: true, block: 0, slots: proved.slots });
  });

  test('refuses an endpoint that lies, and cannot check one that is down', async () => {
    const liar = await serveMock(node, {
      tamper({ method }, result) {
        if (method !== 'linea_getProof') return result;
        const { proof } = (result as { accountProof: { proof: { value: string } } }).accountProof;
        proof.value = proof.value.replace('21e19e', '31e19e');
        return result;
      },
    });
    try {
      const endpoints = ['--network', 'devnet', '--upstream', liar.url, '--l1', `${url}/l1`];
      const refused = await runBuilt(['proof', sender.address, ...endpoints]);
      expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^refused: /) });
      const asJson = await runBuilt(['proof', sender.address, ...endpoints, '--json']);
      expect(asJson.code).toBe(1);
      expect(JSON.parse(asJson.out)).toMatchObject({ outcome: 'refused', error: { code: 'ANSWER_REFUSED' } });
    } finally {
      await liar.close();
    }
    const down = await runBuilt(['proof', sender.address, '--devnet', NOBODY]);
    expect(down).toMatchObject({ code: 2, out: '', err: expect.stringContaining('no connection') });
    const block = await cli('proof', sender.address, '--block', '77');
    expect(block).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^could not check: /) });
  });
});

describe('plumbline estimate', () => {
  test('gives the values of linea_estimateGas', async () => {
    const call = { from: sender.address, to: receiver.address, value: '0x16345785d8a0000' };
    const expected = await node.request<UntypedMethod>({ method: 'linea_estimateGas', params: [call] });
    const described = ['--from', call.from, '--to', call.to, '--value', '0.1ether'];
    const { code, out } = await cli('estimate', ...described, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject(expected as object);
    const inWords = (await cli('estimate', ...described)).out;
    // A transfer to an account without code costs the intrinsic gas alone (yellow paper, G_transaction).
    expect(inWords).toContain('gas limit     21000 (21000 used)\n');
    expect(inWords).toContain('base fee      7 wei per gas\n');
    const fromInput = await runBuilt(['estimate', '--call', '-', '--json', '--devnet', url], JSON.stringify(call));
    expect(JSON.parse(fromInput.out)).toMatchObject(expected as object);
  });

  test('refuses a call that reverts, with what it returned', async () => {
    const data = encodeErrorResult({ abi: ABI, errorName: 'InsufficientBalance', args: [POOR, 0n, 1n] });
    const described = [
      '--from',
      POOR,
      '--to',
      TEST_TOKEN,
      '--data',
      transfer(receiver.address, 1n),
      '--gas-price',
      '0',
    ];
    const { code, out } = await cli('estimate', ...described, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ outcome: 'refused', error: { code: 'EXECUTION_REVERTED', data } });
    const inWords = await cli('estimate', ...described);
    expect(inWords).toMatchObject({ code: 1, out: '', err: expect.stringContaining(data) });
  });

  test('refuses what the sender cannot pay', async () => {
    const { code, err } = await cli('estimate', '--from', sender.address, '--to', POOR, '--value', '10001ether');
    expect(code).toBe(1);
    expect(err).toMatch(/^refused: .*exceeds balance 10000000000000000000000 of sender/);
  });

  test('cannot check with endpoints that are down, and says which', async () => {
    const call = ['--from', sender.address, '--to', POOR];
    const { code, err } = await runBuilt(['estimate', ...call, '--devnet', NOBODY]);
    expect(code).toBe(2);
    expect(err).toContain(NOBODY);
  });
});

describe('plumbline preview', () => {
  test('says who gains and loses what', async () => {
    const described = ['--from', sender.address, '--to', TEST_TOKEN, '--data', transfer(receiver.address, UNIT)];
    const { code, out } = await cli('preview', ...described);
    expect(code).toBe(0);
    const token = `PLUMB (${TEST_TOKEN})`;
    expect(out).toMatch(/^call 1 {2}success/);
    expect(out).toContain(`  transfer  1 ${token} from ${sender.address} to ${receiver.address}\n`);
    expect(out).toContain(`balance   ${sender.address} -1 ${token}\n`);
    expect(out).toContain(`balance   ${receiver.address} +1 ${token}\n`);
    const asJson = JSON.parse((await cli('preview', ...described, '--json')).out);
    expect(asJson.calls).toMatchObject([{ status: 'success', transfers: [{ amount: '0xde0b6b3a7640000' }] }]);
  });

  test('a list of calls; a call that reverts is named, and the exit code is 1', async () => {
    const calls = [
      {
        from: sender.address,
        to: TEST_TOKEN,
        data: encodeFunctionData({ abi: ABI, functionName: 'approve', args: [receiver.address, 2n ** 256n - 1n] }),
      },
      { from: sender.address, to: TEST_TOKEN, data: transfer(receiver.address, 10n ** 60n) },
    ];
    const error = 'InsufficientBalance(address,uint256,uint256)';
    const args = ['preview', '--call', '-', '--error', error, '--devnet', url];
    const { code, out } = await runBuilt(args, JSON.stringify(calls));
    expect(code).toBe(1);
    expect(out).toContain(`  approval  ${receiver.address} for ${sender.address}: without limit, ${TEST_TOKEN}\n`);
    expect(out).toContain('danger    unlimited-approval: ');
    expect(out).toContain(`call 2  reverted: ${error} ${sender.address}, `);
  });

  test('refuses a call that could not be sent', async () => {
    const { code, err } = await cli('preview', '--from', POOR, '--to', receiver.address, '--value', '1');
    expect(code).toBe(1);
    expect(err).toMatch(/^refused: /);
  });
});

describe('plumbline diagnose', () => {
  test('has an exit code for each kind of verdict', async () => {
    const described = ['--from', sender.address, '--to', receiver.address, '--value', '1gwei'];
    const fine = await cli('diagnose', ...described, '--verbose');
    expect(fine).toMatchObject({ code: 0, out: expect.stringMatching(/^will-be-included: /) });
    expect(fine.out).toMatch(
      /\n {2}ok +funds +10000 ETH \(10000000000000000000000 wei\), at least 0\.0\d+ ETH \(\d+ wei\)\n/,
    );
    const cheap = await cli('diagnose', ...described, '--max-fee', '1', '--priority-fee', '1', '--json');
    expect(cheap.code).toBe(1);
    expect(JSON.parse(cheap.out)).toMatchObject({ verdict: expect.stringMatching(/^will-/) });
    const unknown = await cli('diagnose', `0x${'5'.repeat(64)}`);
    expect(unknown).toMatchObject({ code: 2, out: expect.stringMatching(/^cannot-tell: /) });
  });

  test('of signed bytes, by the account that signed them', async () => {
    const account = privateKeyToAccount(sender.privateKey);
    const fees = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
    const raw = await account.signTransaction({
      ...{ type: 'eip1559', chainId: 59_139, nonce: 0, gas: 21_000n, to: receiver.address, value: 1n, ...fees },
    });
    const { code, out } = await cli('diagnose', raw, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ verdict: 'will-be-included', from: account.address.toLowerCase() });
  });
});

describe('arguments that cannot be used', () => {
  const call = ['--from', POOR, '--to', POOR];
  test.each([
    ['proof', ['0x12', '--devnet', NOBODY]],
    ['proof', [POOR]],
    ['proof', [POOR, '--network', 'devnet', '--upstream', NOBODY]],
    ['proof', [POOR, '--devnet', NOBODY, '--l1', NOBODY]],
    ['estimate', ['--devnet', NOBODY]],
    ['estimate', [...call, '--network', 'linea']],
    ['estimate', [...call, '--devnet', NOBODY, '--value', '1.5wei']],
    ['estimate', [...call, '--devnet', NOBODY, '--value', '5 apples']],
    ['estimate', [...call, '--devnet', NOBODY, '--call', 'other.json']],
    ['estimate', [...call, '--devnet', NOBODY, '--dictionary', 'none.bin']],
    ['preview', ['--call', 'none.json', '--devnet', NOBODY]],
    ['diagnose', ['--devnet', NOBODY]],
    ['diagnose', ['0x12', ...call, '--devnet', NOBODY]],
    ['diagnose', ['0x12', '0x13', '--devnet', NOBODY]],
  ])('plumbline %s %j', async (command, args) => {
    const { code, out, err } = await runBuilt([command, ...args]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(new RegExp(`^plumbline ${command}: .+\n\nplumbline ${command} --help lists what it takes.\n$`));
  });

  test('those that only the node can judge', async () => {
    const { code, err } = await cli('estimate', '--from', '0x12', '--to', POOR);
    expect(code).toBe(2);
    expect(err).toContain('from: expected 20 bytes');
  });
});
