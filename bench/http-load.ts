import { once } from 'node:events';
import { createConnection } from 'node:net';
import { WebSocket } from 'ws';

/** What a load of requests over HTTP took. */
export interface LoadRun {
  readonly answers: number;
  readonly perSecond: number;
  /** Time of an answer, ms: one in a hundred takes longer. */
  readonly p99: number;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Keeps one request under way on each of several connections, and counts the answers. It reads no more of an answer than its length, so
 * that the server is what is measured.
 *
 * @param bodies - request bodies, in turns
 * @param options.perSecond - as many as are answered, if left out
 * @param options.check - called with the body of each first answer of a connection
 */
export async function loadHttp(
  port: number,
  bodies: readonly string[],
  {
    connections = 32,
    forMs,
    perSecond,
    check,
  }: { connections?: number; forMs: number; perSecond?: number; check?: (body: string) => void },
): Promise<LoadRun> {
  const requests = bodies.map((body) =>
    Buffer.from(
      `POST / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  );
  const times: number[] = [];
  let next = 0;
  const began = performance.now();
  const end = began + forMs;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
      let sentAt = 0;
      let isFirst = true;
      let received: Buffer = Buffer.alloc(0);
      const send = () => {
        sentAt = performance.now();
        socket.write(requests[next++ % requests.length]!);
      };
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the server closed a connection')));
      socket.on('data', (part: Buffer) => {
        received = received.length === 0 ? part : Buffer.concat([received, part]);
        const headEnd = received.indexOf(END_OF_HEAD);
        if (headEnd < 0) return;
        const head = received.toString('latin1', 0, headEnd);
        const length = Number(/content-length: *(\d+)/i.exec(head)?.[1]);
        const whole = headEnd + 4 + length;
        if (received.length < whole) return;
        if (!head.startsWith('HTTP/1.1 200') || received.length > whole) return reject(new Error(head));
        if (isFirst) {
          isFirst = false;
          check?.(received.toString('utf8', headEnd + 4, whole));
        }
        received = Buffer.alloc(0);
        const now = performance.now();
        times.push(now - sentAt);
        if (now < end) {
          const waitMs = perSecond === undefined ? 0 : began + (next * 1000) / perSecond - now;
          return waitMs < 1 ? send() : void setTimeout(send, waitMs);
        }
        socket.removeAllListeners('close');
        socket.destroy();
        resolve();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  return { answers: times.length, perSecond: times.length / seconds, p99: times[Math.floor(times.length * 0.99)]! };
}

/** As `loadHttp`, over WebSockets. */
export async function loadWebSocket(
  port: number,
  body: string,
  { connections = 32, forMs, check }: { connections?: number; forMs: number; check?: (body: string) => void },
): Promise<LoadRun> {
  const sockets = Array.from({ length: connections }, () => new WebSocket(`ws://127.0.0.1:${port}/`));
  await Promise.all(sockets.map((socket) => once(socket, 'open')));
  const times: number[] = [];
  const began = performance.now();
  const end = began + forMs;
  const one = (socket: WebSocket) =>
    new Promise<void>((resolve, reject) => {
      let sentAt = performance.now();
      let isFirst = true;
      socket.on('close', () => reject(new Error('the server closed a WebSocket')));
      socket.on('message', (data) => {
        if (isFirst) check?.(String(data));
        isFirst = false;
        const now = performance.now();
        times.push(now - sentAt);
        sentAt = now;
        if (now < end) return socket.send(body);
        socket.removeAllListeners('close');
        socket.terminate();
        resolve();
      });
      socket.send(body);
    });
  await Promise.all(sockets.map(one));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  return { answers: times.length, perSecond: times.length / seconds, p99: times[Math.floor(times.length * 0.99)]! };
}
