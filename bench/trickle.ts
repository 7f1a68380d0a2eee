import { type ChildProcess, fork } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import { serveMock } from '../test/support/mock-chain.js';
import { type BenchArea, buildLibrary, type Figure } from './area.js';
import type { TrickleMemory } from './processes/trickle-server.js';

/** Old space of the servers' process, MB. */
const HEAP_MB = 700;
const CLIENTS = 8;
const BODY_BYTES = 5_000_000;
/** Parts of a request that is answered. */
const VALID_PARTS = 150_000;
/** What an endpoint puts before each answer, one byte at a time. */
const PADDING_BYTES = 200_000;
const PROBE_MS = 20;
const SAMPLE_MS = 500;
const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
const BALANCE =
  '{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x00000000000000000000000000000000000000aa","latest"]}';
/** Where loopback has one address alone, all clients are one. */
const addressOf = (client: number) => (process.platform === 'linux' ? `127.0.0.${2 + client}` : '127.0.0.1');

/** Bytes as HTTP chunks of one byte. */
function chunked(bytes: Uint8Array): Buffer {
  const chunks = Buffer.alloc(6 * bytes.length, '1\r\n?\r\n');
  for (let i = 0; i < bytes.length; i++) chunks[6 * i + 3] = bytes[i]!;
  return chunks;
}

/** Bytes as fragments of a WebSocket message, of one byte each, masked with zeros. @source RFC 6455 5.2 */
function fragmented(bytes: Uint8Array, isLast: boolean, isFirst: boolean): Buffer {
  const frames = Buffer.alloc(7 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    frames[7 * i] = (isFirst && i === 0 ? 1 : 0) + (isLast && i === bytes.length - 1 ? 0x80 : 0);
    frames[7 * i + 1] = 0x81;
    frames[7 * i + 6] = bytes[i]!;
  }
  return frames;
}

/**
 * Sends parts over a connection until the server answers or closes it.
 *
 * @returns what the server sent
 */
async function trickle(port: number, address: string, parts: Iterable<Buffer>): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: address });
  let said = '';
  socket.on('error', () => {});
  socket.on('data', (data: Buffer) => {
    said += data.toString('latin1');
  });
  // Not `once`, which rejects with the error of a connection that the server closed.
  const next = (event: string) => new Promise((resolve) => socket.once(event, resolve));
  const ended = next('close');
  for (const part of parts) {
    if (socket.destroyed || said.includes('jsonrpc')) break;
    if (!socket.write(part)) await Promise.race([next('drain'), ended]);
  }
  while (!socket.destroyed && !said.includes('jsonrpc')) await Promise.race([next('data'), ended]);
  socket.destroy();
  return said;
}

const HTTP_HEAD = Buffer.from('POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n');
const UPGRADE = Buffer.from(
  'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
);

function* body(length: number, pack: (bytes: Uint8Array, isLast: boolean, isFirst: boolean) => Buffer) {
  const spaces = new Uint8Array(10_000).fill(0x20);
  for (let sent = 0; sent < length; sent += spaces.length) yield pack(spaces, false, sent === 0);
  yield pack(Buffer.from(CALL), true, length === 0);
}

function* httpRequest(padding: number) {
  yield HTTP_HEAD;
  yield* body(padding, chunked);
  yield Buffer.from('0\r\n\r\n');
}

function* webSocketRequest(padding: number) {
  yield UPGRADE;
  yield* body(padding, fragmented);
}

/** Asks again and again as another client. @returns a function that ends it, with how many were asked and answered */
function probe(port: number, request: string, expected: RegExp): () => Promise<{ asked: number; answered: number }> {
  let isOver = false;
  const count = { asked: 0, answered: 0 };
  const running = (async () => {
    while (!isOver) {
      count.asked++;
      const text = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: request }).then(
        (response) => response.text(),
        String,
      );
      if (expected.test(text)) count.answered++;
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    }
  })();
  return async () => {
    isOver = true;
    await running;
    return count;
  };
}

