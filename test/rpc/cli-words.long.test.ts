import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { concatHex, encodeAbiParameters, encodeErrorResult, type Hex, numberToHex, parseAbi, size } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { isPlumblineError } from '../../src/errors.js';
import type { Command } from '../../src/hosts/cli/arguments.js';
import { diagnoseCommand } from '../../src/hosts/cli/diagnose.js';
import { estimateCommand } from '../../src/hosts/cli/estimate.js';
import { checkpointCommand } from '../../src/hosts/cli/layer-one-root.js';
import { previewCommand } from '../../src/hosts/cli/preview.js';
import { proofCommand } from '../../src/hosts/cli/proof.js';
import { balanceCommand, rpcCommand } from '../../src/hosts/cli/read.js';
import { serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { runBuilt, startUntil } from '../support/built-command.js';

/*
 * Words of endpoints, contracts, files and arguments cannot write lines of their own or steer the terminal, whichever command
 * prints them.
 */

const from = (first: number, last: number) =>
  String.fromCodePoint(...Array.from({ length: last + 1 - first }, (_, i) => first + i));
/** C0, DEL and C1, ends of lines, and what turns the direction of text. */
const CONTROLS = from(0, 0x1f) + from(0x7f, 0x9f) + from(0x2028, 0x2029) + from(0x202a, 0x202e) + from(0x2066, 0x2069);
const WORDS = `begin\r\nFORGED \u001b[2J\u001b]0;title\u0007 ${CONTROLS} end`;
/** A line feed ends a line of the command, and is told by the line after it. */
const RAW = new RegExp(`[${CONTROLS.replace('\n', '').replace(/[\]\\^-]/g, '\\$&')}]|^FORGED`, 'mu');

const SOMEBODY = '0x00000000000000000000000000000000000000aa';
const TOKEN = '0x00000000000000000000000000000000000000bb';
const OTHER_TOKEN = '0x00000000000000000000000000000000000000dd';
const REVERTING = '0x00000000000000000000000000000000000000cc';
const ROOT = `0x${'11'.repeat(32)}`;

/** Ends with these bytes of its code. @param end - RETURN or REVERT */
function givesBack(data: Hex, end: 'f3' | 'fd', before: Hex = '0x'): Hex {
  const length = numberToHex(size(data), { size: 2 });
  const start = numberToHex(size(before) + 15, { size: 2 });
  const copy = concatHex(['0x61', length, '0x61', start, '0x5f', '0x39', '0x61', length, '0x5f', `0x${end}`]);
  return concatHex([before, copy, '0x00', '0x00', data]);
}

/** A transfer is a `Transfer` of 1 from the caller to itself. Any other call returns words: of a name, or a symbol. */
const token = (words: string) => {
  const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  const log = concatHex(['0x60015f52', '0x33', '0x33', '0x7f', transfer, '0x60205fa3', '0x60205ff3']);
  const chosen = concatHex(['0x5f3560e01c63a9059cbb1460', '0x12', '0x57', '0x60', numberToHex(19 + size(log)), '0x56']);
  const before = concatHex([chosen, '0x00', '0x5b', log, '0x5b']);
  return givesBack(encodeAbiParameters([{ type: 'string' }], [words]), 'f3', before);
};

/** Endpoints by what they answer, byte by byte as it goes over the network. */
const json = (id: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message: WORDS, data: WORDS } });
/** An error whose body is JSON is quoted; a page is not. */
const html = `<html><title>${WORDS}</title></html>`;
const headers = Buffer.from(CONTROLS, 'latin1')
  .toString('latin1')
  .replace(/[\0\r\n]/g, '');
