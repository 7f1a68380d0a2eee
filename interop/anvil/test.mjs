// A light node and a fork over anvil 1.7.1.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { privateKeyToAccount } from 'viem/accounts';
import { check, fault, freePort, hex, main, skip, startClient, until } from '../lib.mjs';
import { accountsOf, followed, light, NOBODY, overClient, profileAt, RICH } from '../over-client.mjs';

const NAME = 'anvil 1.7.1';
const network = profileAt('prague', { name: 'anvil', chainId: 31_337 });
const anvil = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil');

async function startAnvil(...options) {
  const port = await freePort();
  const args = ['--port', String(port), '--silent', '--hardfork', 'prague', ...options];
  return startClient(anvil, args, `http://127.0.0.1:${port}`);
}

main(async () => {
  const client = await startAnvil();
  await client.ask('anvil_setBlockTimestampInterval', 1);
  await check(`${NAME}: it is this version`, async () =>
    assert.match(await client.ask('web3_clientVersion'), /anvil\/v1\.7\.1/),
  );
  const accounts = accountsOf(privateKeyToAccount);
  const form = ['blobGasPrice', 'blockTimestamp'];
  const block = ['size', 'totalDifficulty'];
  const scene = await overClient(client, {
    name: NAME,
    network,
    types: [0, 1, 2, 4],
    accounts,
    fullWords: true,
    leftOut: {
      eth_getTransactionReceipt: form,
      eth_getBlockReceipts: form,
      eth_getBlockByNumber: block,
      eth_getBlockByHash: block,
      debug_traceTransaction: ['gas'],
    },
  });
  const ask = scene?.light.ask;
  await fault(NAME, 'the size of a block is one byte short', async () => {
    const [ours, theirs] = [
      await ask('eth_getBlockByNumber', '0x1', false),
      await client.ask('eth_getBlockByNumber', '0x1', false),
    ];
    assert.equal(Number(ours.size), Number(theirs.size) + 1);
  });
  await fault(NAME, 'callTracer has the gas of a transaction without its intrinsic gas', async () => {
    const { hash } = scene.made[1];
    const [ours, theirs] = await Promise.all(
      [ask, client.ask].map((one) => one('debug_traceTransaction', hash, { tracer: 'callTracer' })),
    );
    const { gas } = await client.ask('eth_getTransactionByHash', hash);
    assert.equal(ours.gas, gas);
    assert.equal(Number(theirs.gas), Number(gas) - 21_000);
  });
  await fault(
    NAME,
    'a slot that was cleared stays as a leaf of value zero; a light node reads zero from it',
    async () => {
      const proof = await client.ask('eth_getProof', scene.contract, [`0x${'1'.padStart(64, '0')}`], 'latest');
      assert.match(proof.storageProof[0].proof.at(-1), /80$/);
      assert.equal(BigInt(await ask('eth_getStorageAt', scene.contract, '0x1', 'latest')), 0n);
    },
  );
  await fault(NAME, 'the state root of genesis is that of the empty trie: a proof there is refused', async () => {
    const { stateRoot } = await client.ask('eth_getBlockByNumber', '0x0', false);
    assert.equal(stateRoot, '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421');
    await assert.rejects(ask('eth_getBalance', RICH, '0x0'), /NODE_HASH_MISMATCH/);
  });
  await reorgs();
  await sharedSeconds();
});

/** A chain above 64 blocks goes back; its light node follows. */
async function reorgs() {
  for (const [what, keep, make, maxReorgDepth] of [
    ['3 of 100 blocks go', 97, 0, 64],
    ['3 of 100 blocks go and 5 come', 97, 5, 64],
    ['60 of 100 blocks go and one comes', 40, 1, 64],
    ['all go', 0, 2, 128],
  ])
    await check(`${NAME}: evm_revert, ${what}`, async () => {
      const client = await startAnvil();
      await client.ask('anvil_setBlockTimestampInterval', 1);
      if (keep > 0) await client.ask('anvil_mine', hex(keep));
      const snapshot = await client.ask('evm_snapshot');
      await client.ask('anvil_mine', hex(100 - keep));
      const lit = await light(network, [client.url], { maxReorgDepth });
      const taken = [];
      lit.node.on('answer', ({ takenBack }) => takenBack && taken.push(takenBack));
      await followed(lit, client, RICH);
      await client.ask('evm_revert', snapshot);
      for (let at = 0; at < make; at++)
        await client.ask('eth_sendTransaction', { from: RICH, to: NOBODY, value: '0x5' });
      await until('they are mined', async () => Number(await client.ask('eth_blockNumber')) === keep + make);
      await followed(lit, client, NOBODY);
      assert.equal(taken.length, 1);
      assert.equal(taken[0].from.number, 100);
      await client.stop();
    });
}

/** Without flags several blocks share one second. */
async function sharedSeconds() {
  const client = await startAnvil();
  for (let at = 0; at < 10; at++) await client.ask('evm_mine');
  const readAll = async (profile) => {
    const { ask } = await light(profile, [client.url]);
    for (const number of ['latest', '0x1', '0x5']) await ask('eth_getBlockByNumber', number, false);
  };
  await fault(NAME, 'without flags blocks share a second; a light node refuses them', async () => {
    const blocks = await Promise.all(
      Array.from({ length: 11 }, (_, n) => client.ask('eth_getBlockByNumber', hex(n), false)),
    );
    assert(new Set(blocks.map(({ timestamp }) => timestamp)).size < blocks.length);
    await assert.rejects(readAll(network), /TIMESTAMP_ORDER/);
  });
  const name = `${NAME}: blocks that share a second, where the profile allows it`;
  const allowing = { ...network, equalTimestamps: 'allowed' };
  const unknown = await light(allowing, [client.url]).then(
    () => false,
    (error) => /equalTimestamps: is not an option/.test(error.message),
  );
  if (unknown) skip(name, 'this version has no member equalTimestamps');
  else await check(name, () => readAll(allowing));
}