/** @throws Error if the process ends before it says anything, as one without memory does */
async function told<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onEnd = () => reject(new Error(`the process of the servers ended; its heap was ${HEAP_MB} MB`));
    child.once('exit', onEnd);
    child.once('message', (message) => {
      child.off('exit', onEnd);
      resolve(message as Message);
    });
  });
}

async function memoryOf(child: ChildProcess): Promise<TrickleMemory> {
  child.send('measure');
  return told<TrickleMemory>(child);
}

/** An endpoint's answers in chunks of one byte. */
function byteByByte(response: ServerResponse, asked: unknown, replies: readonly object[]): boolean {
  const answer = JSON.stringify(Array.isArray(asked) ? replies : replies[0]);
  const { socket } = response;
  if (socket === null) return false;
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
  socket.write(chunked(Buffer.from(' '.repeat(PADDING_BYTES) + answer)));
  socket.end('0\r\n\r\n');
  return true;
}

export const trickling: BenchArea = {
  name: 'trickle',
  question: 'What do requests and answers in parts of one byte cost a server, and the others that ask it?',
  async run(): Promise<Figure[]> {
    await buildLibrary();
    const full = await createInlineNode();
    await full.request({ method: 'anvil_mine', params: ['0x8'] });
    const endpoints = await Promise.all([0, 1].map(() => serveMock(full, { intercept: byteByByte })));
    const script = fileURLToPath(new URL('./processes/trickle-server.js', import.meta.url));
    const child = fork(
      script,
      endpoints.map(({ url }) => url),
      {
        execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MB}`],
      },
    );
    try {
      const ports = await told<{ devnet: number; light: number }>(child);
      const warm = await trickle(ports.devnet, addressOf(0), httpRequest(0));
      if (!warm.includes('"0xe703"')) throw new Error(`the server answers ${warm}`);
      const before = await memoryOf(child);
      let mostInUse = 0;
      let isOver = false;
      const sampling = (async () => {
        while (!isOver) {
          mostInUse = Math.max(mostInUse, (await memoryOf(child)).inUse);
          await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
        }
      })();
      const probes = { devnet: probe(ports.devnet, CALL, /"0xe703"/), light: probe(ports.light, BALANCE, /"0x0"/) };
      const clients = Array.from({ length: CLIENTS }, (_, i) => addressOf(i));
      const valid: string[] = [];
      const sending = Promise.all([
        ...clients.map((address) => trickle(ports.devnet, address, httpRequest(BODY_BYTES))),
        ...clients.map((address) => trickle(ports.devnet, address, webSocketRequest(BODY_BYTES))),
        (async () => {
          for (let i = 0; i < 4; i++) {
            valid.push(await trickle(ports.devnet, addressOf(CLIENTS), httpRequest(VALID_PARTS)));
            valid.push(await trickle(ports.devnet, addressOf(CLIENTS), webSocketRequest(0)));
          }
        })(),
      ]);
      await Promise.race([sending, sampling]);
      const others = { devnet: await probes.devnet(), light: await probes.light() };
      isOver = true;
      await sampling;
      const { mostResident } = await memoryOf(child);
      const share = (name: string, asked: number, answered: number): Figure => ({
        name,
        value: answered / asked,
        unit: 'of 1',
        bar: { atLeast: 1 },
        note: `${answered} of ${asked}`,
      });
      return [
        {
          name: 'memory in use beyond that before',
          value: (mostInUse - before.inUse) / 1e6,
          unit: 'MB',
          bar: { atMost: 100 },
        },
        {
          name: 'resident memory beyond that before, garbage included',
          value: (mostResident - before.resident) / 1e6,
          unit: 'MB',
        },
        share('requests of others that were answered', others.devnet.asked, others.devnet.answered),
        share('reads of a light node, endpoints answer byte by byte', others.light.asked, others.light.answered),
        share(
          `requests in ${VALID_PARTS} chunks, or in fragments of one byte`,
          valid.length,
          valid.filter((said) => said.includes('"0xe703"')).length,
        ),
      ];
    } finally {
      child.kill();
      for (const endpoint of endpoints) await endpoint.close();
      await full.close();
    }
  },
};
