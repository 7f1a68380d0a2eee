import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Hardfork } from '../../src/networks/network.js';

export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Result of a request, or the error that it came to. */
export type RpcReply<T> =
  | { readonly result: T; readonly error?: undefined }
  | { readonly error: { readonly code: number; readonly message: string } };

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const STARTS_WITHIN_MS = 60_000;

/** Path of a program of Foundry (an optional dependency of test/clients); undefined where no package has it for this system. */
export function foundryPath(program: 'anvil' | 'cast' | 'forge'): string | undefined {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const system = `${process.platform}-${ARCHITECTURES[process.arch]}`;
  try {
    return createRequire(import.meta.url).resolve(`@foundry-rs/${program}-${system}/bin/${program}${suffix}`);
  } catch {
    return undefined;
  }
}

export const anvilPath = (): string | undefined => foundryPath('anvil');
export const castPath = (): string | undefined => foundryPath('cast');

/** Anvil in a process of its own: revm with JSON-RPC. */
export class Anvil {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /**
   * @param accounts - how many the program holds keys of
   * @throws Error when the program is missing or does not answer
   */
  static async start(
    hardfork: Hardfork,
    options: readonly string[] = [],
    { chainId = 1, accounts = 0 }: { readonly chainId?: number; readonly accounts?: number } = {},
  ): Promise<Anvil> {
    const path = anvilPath();
    if (path === undefined) throw new Error(`there is no anvil for ${process.platform} ${process.arch}`);
    const port = await freePort();
    const args = [
      '--port',
      String(port),
      '--hardfork',
      hardfork,
      '--chain-id',
      String(chainId),
      '--silent',
      ...options,
    ];
    const child = spawn(
      path,
      [...args, '--no-request-size-limit', '--disable-default-create2-deployer', '--accounts', String(accounts)],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    const anvil = new Anvil(child, `http://127.0.0.1:${port}`);
    const last = Date.now() + STARTS_WITHIN_MS;
    for (;;) {
      try {
        await anvil.ask('eth_chainId');
        return anvil;
      } catch (error) {
        if (child.exitCode !== null || Date.now() > last) throw error;
        await wait(20);
      }
    }
  }

  /** Requests in one batch. @returns replies in the order of the requests */
  async batch<T>(requests: readonly RpcRequest[]): Promise<RpcReply<T>[]> {
    const body = JSON.stringify(requests.map((request, id) => ({ jsonrpc: '2.0', id, ...request })));
    const response = await fetch(this.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const replies = (await response.json()) as (RpcReply<T> & { readonly id: number })[];
    return replies.sort((a, b) => a.id - b.id);
  }

  /** @throws Error for an error of the node */
  async ask<T>(method: string, ...params: unknown[]): Promise<T> {
    const [reply] = await this.batch<T>([{ method, params }]);
    if (reply?.error !== undefined) throw new Error(`${method}: ${reply.error.message}`);
    return reply!.result;
  }

  /** Processor time of the process so far, milliseconds. Linux only. */
  cpuMs(): number {
    const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    const msPerTick = 10;
    return (Number(user) + Number(system)) * msPerTick;
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** A port of loopback on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