const message = (status: string, more: string, body: string) =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\n${more}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`,
      'latin1',
    ),
    Buffer.from(body),
  ]);
const high = from(0x80, 0x9f);
const ANSWERS: Readonly<Record<string, (id: unknown) => Buffer>> = {
  'errors of JSON-RPC': (id) => message('200 OK', 'content-type: application/json\r\n', json(id)),
  'an error with a reason': (id) => message('500 Oops', 'content-type: application/json\r\n', json(id)),
  'an error page': () => message('500 Oops', 'content-type: text/html\r\n', html),
  'a page in place of an answer': () => message('200 OK', 'content-type: text/html\r\n', html),
  'values of headers': () =>
    message(`403 No ${high}`, `content-type: text/${high}\r\nserver: ${high}\r\nretry-after: ${high}\r\n`, WORDS),
  'a head that cannot be read': () => message(`403 ${headers}`, `server: ${headers}\r\n`, WORDS),
  'a redirect': () => message(`302 ${high}`, `location: http://${high}/\r\n`, ''),
};

/** Of these, commands print the words. */
const QUOTED = ['errors of JSON-RPC', 'an error with a reason'];

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

async function endpoint(answer: (id: unknown) => Buffer): Promise<string> {
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (data) => {
      text += String(data);
      const [head, body = ''] = text.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? 0);
      if (text.includes('\r\n\r\n') && body.length >= length)
        socket.end(answer(body === '' ? 1 : (JSON.parse(body) as { id?: unknown }).id));
    });
  });
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** What a command prints, and what it throws for `cli.ts` to print. */
async function printed(command: Command, args: readonly string[]): Promise<string> {
  const lines: unknown[] = [];
  const spies = (['log', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((line: unknown) => void lines.push(line)),
  );
  try {
    await command.run(args);
  } catch (error) {
    if (!isPlumblineError(error, 'INVALID_PARAMETER')) throw error;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return lines.join('\n');
}

function expectHarmless(text: string): void {
  expect(text).not.toMatch(RAW);
}

describe('words of endpoints', () => {
  const described = ['--from', SOMEBODY, '--to', SOMEBODY];
  const commands: [string, Command, (url: string) => string[]][] = [
    ['proof', proofCommand, (url) => [SOMEBODY, '--network', 'linea', '--upstream', url, '--l1', url]],
    ['estimate', estimateCommand, (url) => [...described, '--network', 'linea', '--upstream', url]],
    ['preview', previewCommand, (url) => [...described, '--network', 'linea', '--upstream', url]],
    ['diagnose', diagnoseCommand, (url) => [...described, '--network', 'linea', '--upstream', url]],
    ['balance', balanceCommand, (url) => [SOMEBODY, '--network', 'linea', '--upstream', url]],
    ['rpc', rpcCommand, (url) => ['eth_getTransactionByHash', ROOT, '--network', 'linea', '--upstream', url]],
    ['checkpoint', checkpointCommand, (url) => ['--server', url]],
  ];
  describe.each(Object.entries(ANSWERS))('%s', (kind, answer) => {
    test.each(commands)('plumbline %s', async (__, command, args) => {
      const url = await endpoint(answer);
      const text = await printed(command, args(url));
      expect(text).not.toBe('');
      // `checkpoint` says only what the status was.
      if (QUOTED.includes(kind) && command !== checkpointCommand) expect(text).toContain('begin');
      expectHarmless(text);
      const asJson = await printed(command, [...args(url), '--json']);
      expectHarmless(asJson);
      expect(JSON.parse(asJson)).toBeInstanceOf(Object);
    });

    test('plumbline serve', async () => {
      const url = await endpoint(answer);
      const args = ['serve', '--port', '0', '--network', 'linea', '--upstream', url, '--l1', url];
      const running = await startUntil(/WebSocket/, ...args);
      await running.stop('SIGTERM');
      expect(running.out()).toContain('NOT READY');
      expectHarmless(running.out());
    });
  });
});

describe('words of contracts', () => {
  let node: PlumblineNode;
  let url: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    node = await createInlineNode();
    const revert = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: [WORDS] });
    await node.request({ method: 'anvil_setBalance', params: [SOMEBODY, '0xde0b6b3a7640000'] });
    await node.request({ method: 'anvil_setCode', params: [TOKEN, token(WORDS)] });
    // Of a symbol, 64 characters are shown.
    await node.request({ method: 'anvil_setCode', params: [OTHER_TOKEN, token(`begin${CONTROLS.slice(0x20)}`)] });
    await node.request({ method: 'anvil_setCode', params: [REVERTING, givesBack(revert, 'fd')] });
    // Endpoints have what is in a block.
    await node.request({ method: 'evm_mine' });
    const server = await serve(node, { port: 0 });
    url = `http://127.0.0.1:${server.port}`;
    close = () => server.close();
  });
  afterAll(async () => {
    await close();
    await node.close();
  });

  test.each([
    ['estimate', estimateCommand, REVERTING, 'begin'],
    ['preview', previewCommand, REVERTING, 'begin'],
    ['preview', previewCommand, TOKEN, 'begin'],
    ['preview', previewCommand, OTHER_TOKEN, 'begin'],
    ['diagnose', diagnoseCommand, REVERTING, 'begin'],
  ] as const)('plumbline %s', async (_, command, to, shown) => {
    const data = concatHex(['0xa9059cbb', `0x${'00'.repeat(64)}`]);
    const args = ['--from', SOMEBODY, '--to', to, '--data', data, '--devnet', url];
    const text = await printed(command, args);
    expect(text).toContain(shown);
    expectHarmless(text);
    const asJson = await printed(command, [...args, '--json']);
    expectHarmless(asJson);
    expect(JSON.stringify(JSON.parse(asJson))).toContain(shown);
  });
});

