import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';
import { signTransaction, transferCalldata } from '../support/sign.js';
import { type Answer, Connection, held, type Memory, megabytes, type SoakChild, startChild } from './soak-child.js';

/*
 * Slow because of its time under load: 30 minutes, or PLUMBLINE_SOAK_MINUTES. A devnet and a light node over it, each in a
 * process of its own; their memory may not grow, and they have to close without a handle left.
 */

const MINUTES = Number(process.env.PLUMBLINE_SOAK_MINUTES ?? 30);
const SEED = Number(process.env.PLUMBLINE_SEED ?? Date.now() % 1_000_000);
const ROUNDS = 12;
/** The round whose end the last one is compared with: caches are full by then. */
const EARLY = 3;
const GROWTH = 1.3;
const CONNECTIONS = 3;
/**
 * Blocks in one round, whatever the load is: a devnet keeps its history, some 3 KB a block. Before the first round as many
 * blocks as the states that it holds for proofs.
 */
const BLOCKS = 25;
const BLOCKS_BEFORE = 150;

const RECEIVER = DEV_ACCOUNTS[9]!.address;
const FROM = DEV_ACCOUNTS[8]!.address;
const hex = (value: number): Hex => `0x${value.toString(16)}`;
const TRANSFER = { from: FROM, to: TEST_TOKEN, data: transferCalldata(RECEIVER, 1n) };

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Reads of all kinds, at blocks up to `head`. */
function reads(random: (bound: number) => number, head: number): Call[] {
  const block = hex(head - 10 - random(40));
  const address = DEV_ACCOUNTS[random(10)]!.address;
  return [
    { method: 'linea_estimateGas', params: [TRANSFER] },
    { method: 'eth_estimateGas', params: [{ from: FROM, to: RECEIVER, value: hex(random(1000)) }] },
    { method: 'linea_getProof', params: [random(2) === 0 ? TEST_TOKEN : address, [hex(random(8))], 'latest'] },
    { method: 'eth_getProof', params: [address, [], block] },
    { method: 'eth_getLogs', params: [{ fromBlock: block, toBlock: 'latest', address: TEST_TOKEN }] },
    { method: 'eth_call', params: [TRANSFER, 'latest'] },
    { method: 'eth_getBalance', params: [address, 'latest'] },
    { method: 'eth_getBlockByNumber', params: [block, true] },
    { method: 'eth_getBlockReceipts', params: [block] },
    { method: 'eth_feeHistory', params: ['0x5', 'latest', [50]] },
    { method: 'eth_createAccessList', params: [TRANSFER, 'latest'] },
    { method: 'no_such_method', params: [] },
  ];
}

/** Mixed load on one node, in rounds. */
class Load {
  readonly kinds = new Map<string, number>();
  readonly errors = new Map<string, number>();
  readonly failed = new Map<string, number>();
  private readonly random = seededRandom(SEED);
  private readonly connections: Connection[];
  private readonly nonces = new Map<number, number>();

  /** @param senders - dev accounts that send transactions through this node */
  constructor(
    private readonly port: number,
    private readonly senders: readonly number[],
    private readonly chainHead: () => number,
  ) {
    this.connections = Array.from({ length: CONNECTIONS }, () => new Connection(port));
  }

  /** Load on every connection until a moment of `performance.now`. */
  async round(end: number): Promise<void> {
    const loop = async (connection: Connection) => {
      while (performance.now() < end) await this.step(connection);
    };
    await Promise.all(this.connections.map(loop));
  }

  /** One transaction of each sender, to be in the next block. */
  async transfer(): Promise<void> {
    for (const sender of this.senders) {
      const nonce = this.nonces.get(sender) ?? 0;
      const price = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
      const to = nonce % 2 === 0 ? RECEIVER : TEST_TOKEN;
      const what = to === RECEIVER ? { value: 1n } : { data: transferCalldata(RECEIVER, 1n) };
      const raw = signTransaction(sender, { nonce, to, gasLimit: 100_000n, ...price, ...what });
      if (this.note('transfer', await this.connections[0]!.call('eth_sendRawTransaction', raw)))
        this.nonces.set(sender, nonce + 1);
    }
  }

  get repeated(): number {
    return this.connections.reduce((sum, { repeated }) => sum + repeated, 0);
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }

  private async step(connection: Connection): Promise<void> {
    const kind = this.random(20);
    const calls = reads(this.random, this.chainHead());
    const one = calls[this.random(calls.length)]!;
    if (kind < 12) this.note(one.method, await connection.call(one.method, ...one.params));
    else if (kind < 15) await this.batch(connection, calls);
    else if (kind < 17) await this.abort(connection, one, kind === 15);
    else if (kind === 17) await this.subscribe();
    else if (kind === 18) await this.filter(connection);
    else this.note('not JSON', (await connection.post('{"jsonrpc":')) as Answer);
  }

  private async batch(connection: Connection, calls: readonly Call[]): Promise<void> {
    const body = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    const answers = (await connection.post(JSON.stringify(body))) as Answer[];
    for (const answer of answers) this.note(`batch ${calls[Number(answer.id)]!.method}`, answer);
  }

