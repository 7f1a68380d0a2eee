// A light node and a fork over EthereumJS 0.10.5. Its blocks are made through its engine API, as a beacon chain would.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { engineMiner, testGenesis } from '../execution-genesis.mjs';
import { atEnd, check, endpoint, fault, freePort, hex, main, startClient, word } from '../lib.mjs';
import { accountsOf, followed, overClient, profileAt, RICH } from '../over-client.mjs';

const NAME = 'EthereumJS 0.10.5';
const network = profileAt('prague', { name: 'ethereumjs', chainId: 32_382 });

async function startEthereumJs() {
  const folder = mkdtempSync(join(tmpdir(), 'interop-ethereumjs-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const genesis = join(folder, 'genesis.json');
  writeFileSync(genesis, JSON.stringify(await testGenesis(network.chainId)));
  const [port, enginePort, peers] = [await freePort(), await freePort(), await freePort()];
  // dist/bin/cli.js is an empty placeholder.
  const cli = join(import.meta.dirname, 'node_modules/@ethereumjs/client/dist/esm/bin/cli.js');
  const options =
    `--gethGenesis ${genesis} --dataDir ${join(folder, 'data')} --rpc --rpcPort ${port} --rpcAddr 127.0.0.1
    --rpcEngine --rpcEnginePort ${enginePort} --rpcEngineAddr 127.0.0.1 --rpcEngineAuth=false --saveReceipts --port ${peers}
    --discV4=false --discDns=false --logFile=false --maxPeers 0 --minPeers 0 --isSingleNode`.split(/\s+/);
  const client = await startClient(process.execPath, [cli, ...options], `http://127.0.0.1:${port}`, { cwd: folder });
  return { ...client, engine: endpoint(`http://127.0.0.1:${enginePort}`) };
}

main(async () => {
  const client = await startEthereumJs();
  await check(`${NAME}: it is this version`, async () =>
    assert.match(await client.ask('web3_clientVersion'), /EthereumJS\/0\.10\.5/),
  );
  const accounts = accountsOf(privateKeyToAccount);
  const mine = engineMiner(client, client.engine);
  const scene = await overClient(client, {
    name: NAME,
    network,
    types: [0, 1, 2],
    accounts,
    mine,
    // Forms: it has no blockTimestamp; totalDifficulty is of its own. The two prices are faults, below.
    leftOut: { all: ['blockTimestamp', 'totalDifficulty', 'gasPrice', 'effectiveGasPrice'] },
    lacks: {
      overrides: 'EthereumJS does not read overrides (a fault, below)',
      refunds: 'EthereumJS counts the refund before it is earned (a fault, below)',
      eth_createAccessList: 'EthereumJS does not have the method',
      debug_traceTransaction: 'EthereumJS has no callTracer',
    },
  });
  const { contract, made, light: lit } = scene;
  const [, , , , typeTwo] = made;
  await fault(NAME, 'eth_getBlockReceipts by hash is null, by number it is right', async () => {
    const { blockHash, blockNumber } = typeTwo.receipt;
    assert.equal(await client.ask('eth_getBlockReceipts', blockHash), null);
    assert.equal((await client.ask('eth_getBlockReceipts', blockNumber)).length, 1);
  });
  await fault(NAME, 'a block as an object (EIP-1898) is refused', () =>
    assert.rejects(client.ask('eth_getBalance', RICH, { blockHash: typeTwo.receipt.blockHash }), { code: -32602 }),
  );
  await fault(NAME, 'gasPrice of a mined type 2 is the cap, effectiveGasPrice the tip', async () => {
    const theirs = await client.ask('eth_getTransactionByHash', typeTwo.hash);
    assert.equal(theirs.gasPrice, theirs.maxFeePerGas);
    assert.equal(typeTwo.receipt.effectiveGasPrice, theirs.maxPriorityFeePerGas);
    const { baseFeePerGas } = await client.ask('eth_getBlockByNumber', typeTwo.receipt.blockNumber, false);
    const paid = BigInt(baseFeePerGas) + BigInt(theirs.maxPriorityFeePerGas);
    assert.equal(BigInt((await lit.ask('eth_getTransactionByHash', typeTwo.hash)).gasPrice), paid);
    assert.equal(BigInt((await lit.ask('eth_getTransactionReceipt', typeTwo.hash)).effectiveGasPrice), paid);
  });
  await fault(NAME, 'an estimate of a call that reverts succeeds', async () => {
    const call = { from: RICH, to: contract, data: '0x01020304' };
    assert.match(await client.ask('eth_estimateGas', call), /^0x/);
    await assert.rejects(lit.ask('eth_estimateGas', call), { code: 3 });
  });
  const clearing = { from: RICH, to: contract, data: `0x${word(2)}${word(0)}` };
  await fault(NAME, 'an estimate takes a refund off the gas that a run needs', async () => {
    const gas = await client.ask('eth_estimateGas', clearing);
    assert(Number(gas) < Number(await lit.ask('eth_estimateGas', clearing)));
  });
  await fault(NAME, 'overrides of a call are not read', async () => {
    const state = { [contract]: { stateDiff: { [`0x${word(3)}`]: `0x${word(99)}` } } };
    const params = ['eth_call', { to: contract, data: `0x${word(3)}` }, 'latest', state];
    assert.equal(BigInt(await client.ask(...params)), 0n);
    assert.equal(BigInt(await lit.ask(...params)), 99n);
  });
  await check(`${NAME}: a light node follows 70 new blocks`, async () => {
    for (let at = 0; at < 70; at++) await mine();
    await followed(lit, client, RICH);
  });
  await check(`${NAME}: 3 of these blocks are replaced by one, by the engine API`, async () => {
    const height = Number(await client.ask('eth_blockNumber'));
    const { hash } = await client.ask('eth_getBlockByNumber', hex(height - 3), false);
    const replacing = await mine(hash);
    assert.equal((await client.ask('eth_getBlockByNumber', 'latest', false)).hash, replacing);
    await followed(lit, client, RICH);
  });
});
