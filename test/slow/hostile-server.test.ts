import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { eventually } from '../support/eventually.js';
import { LARGE_BATCH, LARGE_FIT, NESTED, NESTED_ANSWER, TOO_LARGE } from '../support/hostile/heavy-requests.js';

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
  return { status: response.statusCode!, body: whole.toString() };
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

/** The answer to a text over a WebSocket of its own. */
async function overSocket(text: string): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { maxPayload: 2 ** 30 });
  await once(socket, 'open');
  socket.send(text);
  const [data] = (await once(socket, 'message')) as [Buffer];
  socket.terminate();
  return String(data);
}

test.each([
  ['HTTP', async (text: string) => (await post(text)).body],
  ['WebSocket', overSocket],
])('a batch whose answers would have 5 GB, over %s', async (way, send) => {
  const body = JSON.stringify(LARGE_BATCH);
  const text = await send(body);
  const answers = JSON.parse(text) as { id: number; result?: string; error?: object }[];
  const given = answers.filter(({ result }) => result !== undefined);
  console.log(`${way}: a batch of ${body.length} bytes: ${given.length} of ${answers.length} answers fit`);
  console.log(`they have ${megabytes(text.length)}; all would have ${megabytes(1024 * 5_000_000)}`);
  expect(answers.map(({ id }) => id)).toEqual(LARGE_BATCH.map(({ id }) => id));
  for (const { result } of given) expect(result).toHaveLength(2 + 2 * 2_500_000);
  expect(given).toHaveLength(LARGE_FIT);
  for (const { error } of answers.slice(LARGE_FIT)) expect(error).toEqual(TOO_LARGE);
  expect(text.length).toBeLessThan(33_554_432 + 1024 * 256);
  expect(await peakOf('a batch of 5 GB')).toBeLessThan(1e9);
  await expectAnswered();
});

test('JSON nested a million deep', async () => {
  for (const body of NESTED) {
    const answer = await post(body);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, NESTED_ANSWER]);
    expect(JSON.parse(await overSocket(body))).toEqual(NESTED_ANSWER);
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

test('1 500 WebSockets that send nothing', async () => {
  const head =
    'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\n' +
    'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  await hold(1500, head);
  await expectAnswered();
  if (OTHER_CLIENT !== undefined) await expectAnswered(OTHER_CLIENT);
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
  await eventually(() => expect(open()).toBeLessThanOrEqual(128));
  console.log(`1500 WebSockets that send nothing: ${open()} are open`);
  expect(await peakOf('1500 WebSockets')).toBeLessThan(1e9);
});

test('a batch that takes all filters', async () => {
  const filter = { jsonrpc: '2.0', method: 'eth_newBlockFilter' };
  const batch = Array.from({ length: 1024 }, (_, id) => ({ ...filter, id }));
  const answers = JSON.parse((await post(JSON.stringify(batch))).body) as { result?: string }[];
  const made = answers.filter(({ result }) => result !== undefined).length;
  console.log(`a batch of 1024 filters: ${made} are made`);
  expect(made).toBe(128);
  const one = JSON.stringify({ ...filter, id: 1 });
  expect(JSON.parse((await post(one)).body)).toMatchObject({ error: { code: -32005 } });
  if (OTHER_CLIENT === undefined) console.log('a client of another address is left out: loopback has one here');
  else expect(JSON.parse((await post(one, OTHER_CLIENT)).body)).toHaveProperty('result');
  expect(JSON.parse(await overSocket(one))).toHaveProperty('result');
});
