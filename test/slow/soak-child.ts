import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { fileURLToPath } from 'node:url';

export interface Memory {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
}

/** Bytes in use after collection, without what the process keeps free for later. */
export const held = ({ heapUsed, external }: Memory): number => heapUsed + external;
export const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;

/** A process with a node of its own behind its server (soak-server.mjs). */
export interface SoakChild {
  readonly port: number;
  /** Memory after garbage collection. */
  measure(): Promise<Memory>;
  /** Closes server and node. @returns the handles that are left, once the process has ended of itself */
  stop(): Promise<readonly string[]>;
  /** For a test that fails: ends the process at once. */
  kill(): void;
}

async function received<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message];
  return message;
}

/** @param chain - of the node; a light one without its network, which is the default devnet's */
export async function startChild(chain: object): Promise<SoakChild> {
  const script = fileURLToPath(new URL('soak-server.mjs', import.meta.url));
  const child = fork(script, [JSON.stringify(chain)], { execArgv: ['--expose-gc'] });
  const { port } = await received<{ port: number }>(child);
  return {
    port,
    async measure() {
      const answer = received<Memory>(child);
      child.send('measure');
      return answer;
    },
    async stop() {
      const ended = once(child, 'exit');
      const answer = received<{ left: readonly string[] }>(child);
      child.send('stop');
      const { left } = await answer;
      await ended;
      return left;
    },
    kill: () => void (child.exitCode === null && child.kill()),
  };
}

export interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** One connection that stays open. */
export class Connection {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly port: number) {}

  /** Begins a request; the caller ends or destroys it. */
  begin(): ClientRequest {
    return request({ port: this.port, host: '127.0.0.1', method: 'POST', agent: this.agent });
  }

  /** Requests that were sent again, because the server had closed the idle connection in the meantime. */
  repeated = 0;

  /** Sends a body, and reads the answer as JSON; undefined where it is empty. */
  async post(body: string): Promise<unknown> {
    const sent = this.begin();
    sent.end(body);
    let response: IncomingMessage;
    try {
      [response] = (await once(sent, 'response')) as [IncomingMessage];
    } catch (error) {
      if (!sent.reusedSocket || (error as { code?: string }).code !== 'ECONNRESET') throw error;
      this.repeated++;
      return this.post(body);
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of response) chunks.push(chunk as Uint8Array);
    const text = Buffer.concat(chunks).toString();
    return text === '' ? undefined : JSON.parse(text);
  }

  async call(method: string, ...params: unknown[]): Promise<Answer> {
    return (await this.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))) as Answer;
  }

  /** The result. @throws Error with the answer's error */
  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    const { error, result } = await this.call(method, ...params);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  close(): void {
    this.agent.destroy();
  }
}