  /** Breaks off in the middle of the body, or when the whole request is sent. */
  private async abort(connection: Connection, call: Call, midway: boolean): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
    const sent = connection.begin();
    // Not `once` of node:events, which rejects with the error of a connection that is broken off.
    const closed = new Promise((resolve) => sent.once('close', resolve));
    sent.on('error', () => {});
    if (midway) sent.setHeader('content-length', body.length).write(body.slice(0, 20), () => sent.destroy());
    else sent.end(body, () => sent.destroy());
    await closed;
    this.count(this.kinds, 'aborted');
  }

  /** A WebSocket with subscriptions; it asks, and goes with or without a word. */
  private async subscribe(): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.port}`);
    await once(socket, 'open');
    const answered = new Promise<Answer>((resolve) => {
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Answer;
        if (message.id === 'last') resolve(message);
      });
    });
    const ask = (id: unknown, method: string, ...params: unknown[]) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    ask(1, 'eth_subscribe', 'newHeads');
    ask(2, 'eth_subscribe', 'logs', { address: TEST_TOKEN });
    ask('last', 'eth_getBalance', RECEIVER, 'latest');
    this.note('subscription', await answered);
    const closed = once(socket, 'close');
    if (this.random(2) === 0) socket.close();
    else socket.terminate();
    await closed;
  }

  private async filter(connection: Connection): Promise<void> {
    const made = await connection.call('eth_newFilter', { address: TEST_TOKEN, fromBlock: 'latest' });
    if (!this.note('eth_newFilter', made)) return;
    this.note('eth_getFilterChanges', await connection.call('eth_getFilterChanges', made.result));
    this.note('eth_uninstallFilter', await connection.call('eth_uninstallFilter', made.result));
  }

  /** @returns whether it is a result */
  private note(kind: string, { error }: Answer): boolean {
    this.count(this.kinds, kind);
    if (error !== undefined) {
      this.count(this.errors, `${kind}: ${error.code} ${error.message}`);
      this.count(this.failed, kind);
    }
    return error === undefined;
  }

  private count(counts: Map<string, number>, name: string): void {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}

test(`a devnet and a light node under mixed load for ${MINUTES} minutes`, {
  timeout: 2 * MINUTES * 60_000 + 600_000,
}, async () => {
  console.log(`PLUMBLINE_SEED=${SEED}`);
  const children: SoakChild[] = [];
  const loads: Load[] = [];
  try {
    const dev = await startChild({ kind: 'devnet', mining: 'manual' });
    children.push(dev);
    const control = new Connection(dev.port);
    let head = BLOCKS_BEFORE;
    await control.ask('evm_mine', { blocks: BLOCKS_BEFORE });
    const url = `http://127.0.0.1:${dev.port}`;
    const light = await startChild({ kind: 'light', endpoints: [url], layerOne: [`${url}/l1`] });
    children.push(light);
    loads.push(new Load(dev.port, [0, 1], () => head), new Load(light.port, [2, 3], () => head));

    const measured: Memory[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const roundMs = (MINUTES * 60_000) / ROUNDS;
      const begin = performance.now();
      const working = Promise.all(loads.map((load) => load.round(begin + roundMs)));
      for (let block = 1; block <= BLOCKS; block++) {
        for (const load of loads) await load.transfer();
        await control.ask('evm_mine');
        head++;
        const left = begin + (block * roundMs) / BLOCKS - performance.now();
        if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
      }
      await working;
      measured.push(await Promise.all(children.map((child) => child.measure())));
      const text = measured.at(-1)!.map((memory) => `${megabytes(held(memory))} (resident ${megabytes(memory.rss)})`);
      console.log(`round ${round + 1} of ${ROUNDS}, block ${head}: devnet ${text[0]}, light node ${text[1]}`);
    }
    for (const [i, name] of ['devnet', 'light node'].entries()) {
      const { kinds, errors, failed } = loads[i]!;
      const requests = [...kinds.values()].reduce((sum, count) => sum + count, 0);
      const growth = held(measured.at(-1)![i]!) / held(measured[EARLY - 1]![i]!);
      console.log(
        `${name}: ${requests} requests (${loads[i]!.repeated} sent twice), factor ${growth.toFixed(3)}, at most ${GROWTH}`,
      );
      console.log(name, JSON.stringify([...errors]), JSON.stringify([...kinds]));
      // What is there to be answered is answered, but for blocks that a light node has yet to see.
      const mostlyFailed = [...kinds]
        .filter(([kind, count]) => (failed.get(kind) ?? 0) > count / 4)
        .map(([kind]) => kind);
      expect(mostlyFailed.sort()).toEqual(['batch no_such_method', 'no_such_method', 'not JSON']);
      expect(growth).toBeLessThan(GROWTH);
    }
    control.close();
    for (const load of loads) load.close();
    // The light node first: it has to end in order while its endpoint is there, and the devnet without its client.
    expect(await light.stop()).toEqual([]);
    expect(await dev.stop()).toEqual([]);
  } finally {
    for (const load of loads) load.close();
    for (const child of children) child.kill();
  }
});
