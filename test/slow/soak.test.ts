import { expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { eventually } from '../support/eventually.js';
import { signTransaction, transferCalldata } from '../support/sign.js';
import { Connection, held, type Memory, megabytes, startChild } from './soak-child.js';

/* Slow because of its 5 000 transactions, twice, against a server of its own: memory has to stay within bounds. */

const TRANSACTIONS = 5_000;
const FIRST = 500;
const CONNECTIONS = 8;
/** What memory may grow by for one transaction, bytes: a devnet in memory keeps its block, receipt and state changes. */
const KEPT = 4096;

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

const MODES = [
  ['a block for each second', { intervalSeconds: 1 }],
  ['a block for each transaction', 'auto'],
] as const;

test.each(MODES)(
  `${TRANSACTIONS} transactions over ${CONNECTIONS} connections, %s: bounded memory`,
  async (_, mining) => {
    const child = await startChild({ kind: 'devnet', mining });
    const connections = Array.from({ length: CONNECTIONS }, () => new Connection(child.port));
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
      const early = await child.measure();
      const started = performance.now();
      const rest = queues.reduce((sum, queue) => sum + queue.length, 0);
      await send(TRANSACTIONS);
      const seconds = (performance.now() - started) / 1000;
      const late = await child.measure();
      const tell = (when: string, memory: Memory) =>
        console.log(`${when}: ${megabytes(held(memory))} after collection, resident ${megabytes(memory.rss)}`);
      tell(`after ${TRANSACTIONS - rest} transactions`, early);
      tell(`after ${TRANSACTIONS} transactions`, late);
      const kept = (held(late) - held(early)) / rest;
      console.log(`${kept.toFixed(0)} bytes more for each transaction, at most ${KEPT}`);
      console.log(`${(rest / seconds).toFixed(0)} transactions per second`);
      const head = Number(await connections[0]!.ask('eth_blockNumber'));
      const sent = await Promise.all(
        connections.map((_, i) => connections[0]!.ask('eth_getTransactionCount', DEV_ACCOUNTS[i]!.address, 'latest')),
      );
      expect(sent.reduce((sum: number, count) => sum + Number(count), 0)).toBe(TRANSACTIONS);
      expect(head).toBeGreaterThan(0);
      expect(kept).toBeLessThan(KEPT);
      expect(await child.stop()).toEqual([]);
    } finally {
      for (const connection of connections) connection.close();
      child.kill();
    }
  },
);
