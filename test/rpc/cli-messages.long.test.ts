import { expect, onTestFinished, test, vi } from 'vitest';
import { isPlumblineError } from '../../src/errors.js';
import type { Command } from '../../src/hosts/cli/arguments.js';
import { claimCommand, messagesCommand } from '../../src/hosts/cli/messages.js';
import { serve } from '../../src/hosts/cli/server.js';
import type { Hex } from '../../src/primitives/hex.js';
import { claimOf, layerOneOf, messageFrom, ROLLUP, withdraw } from '../support/bridge.js';
import { runBuilt } from '../support/built-command.js';
import { accountAt, devNode, stranger } from '../support/dev-node.js';

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

test('plumbline messages and plumbline claim follow a withdrawal of a served devnet', async () => {
  const dev = await devNode();
  const server = await serve(dev.node, { port: 0 });
  onTestFinished(() => server.close());
  const served = ['--devnet', `http://127.0.0.1:${server.port}`];
  const [from, to] = [accountAt(0), stranger('c0')];
  const { hash } = await withdraw(dev, from, to, 3n * 10n ** 18n, { fee: 7n });
  const before = await run(claimCommand, hash, '--block', '1', ...served);
  expect(before).toMatchObject({ code: 2, out: expect.stringContaining('is not final on layer 1 yet') });
  await dev.ask('anvil_mine', '0x2');

  const listed = await run(messagesCommand, to, ...served);
  expect(listed.code).toBe(0);
  const [first, second, ...rest] = listed.out.split('\n');
  expect([first, second]).toEqual([
    `message       ${hash}`,
    expect.stringMatching(/^ {2}state {7}anchored, sent in block 1,/),
  ]);
  expect(rest.slice(0, 6)).toEqual([
    `  from        ${from}, number 1`,
    `  to          ${to}`,
    '  value       3 ETH (3000000000000000000 wei)',
    expect.stringMatching(/^ {2}fee .* for whoever claims it first$/),
    'messages      1',
    'complete      in blocks 0 to 3, level plain; nothing is known of others',
  ]);
  expect(rest.at(-1)).toMatch(/^layer 1 {7}block 1, final as its endpoints say, \d+ s old; block 1 is final there$/);
  const asJson = JSON.parse(
    (await run(messagesCommand, to, '--from-block', '0', '--to-block', '3', '--json', ...served)).out,
  );
  expect(asJson).toMatchObject({ messages: [{ hash, state: 'anchored' }], proved: { from: 0, to: 3 } });

  const claim = await run(claimCommand, hash, ...served);
  expect(claim.code).toBe(0);
  expect(claim.out).toContain('the contract allows the claim; it was not executed');
  const data = claimOf(messageFrom(from, to, 3n * 10n ** 18n, 1n, 7n));
  expect(claim.out.split('\n')).toEqual(expect.arrayContaining([`  to          ${ROLLUP}`, `  data        ${data}`]));
  await layerOneOf(dev)('eth_sendTransaction', { from: accountAt(1), to: ROLLUP, data, gas: '0x50000' });
  await dev.ask('anvil_mine', '0x1');
  const again = await run(claimCommand, hash, ...served);
  expect(again).toMatchObject({ code: 1, out: expect.stringContaining('claim         it was claimed') });
  const unknown: Hex = `0x${'12'.repeat(32)}`;
  expect(await run(claimCommand, unknown, ...served)).toMatchObject({
    code: 2,
    out: expect.stringContaining('it is not in the blocks that were read'),
  });
});

test('arguments that cannot be used, and the help', async () => {
  expect(await run(messagesCommand, '0x12')).toMatchObject({ code: 2, err: expect.stringContaining('ADDRESS') });
  expect(await run(claimCommand, '0x12')).toMatchObject({ code: 2, err: expect.stringContaining('HASH') });
  const hash = `0x${'12'.repeat(32)}`;
  expect(await run(claimCommand, hash, '--block', 'latest')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--block'),
  });
  const { out } = await runBuilt(['--help']);
  for (const [name, { help }] of Object.entries({ messages: messagesCommand, claim: claimCommand })) {
    expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(help).toMatch(new RegExp(`^plumbline ${name}\\b`));
    expect(help).toContain('Exit codes: 0 ');
  }
});
