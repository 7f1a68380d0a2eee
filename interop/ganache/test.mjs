// A light node and a fork over ganache 7.9.2.
import assert from 'node:assert/strict';
import { privateKeyToAccount } from 'viem/accounts';
import { check, fault, freePort, main, startClient } from '../lib.mjs';
import { accountsOf, followed, light, overClient, profile, RICH } from '../over-client.mjs';

const NAME = 'ganache 7.9.2';
const network = profile({
  name: 'ganache',
  chainId: 77_777,
  gasSearch: 'exact',
  forks: [{ hardfork: 'shanghai', block: 0, timestamp: 0 }],
});

/** A process of its own: ganache takes minutes of its thread otherwise. */
async function startGanache() {
  const port = await freePort();
  const options = {
    chain: { chainId: network.chainId, networkId: network.chainId, hardfork: 'shanghai', time: '2026-01-01T00:00:00Z' },
    miner: { timestampIncrement: 2 },
    wallet: { mnemonic: 'test test test test test test test test test test test junk' },
    logging: { quiet: true },
  };
  const program = `import ganache from 'ganache';
    const options = ${JSON.stringify(options)};
    options.chain.time = new Date(options.chain.time);
    await ganache.server(options).listen(${port}, '127.0.0.1');`;
  const args = ['--input-type=module', '--eval', program];
  return startClient(process.execPath, args, `http://127.0.0.1:${port}`, { cwd: import.meta.dirname });
}

main(async () => {
  const client = await startGanache();
  await check(`${NAME}: it is this version`, async () =>
    assert.match(await client.ask('web3_clientVersion'), /Ganache\/v7\.9\.2/),
  );
  const accounts = accountsOf(privateKeyToAccount);
  const scene = await overClient(client, {
    name: NAME,
    network,
    types: [0, 1, 2],
    accounts,
    history: 1,
    failedRefused: /RECEIPTS_ROOT_MISMATCH/,
    // It has no blockTimestamp, and no chainId of a type 0; totalDifficulty is of its own.
    leftOut: { all: ['blockTimestamp', 'chainId', 'totalDifficulty'] },
    lacks: {
      eth_createAccessList: 'ganache does not have the method',
      eth_getBlockReceipts: 'ganache does not have the method',
      debug_traceTransaction: 'ganache has no callTracer',
    },
  });
  await fault(NAME, 'a method that is missing is -32700', async () => {
    const expected = { code: -32700, message: /does not exist\/is not available/ };
    await assert.rejects(client.ask('eth_getBlockReceipts', '0x1'), expected);
  });
  await check(`${NAME}: receipts of a block come one by one, with the root of its header`, async () => {
    const [ours, theirs] = await Promise.all([
      scene.light.ask('eth_getBlockReceipts', '0x3'),
      client.ask('eth_getTransactionReceipt', scene.made[2].hash),
    ]);
    assert.deepEqual(
      ours.map(({ transactionHash, gasUsed }) => [transactionHash, gasUsed]),
      [[theirs.transactionHash, theirs.gasUsed]],
    );
  });
  await check(`${NAME}: callTracer of a light node has the sender and the gas of the receipt`, async () => {
    const { hash, receipt } = scene.made[2];
    const trace = await scene.light.ask('debug_traceTransaction', hash, { tracer: 'callTracer' });
    assert.equal(trace.from, receipt.from.toLowerCase());
    assert.equal(Number(trace.gasUsed), Number(receipt.gasUsed));
  });
  await check(`${NAME}: evm_revert takes back 3 of 80 blocks, and a light node follows`, async () => {
    while (Number(await client.ask('eth_blockNumber')) < 77) await client.ask('evm_mine');
    const snapshot = await client.ask('evm_snapshot');
    for (let at = 0; at < 3; at++) await client.ask('evm_mine');
    const lit = await light(network, [client.url]);
    await followed(lit, client, RICH);
    await client.ask('evm_revert', snapshot);
    await followed(lit, client, RICH);
  });
});
