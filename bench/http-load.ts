import { createConnection } from 'node:net';

/** What a load of requests over HTTP took. */
export interface LoadRun {
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
 * @param check - called with the body of each first answer of a connection
 */
export async function loadHttp(
  port: number,
  bodies: readonly string[],
  { connections = 32, forMs, check }: { connections?: number; forMs: number; check?: (body: string) => void },
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
        if (isFirst) {
          isFirst = false;
          if (!head.startsWith('HTTP/1.1 200') || received.length > whole) return reject(new Error(head));
          check?.(received.toString('utf8', headEnd + 4, whole));
        }
        received = Buffer.alloc(0);
        const now = performance.now();
        times.push(now - sentAt);
        if (now < end) return send();
        socket.removeAllListeners('close');
        socket.destroy();
        resolve();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  return { perSecond: times.length / seconds, p99: times[Math.floor(times.length * 0.99)]! };
}
