import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { TEST_TOKEN } from '../../src/chain/devnet/state/test-token.js';
import { eventually } from '../support/eventually.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

/* Slow because of its 5 000 transactions, twice, against a server of its own: memory has to stay within bounds. */

const TRANSACTIONS = 5_000;
const FIRST = 500;
const CONNECTIONS = 8;
/** What memory may grow to, as a multiple of what it was after the first transactions. */
const GROWTH = 1.5;

interface Memory {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
}

interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
}

async function told<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message];
  return message;
}

async function memoryOf(child: ChildProcess): Promise<Memory> {
  const answer = told<Memory>(child);
  child.send('measure');
  return answer;
}

/** One connection that stays open. */
class Connection {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly port: number) {}

  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    const sent = request({ port: this.port, host: '127.0.0.1', method: 'POST', agent: this.agent });
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const [response] = (await once(sent, 'response')) as [AsyncIterable<Uint8Array>];
    const chunks: Uint8Array[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const answer = JSON.parse(Buffer.concat(chunks).toString()) as Answer;
    expect(answer.error).toBeUndefined();
    return answer.result;
  }

  close(): void {
    this.agent.destroy();
  }
}

/** The transactions of one sender: ether and tokens by turns. */
function signed(sender: number, count: number): string[] {
  const receiver = DEV_ACCOUNTS[9]!.address;
  return Array.from({ length: count }, (_, nonce) => {
    const what =
      nonce % 2 === 0 ? { to: receiver, value: 1n } : { to: TEST_TOKEN, data: transferCalldata(receiver, 1n) };
    const price = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
    return signTransaction(sender, { nonce, gasLimit: 100_000n, ...price, ...what });
  });
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
const held = ({ heapUsed, external }: Memory) => heapUsed + external;

const MODES = [
  ['a block for each second', { intervalSeconds: 1 }],
  ['a block for each transaction', 'auto'],
] as const;

test.each(MODES)(
  `${TRANSACTIONS} transactions over ${CONNECTIONS} connections, %s: bounded memory`,
  async (_, mining) => {
    const script = fileURLToPath(new URL('soak-server.mjs', import.meta.url));
    const child = fork(script, [JSON.stringify(mining)], { execArgv: ['--expose-gc'] });
    const { port } = await told<{ port: number }>(child);
    const connections = Array.from({ length: CONNECTIONS }, () => new Connection(port));
    const queues = connections.map((_, sender) => signed(sender, TRANSACTIONS / CONNECTIONS));

    /** Sends the next transactions of every sender at once, then reads each receipt over the same connection. */
    const send = (count: number) =>
      Promise.all(
        connections.map(async (connection, sender) => {
          const hashes = [];
          for (const raw of queues[sender]!.splice(0, count))
            hashes.push(await connection.ask('eth_sendRawTransaction', raw));
          for (const hash of hashes) {
            const receipt = () => connection.ask('eth_getTransactionReceipt', hash);
            await eventually(async () => expect(await receipt()).toMatchObject({ status: '0x1' }));
          }
        }),
      );

    try {
      await send(Math.ceil(FIRST / CONNECTIONS));
      const early = await memoryOf(child);
      const started = performance.now();
      const rest = queues.reduce((sum, queue) => sum + queue.length, 0);
      await send(TRANSACTIONS);
      const seconds = (performance.now() - started) / 1000;
      const late = await memoryOf(child);
      const tell = (when: string, memory: Memory) =>
        console.log(`${when}: ${megabytes(held(memory))} after collection, resident ${megabytes(memory.rss)}`);
      tell(`after ${TRANSACTIONS - rest} transactions`, early);
      tell(`after ${TRANSACTIONS} transactions`, late);
      console.log(`factor ${(held(late) / held(early)).toFixed(2)}, at most ${GROWTH}`);
      console.log(`${(rest / seconds).toFixed(0)} transactions per second`);
      const head = Number(await connections[0]!.ask('eth_blockNumber'));
      const sent = await Promise.all(
        connections.map((_, i) => connections[0]!.ask('eth_getTransactionCount', DEV_ACCOUNTS[i]!.address, 'latest')),
      );
      expect(sent.reduce((sum: number, count) => sum + Number(count), 0)).toBe(TRANSACTIONS);
      expect(head).toBeGreaterThan(0);
      expect(held(late) / held(early)).toBeLessThan(GROWTH);
    } finally {
      for (const connection of connections) connection.close();
      child.send('stop');
      await once(child, 'exit');
    }
  },
);
