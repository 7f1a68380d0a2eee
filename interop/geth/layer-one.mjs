// geth 1.17.10 as the endpoint of a network that is its own layer 1, without its consensus: a node that keeps the states of 128 blocks, is
// stopped and started, and goes back.
import assert from 'node:assert/strict';
import { ethereum } from 'plumbline-l2';
import { privateKeyToAccount } from 'viem/accounts';
import { check, hex } from '../lib.mjs';
import { accountsOf, assertSame, followed, light, NOBODY, RICH } from '../over-client.mjs';

const NAME = 'geth 1.17.10 as layer 1';
const BLOCKS = 200;
/** Blocks whose states geth has in memory. @source go-ethereum@v1.17.10 core/blockchain.go, state.TriesInMemory */
const KEPT = 128;
const VALUE = 1_000n;

/** @param like - profile of the same chain, whose forks it has */
export async function asLayerOne(startGeth, { chainId, forks }) {
  const client = await startGeth([], 'prague', { keeps: 'full' });
  const { checkpoint: _, ...rest } = ethereum;
  const network = { ...rest, name: 'geth', chainId, forks, blockGasLimit: 30_000_000n };
  const lit = await light(network, [client.url], { headMaxAgeMs: 0 });
  const [sender] = accountsOf(privateKeyToAccount);
  let nonce = 0;
  const send = async () => {
    const fees = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
    const raw = await sender.signTransaction({
      ...{ type: 'eip1559', chainId, nonce: nonce++, to: NOBODY, value: VALUE, gas: 21_000n, ...fees },
    });
    return lit.ask('eth_sendRawTransaction', raw);
  };
  const same = async (what, ...asked) => {
    const [ours, theirs] = await Promise.all([lit, client].map(({ ask }) => ask(...asked)));
    assertSame(ours, theirs, [], what);
    return ours;
  };
  await check(`${NAME}: transfers are sent, and ${BLOCKS} blocks followed`, async () => {
    for (let at = 1; at <= BLOCKS; at++) {
      if (at % 20 === 0) await send();
      await client.mine();
    }
    await followed(lit, client, RICH);
    assert.equal(BigInt(await lit.ask('eth_getBalance', NOBODY, 'latest')), (VALUE * BigInt(BLOCKS)) / 20n);
  });
  await check(`${NAME}: blocks, receipts, logs, balances and calls are those of geth`, async () => {
    for (const number of [1, 20, 100, BLOCKS - 1, BLOCKS]) {
      await same(`block ${number}`, 'eth_getBlockByNumber', hex(number), true);
      await same(`receipts of ${number}`, 'eth_getBlockReceipts', hex(number));
    }
    const call = { from: RICH, to: NOBODY, value: '0x1' };
    for (const back of [0, 1, 60, KEPT - 8]) {
      const block = hex(BLOCKS - back);
      await same(`balance ${back} blocks back`, 'eth_getBalance', NOBODY, block);
      await same(`nonce ${back} blocks back`, 'eth_getTransactionCount', RICH, block);
      await same(`call ${back} blocks back`, 'eth_call', call, block);
      await same(`proof ${back} blocks back`, 'eth_getProof', NOBODY, [], block);
    }
    await same('estimate', 'eth_estimateGas', call);
    await same('logs', 'eth_getLogs', { fromBlock: hex(1), toBlock: hex(BLOCKS) });
    await same('chain id', 'eth_chainId');
  });
  await check(
    `${NAME}: a state that geth has dropped is an error with geth's reason, and never a wrong value`,
    async () => {
      for (const back of [KEPT + 10, KEPT + 40, BLOCKS - 1]) {
        const block = hex(BLOCKS - back);
        const theirs = await client.ask('eth_getProof', NOBODY, [], block).catch((error) => error);
        assert(theirs instanceof Error, `geth still has the state of ${back} blocks back`);
        await assert.rejects(lit.ask('eth_getBalance', NOBODY, block), (error) => {
          assert.match(error.message, /missing trie node|historical state|state .*not available/i);
          return true;
        });
      }
      // What its header proves is there.
      await same('an old block', 'eth_getBlockByNumber', hex(2), true);
    },
  );
  await check(`${NAME}: it is stopped and started, and the node goes on`, async () => {
    await client.stop();
    await assert.rejects(lit.ask('eth_getBalance', NOBODY, 'latest'), /no endpoint could be reached|refused/);
    await client.startAgain();
    await followed(lit, client, RICH);
    await send();
    await client.mine();
    await followed(lit, client, RICH);
    await same('the newest block', 'eth_getBlockByNumber', 'latest', true);
  });
  await check(`${NAME}: debug_setHead takes blocks back, and other ones come`, async () => {
    const reports = [];
    lit.node.on('answer', (report) => reports.push(report));
    const before = await lit.ask('eth_getBlockByNumber', 'latest', false);
    const to = Number(before.number) - 4;
    await client.ask('debug_setHead', hex(to));
    const parent = await client.ask('eth_getBlockByNumber', hex(to), false);
    await client.mine(parent.hash);
    // The transaction of the blocks that went is in it: geth had put it back into its pool.
    nonce = Number(await client.ask('eth_getTransactionCount', RICH, 'latest'));
    for (let at = 0; at < 4; at++) {
      await send();
      await client.mine();
    }
    await followed(lit, client, RICH);
    await same('the balance after it', 'eth_getBalance', NOBODY, 'latest');
    await same('a block that was replaced', 'eth_getBlockByNumber', hex(to + 2), true);
    assert(
      reports.some(({ takenBack }) => takenBack !== undefined),
      'the event says nothing of it',
    );
  });
  await check(`${NAME}: methods of a rollup are refused with what to use`, async () => {
    for (const method of ['linea_estimateGas', 'linea_getProof'])
      await assert.rejects(lit.ask(method, { from: RICH, to: NOBODY }), { code: 4200 });
  });
}
