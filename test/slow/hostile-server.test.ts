import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { stranger } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';

/* Slow because each test asks a server of its own for gigabytes, or holds hundreds of connections open. Its memory has to stay
   within bounds, and other clients have to be answered. */

/** V8's heap may take no more: a server that holds an answer of 5 GB ends. */
const HEAP_MB = 384;
const CHAIN_ID = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
/** Only on Linux can a client have another address of loopback. */
const OTHER_CLIENT = process.platform === 'linux' ? '127.0.0.2' : undefined;

let server: ChildProcess;
let port: number;
const sockets: Socket[] = [];

async function told<Message>(): Promise<Message> {
  const [message] = (await once(server, 'message')) as [Message];
  return message;
}

beforeEach(async () => {
  const script = fileURLToPath(new URL('soak-server.mjs', import.meta.url));
  server = fork(script, [JSON.stringify({ kind: 'devnet' })], {
    execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MB}`],
  });
  ({ port } = await told<{ port: number }>());
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.send('stop');
  const [code] = (await once(server, 'exit')) as [number];
  expect(code).toBe(0);
});

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

/** Prints the server's memory. @returns the peak of what was resident, bytes */
async function peakOf(what: string): Promise<number> {
  const answer = told<{ heapUsed: number; external: number; peakRss: number }>();
  server.send('measure');
  const { heapUsed, external, peakRss } = await answer;
  console.log(`${what}: resident at most ${megabytes(peakRss)}, ${megabytes(heapUsed + external)} after collection`);
  return peakRss;
}

interface Answered {
  readonly status: number;
  readonly bytes: number;
  readonly body: string;
}

async function post(body: string, localAddress?: string): Promise<Answered> {
  const sent = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    agent: false,
    ...(localAddress && { localAddress }),
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const whole = Buffer.concat(chunks);
  return { status: response.statusCode!, bytes: whole.length, body: whole.toString() };
}

async function expectAnswered(localAddress?: string): Promise<void> {
  expect(JSON.parse((await post(CHAIN_ID, localAddress)).body)).toEqual({ jsonrpc: '2.0', id: 1, result: '0xe703' });
}

/** Opens connections that send this text and nothing more. */
async function hold(count: number, text: string | Buffer): Promise<void> {
  for (let i = 0; i < count; i++) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'connect');
    socket.write(text);
  }
}

test('a batch whose answers would have 5 GB', async () => {
  const to = stranger('c0');
  // Returns 2 500 000 bytes of its memory.
  const code = '0x63002625a06000f3';
  const call = { method: 'eth_call', params: [{ to }, 'latest', { [to]: { code } }] };
  const batch = Array.from({ length: 1024 }, (_, id) => ({ jsonrpc: '2.0', id, ...call }));
  const body = JSON.stringify(batch);
  const { status, bytes, body: text } = await post(body);
  const answers = JSON.parse(text) as { id: number; result?: string; error?: object }[];
  const given = answers.filter(({ result }) => result !== undefined);
  console.log(`a batch of ${body.length} bytes: ${given.length} of ${answers.length} answers fit`);
  console.log(`they have ${megabytes(bytes)}; all would have ${megabytes(1024 * 5_000_000)}`);
  expect(status).toBe(200);
  expect(answers.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
  for (const { result } of given) expect(result).toHaveLength(2 + 2 * 2_500_000);
  expect(given).toHaveLength(6);
  const error = { code: -32003, message: 'Response too large (more than 33554432 bytes)' };
  for (const answer of answers.slice(6)) expect(answer.error).toEqual(error);
  expect(bytes).toBeLessThan(33_554_432 + 1024 * 256);
  expect(await peakOf('a batch of 5 GB')).toBeLessThan(1e9);
  await expectAnswered();
});

test('JSON nested a million deep', async () => {
  const nested = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
  const error = { code: -32600, message: 'Invalid Request (nested deeper than 256 levels)' };
  const whole = { jsonrpc: '2.0', id: null, error };
  for (const body of [nested, `{"id":1,"method":"eth_chainId","params":${nested}}`, '{"a":'.repeat(1_000_000)]) {
    const answer = await post(body);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, whole]);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    await once(socket, 'open');
    socket.send(body);
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(String(data))).toEqual(whole);
    socket.terminate();
  }
  expect(await peakOf('JSON nested a million deep')).toBeLessThan(1e9);
  await expectAnswered();
});

test('1 500 connections that send nothing', async () => {
  await hold(1500, '');
  await expectAnswered();
  if (OTHER_CLIENT !== undefined) await expectAnswered(OTHER_CLIENT);
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
  await eventually(() => expect(open()).toBeLessThanOrEqual(256));
  console.log(`1500 connections that send nothing: ${open()} are open`);
  expect(await peakOf('1500 connections')).toBeLessThan(1e9);
});

test('300 bodies that stop before their end', async () => {
  const length = 5_000_000;
  const head = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${length}\r\n\r\n`;
  await hold(300, Buffer.concat([Buffer.from(head), Buffer.alloc(length - 1, 0x20)]));
  if (OTHER_CLIENT === undefined) console.log('a client of another address is left out: loopback has one here');
  else await expectAnswered(OTHER_CLIENT);
  const { status } = await post(CHAIN_ID);
  console.log(`300 slow bodies: a request of the same client gets status ${status}`);
  expect([200, 429]).toContain(status);
  expect(await peakOf('300 slow bodies')).toBeLessThan(1e9);
});