describe('words of the user', () => {
  const words = WORDS.replaceAll('\0', '');
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plumbline-words-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test.each([
    ['no command', [words]],
    ['no command with --help', [words, '--help']],
    ['verify', ['verify', words, '--root', ROOT]],
    ['verify', ['verify', words, `--${words}`]],
    ['size', ['size', words]],
    ['size', ['size', '0x12', '--dictionary', words]],
    [
      'estimate',
      ['estimate', '--from', SOMEBODY, '--to', SOMEBODY, '--network', words, '--upstream', 'http://127.0.0.1:1'],
    ],
    ['estimate', ['estimate', '--from', words, '--to', SOMEBODY, '--devnet', 'http://127.0.0.1:1']],
    ['preview', ['preview', '--call', words, '--devnet', 'http://127.0.0.1:1']],
    ['diagnose', ['diagnose', words, '--devnet', 'http://127.0.0.1:1']],
    ['proof', ['proof', words, '--devnet', 'http://127.0.0.1:1']],
    ['balance', ['balance', `${words}.eth`, '--network', 'ethereum', '--upstream', 'http://127.0.0.1:1']],
    ['rpc', ['rpc', words, words, '--devnet', 'http://127.0.0.1:1']],
    ['checkpoint', ['checkpoint', '--server', words]],
    ['serve', ['serve', '--genesis', words]],
    ['serve', ['serve', '--host', words.replaceAll('/', ''), '--port', '0']],
  ])('%s', async (_, args) => {
    const { code, out, err } = await runBuilt(args);
    expect(code).not.toBe(0);
    expect(err).not.toBe('');
    expectHarmless(out + err);
  });

  test('verify of a file with words in each of its places', async () => {
    const saved = {
      result: { [WORDS]: WORDS, accountProof: { key: WORDS } },
      address: WORDS,
      scheme: WORDS,
      stateRoot: WORDS,
    };
    for (const content of [saved, { ...saved, address: SOMEBODY, storageKeys: [], stateRoot: ROOT, scheme: 'mimc' }]) {
      const { code, out, err } = await runBuilt(['verify', '-'], JSON.stringify(content));
      expect(code).not.toBe(0);
      expectHarmless(out + err);
    }
  });
});

test('nothing but its three functions prints', async () => {
  const folder = new URL('../../src/hosts/cli/', import.meta.url);
  const files = await readdir(folder);
  expect(files).toContain('lines.ts');
  for (const file of files.filter((name) => name !== 'lines.ts')) {
    const text = await readFile(new URL(file, folder), 'utf8');
    expect(text, file).not.toMatch(/console\.|std(?:out|err)\.write|process\.emitWarning/);
  }
});
