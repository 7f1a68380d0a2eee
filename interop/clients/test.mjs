// Clients that others wrote, over a devnet: HTTP, in the page (EIP-1193), and through a light node.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import linea from '@consensys/linea-sdk';
import { raw } from '@kohaku-eth/provider/raw';
import * as protocolKit from '@safe-global/protocol-kit';
import { connect, createConfig, getConnection, signMessage, http as wagmiHttp } from '@wagmi/core';
import { AbiCoder, Contract, getAddress, id, JsonRpcProvider, Wallet } from 'ethers';
import { announceProvider, devnet } from 'plumbline-l2';
import { createInlineNode } from 'plumbline-l2/inline';
import { serve } from 'plumbline-l2-cli';
import {
  concat,
  createPublicClient,
  createWalletClient,
  custom,
  defineChain,
  getContractAddress,
  http,
  recoverMessageAddress,
} from 'viem';
import { createBundlerClient, entryPoint08Address, toSimple7702SmartAccount } from 'viem/account-abstraction';
import { privateKeyToAccount } from 'viem/accounts';
import { linea as lineaChain } from 'viem/chains';
import { estimateGas as lineaEstimateGas } from 'viem/linea';
import { atEnd, check, fault, freePort, hex, main, skip, start, startClient, until } from '../lib.mjs';
import { KEY, light, NOBODY, RICH } from '../over-client.mjs';

const TOKEN = '0x7e57c0de00000000000000000000000000007e57';

main(async () => {
  const node = await createInlineNode();
  atEnd(() => node.close());
  const server = await serve(node, { port: 0 });
  atEnd(() => server.close());
  const url = `http://127.0.0.1:${server.port}`;
  const rpc = (method, ...params) => node.request({ method, params });
  for (let at = 0; at < 6; at++) await rpc('evm_mine');
  const lit = await light(devnet(), [url]);
  await viemLinea({ node, url, lit });
  await ethersOverL1({ node, url });
  await lineaSdkBridge({ node, url });
  await lineaSdk({ node, url });
  await wagmi({ node, url });
  await safe({ url });
  await metaMask({ node, url, lit });
  await metaMaskPreview({ node, url, lit });
  await kohaku({ node, lit });
  await kohakuExample();
  await altoBesideAnvil({ url, rpc, node });
  skip('provider quirks', '`npm run test:slow -- providers` runs the table of docs/errors.md');
});

/** viem's actions for Linea: the three places answer the same, and its fees are those of linea_estimateGas. */
async function viemLinea({ node, url, lit }) {
  const name = 'viem 2.57.20 viem/linea';
  const chain = defineChain({ ...lineaChain, id: node.info.chainId, rpcUrls: { default: { http: [url] } } });
  const account = privateKeyToAccount(KEY);
  const transports = [
    ['HTTP', http(url)],
    ['the page', custom(node)],
    ['a light node', custom(lit.node)],
  ];
  const clients = transports.map(([where, transport]) => [where, createPublicClient({ chain, transport })]);
  const calls = [
    ['a transfer', { account, to: NOBODY, value: 1n }],
    [
      'a token transfer',
      { account, to: TOKEN, data: `0xa9059cbb${NOBODY.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}` },
    ],
    ['calldata of 2000 bytes', { account, to: NOBODY, data: `0x${'a7'.repeat(2000)}` }],
  ];
  for (const [what, call] of calls)
    await check(`${name}: estimateGas of ${what}, the same in three places`, async () => {
      const answers = await Promise.all(clients.map(([, client]) => lineaEstimateGas(client, call)));
      const { gasLimit, baseFeePerGas, priorityFeePerGas } = answers[0];
      assert(gasLimit >= 21_000n && baseFeePerGas === 7n && priorityFeePerGas > 0n);
      for (const [at, answer] of answers.entries()) assert.deepEqual(answer, answers[0], clients[at][0]);
    });
  const [, call] = calls[1];
  const prepared = [];
  for (const [at, [where, client]] of clients.entries())
    await check(`${name}: estimateFeesPerGas and a prepared transaction by ${where}`, async () => {
      const fees = await client.estimateFeesPerGas({ request: call });
      const { baseFeePerGas, priorityFeePerGas } = await lineaEstimateGas(client, call);
      assert.equal(fees.maxPriorityFeePerGas, priorityFeePerGas);
      assert(fees.maxFeePerGas >= baseFeePerGas + priorityFeePerGas);
      // viem asks for eth_fillTransaction first, whose fees are those of eth_maxPriorityFeePerGas.
      const wallet = createWalletClient({ account, chain, transport: transports[at][1] });
      const { gas, maxFeePerGas, maxPriorityFeePerGas } = await wallet.prepareTransactionRequest(call);
      assert(maxPriorityFeePerGas >= priorityFeePerGas);
      prepared.push({ gas, maxFeePerGas, maxPriorityFeePerGas });
      assert.deepEqual(prepared.at(-1), prepared[0]);
    });
  await check(`${name}: a transaction with the fees of estimateGas is taken`, async () => {
    const [, client] = clients[0];
    const { gasLimit, baseFeePerGas, priorityFeePerGas } = await lineaEstimateGas(client, call);
    const wallet = createWalletClient({ account, chain, transport: http(url) });
    const fees = { maxFeePerGas: baseFeePerGas * 2n + priorityFeePerGas, maxPriorityFeePerGas: priorityFeePerGas };
    const hash = await wallet.sendTransaction({ ...call, gas: gasLimit, ...fees });
    assert.equal((await client.waitForTransactionReceipt({ hash })).status, 'success');
  });
}

/** ethers reads the simulated layer 1: a log needs a transaction hash of 32 bytes, and a receipt for it. */
async function ethersOverL1({ node, url }) {
  const name = 'ethers 6.17.0 over /l1';
  const provider = new JsonRpcProvider(`${url}/l1`, undefined, { cacheTimeout: -1 });
  atEnd(() => provider.destroy());
  const abi = [
    'event DataFinalizedV3(uint256 indexed start, uint256 indexed end, bytes32 indexed shnarf, bytes32 parent, bytes32 final)',
    'function currentL2BlockNumber() view returns (uint256)',
    'function stateRootHashes(uint256) view returns (bytes32)',
  ];
  const rollup = new Contract(node.info.rollupAddress, abi, provider);
  const events = await check(
    `${name}: queryFilter finds the finalizations, each with the root of its getter`,
    async () => {
      const found = await rollup.queryFilter('DataFinalizedV3', 0, 'latest');
      assert(found.length > 0);
      for (const { args, transactionHash } of found) {
        assert.match(transactionHash, /^0x[0-9a-f]{64}$/);
        assert.equal(await rollup.stateRootHashes(args.end), args.final);
      }
      assert.equal(await rollup.currentL2BlockNumber(), found.at(-1).args.end);
      return found;
    },
  );
  await check(`${name}: a log has its transaction, receipt and block`, async () => {
    const log = events.at(-1);
    const receipt = await log.getTransactionReceipt();
    assert.equal(receipt.hash, log.transactionHash);
    assert(receipt.logs.some(({ index }) => index === log.index));
    assert.equal((await log.getBlock()).hash, log.blockHash);
    assert.equal((await log.getTransaction()).hash, log.transactionHash);
  });
  await check(`${name}: the contract has code`, async () =>
    assert.notEqual(await provider.getCode(node.info.rollupAddress), '0x'),
  );
}

async function lineaSdk({ node, url }) {
  const name = '@consensys/linea-sdk 0.3.0';
  const service = '0x508ca82df566dcd1b0de8296e70a96332cd644ec';
  const sdk = new linea.LineaSDK({
    l1RpcUrl: `${url}/l1`,
    l2RpcUrl: url,
    network: 'localhost',
    mode: 'read-write',
    l1SignerPrivateKey: KEY,
    l2SignerPrivateKey: KEY,
    l2MessageTreeDepth: 5,
  });
  const contract = sdk.getL2Contract(service);
  await check(`${name}: nonce and block number`, async () => {
    assert.equal(
      await contract.getCurrentNonce(),
      Number(await node.request({ method: 'eth_getTransactionCount', params: [RICH, 'latest'] })),
    );
    assert.equal(await contract.getCurrentBlockNumber(), Number(await node.request({ method: 'eth_blockNumber' })));
  });
  await check(`${name}: fees of the newest block`, async () => {
    const { maxFeePerGas, maxPriorityFeePerGas } = await contract.get1559Fees();
    assert(maxFeePerGas >= maxPriorityFeePerGas && maxPriorityFeePerGas > 0n);
  });
  await check(`${name}: a message that is not there is null, searched from block 0`, async () =>
    assert.equal(await contract.getMessageByMessageHash(`0x${'ab'.repeat(32)}`), null),
  );
  await check(`${name}: a message is found by its hash, also above 5000 blocks`, async () => {
    const signature = id('MessageSent(address,address,uint256,uint256,uint256,bytes,bytes32)').slice(2);
    const runtime = messageCode(signature);
    await node.request({ method: 'anvil_setCode', params: [service, runtime] });
    const messageHash = `0x${'cd'.repeat(32)}`;
    const topicWords = [RICH, NOBODY].map((address) => address.slice(2).padStart(64, '0'));
    const data = AbiCoder.defaultAbiCoder().encode(['uint256', 'uint256', 'uint256', 'bytes'], [1n, 2n, 3n, '0x1234']);
    const input = `0x${topicWords.join('')}${messageHash.slice(2)}${data.slice(2)}`;
    const hash = await node.request({
      method: 'eth_sendTransaction',
      params: [{ from: RICH, to: service, data: input }],
    });
    const { status, logs } = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] });
    assert.deepEqual([status, logs.length], ['0x1', 1]);
    await node.request({ method: 'anvil_mine', params: [hex(5_100)] });
    const message = await contract.getMessageByMessageHash(messageHash);
    assert.deepEqual([message.fee, message.value, message.messageNonce, message.calldata], [1n, 2n, 3n, '0x1234']);
    assert.equal(message.destination.toLowerCase(), NOBODY);
    assert.equal((await contract.getTransactionReceiptByMessageHash(messageHash)).hash, hash);
  });
}

/** The SDK on the devnet's own contracts: it finds messages, their status and proof, and claims on both layers. */
async function lineaSdkBridge({ node, url }) {
  const name = "@consensys/linea-sdk 0.3.0 on the devnet's contracts";
  // The SDK compares addresses as text, and ethers gives them with their checksum.
  const [service, rollup] = [devnet().messageService, node.info.rollupAddress].map(getAddress);
  const options = { network: 'localhost', mode: 'read-write', l1SignerPrivateKey: KEY, l2SignerPrivateKey: KEY };
  const sdk = new linea.LineaSDK({ l1RpcUrl: `${url}/l1`, l2RpcUrl: url, ...options, l2MessageTreeDepth: 5 });
  const [l1, l2] = [sdk.getL1Contract(rollup, service), sdk.getL2Contract(service)];
  const send = `0x9f3ce55a${[NOBODY, '0x0', '0x60', '0x0'].map((word) => word.slice(2).padStart(64, '0')).join('')}`;
  const sentBy = async (ask, to) => {
    const hash = await ask('eth_sendTransaction', [{ from: RICH, to, value: '0x7', data: send }]);
    const { logs, status } = await ask('eth_getTransactionReceipt', [hash]);
    assert.equal(status, '0x1');
    return logs[0].topics[3];
  };
  const ask = (method, params) => node.request({ method, params });
  const askL1 = (method, params) => node.l1.request({ method, params });
  const hash = await sentBy(ask, service);
  await check(`${name}: a message that is not final`, async () => {
    assert.equal(await l1.getMessageStatusUsingMerkleTree(hash), 'UNKNOWN');
    assert.equal((await l2.getMessageByMessageHash(hash)).value, 7n);
  });
  await node.request({ method: 'anvil_mine', params: ['0x2'] });
  // ethers answers the same request from its cache for a quarter of a second.
  const is = (layer, status) => until('its status', async () => (await layer()) === status);
  await is(() => l1.getMessageStatusUsingMerkleTree(hash), 'CLAIMABLE');
  const proof = await l1.getMessageProof(hash);
  const own = await node.prepareClaim(hash);
  await check(`${name}: it is claimable, with the proof that prepareClaim has`, async () => {
    assert.deepEqual(
      { proof: [...proof.proof], root: proof.root, leafIndex: proof.leafIndex },
      { proof: own.siblings, root: own.root, leafIndex: own.leafIndex },
    );
  });
  await check(`${name}: it is claimed on layer 1`, async () => {
    const message = await l2.getMessageByMessageHash(hash);
    const before = BigInt(await askL1('eth_getBalance', [NOBODY, 'latest']));
    const sent = await l1.claim(message);
    assert.equal((await sent.wait()).status, 1);
    assert.equal(BigInt(await askL1('eth_getBalance', [NOBODY, 'latest'])) - before, 7n);
    await is(() => l1.getMessageStatusUsingMerkleTree(hash), 'CLAIMED');
  });
  await check(`${name}: a deposit arrives, and is claimed on layer 2`, async () => {
    const deposit = await sentBy(askL1, rollup);
    await is(() => l2.getMessageStatus(deposit), 'CLAIMABLE');
    const message = await l1.getMessageByMessageHash(deposit);
    const sent = await l2.claim(message);
    assert.equal((await sent.wait()).status, 1);
    await is(() => l2.getMessageStatus(deposit), 'CLAIMED');
  });
}

/** Logs calldata[96..] under the event's signature and the first three words of the calldata. */
function messageCode(signature) {
  // CALLDATACOPY(0, 96, size - 96); topics from the last to the first, then LOG4(0, size - 96).
  return `0x6060360360605f376040356020355f357f${signature}606036035fa400`;
}

/** wagmi's core in Node: the node is the provider that an injected connector finds. */
async function wagmi({ node, url }) {
  const name = '@wagmi/core 3.6.5';
  const chain = defineChain({
    id: node.info.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  // What it uses of a page.
  globalThis.window = Object.assign(new EventTarget(), { location: { host: 'localhost' } });
  const config = createConfig({ chains: [chain], transports: { [chain.id]: wagmiHttp() }, storage: null });
  const stop = announceProvider(node);
  atEnd(() => stop());
  const connector = await check(
    `${name}: the node is found by EIP-6963, and not connected before connect()`,
    async () => {
      const found = await until('a connector', () => config.connectors.find(({ type }) => type === 'injected'));
      assert.equal(getConnection(config).status, 'disconnected');
      return found;
    },
  );
  await check(`${name}: it connects, and a message is signed by the account`, async () => {
    const { accounts } = await connect(config, { connector });
    assert.equal(accounts[0].toLowerCase(), RICH);
    const signature = await signMessage(config, { message: 'hello' });
    assert.equal((await recoverMessageAddress({ message: 'hello', signature })).toLowerCase(), RICH);
  });
}

/** Safe's kit with its eight contracts deployed from their build artifacts. */
async function safe({ url }) {
  const name = '@safe-global/protocol-kit 8.0.7';
  const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1 });
  atEnd(() => provider.destroy());
  const wallet = new Wallet(KEY, provider);
  const base = new URL('node_modules/@safe-global/safe-contracts/build/artifacts/contracts/', import.meta.url);
  const deploy = async (path) => {
    const { bytecode } = JSON.parse(readFileSync(new URL(`${path}.json`, base), 'utf8'));
    const transaction = await wallet.sendTransaction({ data: bytecode });
    const receipt = await transaction.wait();
    assert.equal(receipt.status, 1, path);
    return receipt.contractAddress;
  };
  const contracts = await check(`${name}: eight contracts of safe-contracts 1.4.1-2 are deployed`, async () => ({
    safeSingletonAddress: await deploy('Safe.sol/Safe'),
    safeProxyFactoryAddress: await deploy('proxies/SafeProxyFactory.sol/SafeProxyFactory'),
    multiSendAddress: await deploy('libraries/MultiSend.sol/MultiSend'),
    multiSendCallOnlyAddress: await deploy('libraries/MultiSendCallOnly.sol/MultiSendCallOnly'),
    fallbackHandlerAddress: await deploy('handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler'),
    signMessageLibAddress: await deploy('libraries/SignMessageLib.sol/SignMessageLib'),
    createCallAddress: await deploy('libraries/CreateCall.sol/CreateCall'),
    simulateTxAccessorAddress: await deploy('accessors/SimulateTxAccessor.sol/SimulateTxAccessor'),
  }));
  if (contracts === undefined) return;
  const { chainId } = await provider.getNetwork();
  const contractNetworks = { [chainId]: contracts };
  const Safe = protocolKit.default.default ?? protocolKit.default;
  const predictedSafe = {
    safeAccountConfig: { owners: [wallet.address], threshold: 1 },
    safeDeploymentConfig: { saltNonce: '7', safeVersion: '1.4.1' },
  };
  const kit = await check(`${name}: the predicted address is where it is deployed`, async () => {
    const planned = await Safe.init({ provider: url, signer: KEY, predictedSafe, contractNetworks });
    const address = await planned.getAddress();
    const deployment = await planned.createSafeDeploymentTransaction();
    await (await wallet.sendTransaction({ to: deployment.to, data: deployment.data, value: deployment.value })).wait();
    assert.notEqual(await provider.getCode(address), '0x');
    return Safe.init({ provider: url, signer: KEY, safeAddress: address, contractNetworks });
  });
  if (kit === undefined) return;
  const address = await kit.getAddress();
  await (await wallet.sendTransaction({ to: address, value: 10n ** 18n })).wait();
  const execute = async (transactions) => {
    const signed = await kit.signTransaction(await kit.createTransaction({ transactions }));
    const { hash } = await kit.executeTransaction(signed);
    await until('it is mined', () => provider.getTransactionReceipt(hash));
    return provider.getTransactionReceipt(hash);
  };
  await check(`${name}: two payments by multi-send`, async () => {
    const before = await provider.getBalance(NOBODY);
    const pay = (value) => ({ to: NOBODY, value, data: '0x' });
    assert.equal((await execute([pay('5'), pay('6')])).status, 1);
    assert.equal((await provider.getBalance(NOBODY)) - before, 11n);
  });
  await check(`${name}: safeTxGas is estimated`, async () => {
    const transactions = [
      { to: TOKEN, value: '0', data: `0x095ea7b3${NOBODY.slice(2).padStart(64, '0')}${'9'.padStart(64, '0')}` },
    ];
    const transaction = await kit.createTransaction({ transactions });
    assert(Number(await protocolKit.estimateSafeTxGas(kit, transaction)) > 20_000);
  });
  await check(`${name}: a transaction that fails is refused`, () =>
    assert.rejects(execute([{ to: NOBODY, value: (10n ** 19n).toString(), data: '0x' }])),
  );
}

/** What MetaMask's flow imports of packages whose versions are not published: two enumerations. */
const METAMASK_STUBS = `
  export const NetworkClientType = { Custom: 'custom', Infura: 'infura' };
  export const GAS_ESTIMATE_TYPES = { FEE_MARKET: 'fee-market', LEGACY: 'legacy', ETH_GASPRICE: 'eth_gasPrice', NONE: 'none' };`;

/** The flow by which MetaMask's extension chooses the fees of a transaction on Linea; of its package this file alone is loaded. */
async function metaMask({ node, url, lit }) {
  const name = 'MetaMask LineaGasFeeFlow 70.1.0';
  const stubs = `data:text/javascript,${encodeURIComponent(METAMASK_STUBS)}`;
  const hook = `export const resolve = (name, context, next) =>
    ['@metamask/network-controller', '@metamask/gas-fee-controller'].includes(name)
      ? { url: ${JSON.stringify(stubs)}, format: 'module', shortCircuit: true }
      : next(name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
  const file = 'node_modules/@metamask/transaction-controller/dist/gas-flows/LineaGasFeeFlow.js';
  const { LineaGasFeeFlow } = await import(new URL(file, import.meta.url).href);
  const flow = new LineaGasFeeFlow();
  const data = `0xa9059cbb${NOBODY.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
  const calls = [
    ['a payment', { from: RICH, to: NOBODY, value: '0x1' }],
    ['a token transfer', { from: RICH, to: TOKEN, value: '0x0', data }],
  ];
  /** The levels the flow gives, and what it asked of the provider. */
  const fees = async (ask, txParams) => {
    const asked = [];
    const provider = { request: (request) => asked.push(request) && ask(request) };
    const messenger = {
      call(action, id) {
        assert.deepEqual([action, id], ['NetworkController:getNetworkClientById', 'here']);
        return { provider, configuration: { type: 'custom', chainId: hex(node.info.chainId), rpcUrl: url } };
      },
    };
    const transactionMeta = { chainId: lineaId, networkClientId: 'here', txParams };
    const { estimates } = await flow.getGasFees({ messenger, transactionMeta });
    return { asked, estimates };
  };
  const lineaId = hex(lineaChain.id);
  await check(`${name}: it is the flow of Linea`, () => {
    assert(flow.matchesTransaction({ transactionMeta: { chainId: lineaId } }));
    assert(!flow.matchesTransaction({ transactionMeta: { chainId: '0x1' } }));
  });
  for (const [what, call] of calls)
    for (const [where, at] of [
      ['a devnet', node],
      ['a light node', lit.node],
    ])
      await check(`${name}: three levels for ${what}, by ${where}`, async () => {
        const { asked, estimates } = await fees((request) => at.request(request), call);
        const { data: input, ...others } = call;
        const sent = input === undefined ? others : { ...others, input };
        assert.deepEqual(asked, [{ method: 'linea_estimateGas', params: [sent] }]);
        const { baseFeePerGas, priorityFeePerGas } = await node.request(asked[0]);
        const level = (base, priority) => {
          const baseFee = Math.floor(Number(baseFeePerGas) * base);
          const priorityFee = Math.floor(Number(priorityFeePerGas) * priority);
          return { maxFeePerGas: hex(baseFee + priorityFee), maxPriorityFeePerGas: hex(priorityFee) };
        };
        const levels = { low: level(1, 1), medium: level(1.35, 1.05), high: level(1.7, 1.1) };
        assert.deepEqual(estimates, { type: 'fee-market', ...levels });
      });
  await check(`${name}: a transaction with the low fees is taken, and pays them`, async () => {
    const [, call] = calls[1];
    const { estimates } = await fees((request) => node.request(request), call);
    const gas = await node.request({ method: 'eth_estimateGas', params: [call] });
    const wallet = new Wallet(KEY, new JsonRpcProvider(url, undefined, { cacheTimeout: -1 }));
    atEnd(() => wallet.provider.destroy());
    const { from: _, ...transaction } = call;
    const sent = await wallet.sendTransaction({ ...transaction, gasLimit: gas, ...estimates.low });
    const { status, gasPrice } = await sent.wait();
    assert.deepEqual([status, gasPrice], [1, BigInt(estimates.low.maxFeePerGas)]);
  });
  await fault('@metamask/transaction-controller 70.1.0', 'above 2^26 wei the levels lose their premium', async () => {
    const answer = { baseFeePerGas: '0x7', priorityFeePerGas: hex(2 ** 26), gasLimit: '0x5208' };
    const { low, high } = (await fees(async () => answer, calls[0][1])).estimates;
    assert.equal(high.maxPriorityFeePerGas, low.maxPriorityFeePerGas);
  });
}

/** The preview of MetaMask's extension, which asks a server of its own for each unsigned transaction, by a node of the wallet's. */
async function metaMaskPreview({ node, url, lit }) {
  const name = 'MetaMask getBalanceChanges 70.1.0';
  const file = 'node_modules/@metamask/transaction-controller/dist/utils/balance-changes.js';
  const { getBalanceChanges } = await import(new URL(file, import.meta.url).href);
  const chainId = hex(node.info.chainId);
  const { fetch } = globalThis;
  const asked = [];
  // The list of networks is asked for at MetaMask's address even if the simulation is sent elsewhere.
  globalThis.fetch = async (to, ...rest) => {
    const { origin } = new URL(to);
    asked.push(origin);
    if (/^https:.*\.metamask\.io$/.test(origin))
      return new Response(JSON.stringify({ [Number(chainId)]: { network: 'here', confirmations: true } }));
    return fetch(to, ...rest);
  };
  atEnd(() => {
    globalThis.fetch = fetch;
  });
  const preview = (at, from, txParams) => {
    const messenger = {
      call: () => ({
        provider: { request: (one) => at.request(one) },
        configuration: { type: 'custom', chainId, rpcUrl: url },
      }),
    };
    const getSimulationConfig = async () => ({ newUrl: from });
    return getBalanceChanges({ chainId, messenger, networkClientId: 'here', getSimulationConfig, txParams });
  };
  const token = (to, amount) => `0xa9059cbb${to.slice(2).padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`;
  const call = { from: RICH.toLowerCase(), to: TOKEN, value: '0x0', data: token(NOBODY, 5), gas: '0x186a0' };
  const balance = async () =>
    BigInt(
      await node.request({
        method: 'eth_call',
        params: [{ to: TOKEN, data: `0x70a08231${RICH.slice(2).padStart(64, '0')}` }, 'latest'],
      }),
    );
  const served = await serve(lit.node, { port: 0 });
  atEnd(() => served.close());
  for (const [where, at, address] of [
    ['a devnet', node, url],
    ['a light node', lit.node, `http://127.0.0.1:${served.port}`],
  ])
    await check(`${name}: what a token transfer changes is what it does, by ${where}`, async () => {
      const { simulationData, gasUsed, simulationRevert } = await preview(at, address, call);
      assert.equal(simulationRevert, undefined);
      assert.equal(simulationData.error, undefined);
      const before = await balance();
      const hash = await node.request({ method: 'eth_sendTransaction', params: [call] });
      const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] });
      assert.equal(gasUsed, receipt.gasUsed);
      const after = await balance();
      assert.deepEqual(simulationData.tokenBalanceChanges, [
        {
          address: TOKEN.toLowerCase(),
          standard: 'erc20',
          id: undefined,
          previousBalance: hex(before),
          newBalance: hex(after),
          difference: '0x5',
          isDecrease: true,
        },
      ]);
      assert.equal(simulationData.nativeBalanceChange, undefined);
      await until('the light node has the block', async () => {
        const number = await node.request({ method: 'eth_blockNumber' });
        return (await lit.node.request({ method: 'eth_blockNumber' })) === number;
      });
    });
  await check(`${name}: a payment changes the balance by its value, without the gas`, async () => {
    const payment = { from: call.from, to: NOBODY, value: '0x7b', gas: '0x5208', maxFeePerGas: '0x3b9aca00' };
    const { simulationData } = await preview(node, url, payment);
    const { difference, isDecrease } = simulationData.nativeBalanceChange;
    assert.deepEqual([difference, isDecrease, simulationData.tokenBalanceChanges], ['0x7b', true, []]);
  });
  await check(`${name}: a revert is one, with its reason`, async () => {
    const poor = `0x${'9a'.repeat(20)}`;
    const { simulationData, simulationRevert } = await preview(node, url, { ...call, from: poor });
    assert.notEqual(simulationRevert, undefined);
    assert.match(simulationData.error.message, /revert/i);
  });
  await check(`${name}: no transaction was sent to anyone else`, () => {
    const others = asked.filter((origin) => !origin.startsWith('http://127.0.0.1') && !origin.endsWith('.metamask.io'));
    assert.deepEqual(others, []);
  });
}

/** Kohaku's provider over the node itself: an EIP-1193 provider is all it asks for. */
async function kohaku({ node, lit }) {
  const name = '@kohaku-eth/provider 0.1.0-alpha.7 raw(node)';
  const rpc = (method, ...params) => node.request({ method, params });
  const call = {
    from: RICH,
    to: TOKEN,
    input: `0xa9059cbb${NOBODY.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`,
  };
  const hash = await rpc('eth_sendTransaction', call);
  const receipt = await rpc('eth_getTransactionReceipt', hash);
  for (const [where, at] of [
    ['a devnet', node],
    ['a light node', lit.node],
  ]) {
    const provider = raw(at);
    await check(`${name}: chain id, block, balance and code, by ${where}`, async () => {
      assert.equal(await provider.getChainId(), BigInt(node.info.chainId));
      const number = BigInt(await rpc('eth_blockNumber'));
      const reached = async () => (await provider.getBlockNumber()) === number;
      await until('the newest block', reached);
      assert.equal(await provider.getBalance(RICH), BigInt(await rpc('eth_getBalance', RICH, 'latest')));
      const code = await provider.getCode(TOKEN);
      assert.deepEqual([code, await provider.getCode(NOBODY)], [await rpc('eth_getCode', TOKEN, 'latest'), '0x']);
      assert(code.length > 2);
    });
    await check(`${name}: logs and a receipt, by ${where}`, async () => {
      const block = BigInt(receipt.blockNumber);
      const logs = await provider.getLogs({ address: TOKEN, fromBlock: block, toBlock: block });
      const [{ address, topics, data }] = receipt.logs;
      assert.deepEqual(logs, [{ blockNumber: block, topics, data, address }]);
      const own = { blockNumber: block, status: 1n, logs, gasUsed: BigInt(receipt.gasUsed) };
      assert.deepEqual(await provider.getTransactionReceipt(hash), own);
      await provider.waitForTransaction(hash);
      assert.equal(await provider.getTransactionReceipt(`0x${'ab'.repeat(32)}`), null);
    });
    await check(`${name}: a call, its gas and the price, linea_estimateGas, by ${where}`, async () => {
      const balanceOf = {
        to: TOKEN,
        input: `0x70a08231${NOBODY.slice(2).padStart(64, '0')}`,
        block: receipt.blockNumber,
      };
      assert(BigInt(await provider.call(balanceOf)) > 0n);
      assert.equal(await provider.estimateGas(call), BigInt(await rpc('eth_estimateGas', call)));
      assert.equal(await provider.getGasPrice(), BigInt(await rpc('eth_gasPrice')));
      const estimate = await provider.request({ method: 'linea_estimateGas', params: [call] });
      assert.deepEqual(estimate, await rpc('linea_estimateGas', call));
    });
  }
}

/** What the example prints is what a devnet begins with, and what the transfer moves. */
async function kohakuExample() {
  const folder = fileURLToPath(new URL('../../examples/kohaku/', import.meta.url));
  const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  const own = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')).dependencies;
  // Packages are found from the file that imports them, so that a copy of it runs here.
  const copy = fileURLToPath(new URL('example-kohaku.mjs', import.meta.url));
  await check('examples/kohaku: runs, and says what a transfer does', async () => {
    assert.equal(dependencies['@kohaku-eth/provider'], own['@kohaku-eth/provider']);
    copyFileSync(`${folder}main.js`, copy);
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [copy]);
      assert.match(stdout, /^chain 59139\nbalance \d+ wei \(.+\)\n0x[0-9a-f]{40} gets 1000000000000000000 wei\n/);
    } finally {
      rmSync(copy, { force: true });
    }
  });
}

/** The contract at an address of its own on every chain, by which others are deployed with CREATE2. */
const DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
const DEPLOYER_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';
/** With this salt the EntryPoint 0.8 has the address it has everywhere. */
const ENTRY_POINT_SALT = '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9';
/** Accounts of the usual mnemonic: who runs the bundler, who pays for its contracts, and whose account becomes a smart one. */
const EXECUTOR_KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
const UTILITY_KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a';
const OWNER_KEY = '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6';

/** An account that is new on both nodes. */
const PAID = '0x00000000000000000000000000000000000000bb';

/** The same user operations by a bundler of each: the gas they take on the devnet is what it is on anvil. */
async function altoBesideAnvil({ url, rpc, node }) {
  const name = '@pimlico/alto 0.0.20';
  const ours = await alto({ url, ask: rpc }, name);
  let program;
  try {
    program = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil');
  } catch {
    return skip(`${name}: the gas of anvil 1.7.1`, 'no program of anvil for this machine');
  }
  const port = await freePort();
  const args = ['--port', port, '--silent', '--hardfork', 'prague', '--chain-id', node.info.chainId, '--base-fee', 7];
  const anvil = await startClient(program, args.map(String), `http://127.0.0.1:${port}`);
  const theirs = await alto(anvil, `${name} beside anvil 1.7.1`);
  await check(`${name}: the operations and the estimate take the gas of anvil 1.7.1`, () => {
    assert.equal(ours.length, 3);
    assert.deepEqual(ours, theirs);
  });
}

/** Pimlico's bundler beside the devnet, driven by viem: an account that delegates by EIP-7702, without a contract of its own. */
async function alto({ url, ask }, name) {
  const chain = defineChain({
    ...lineaChain,
    id: Number(await ask('eth_chainId')),
    rpcUrls: { default: { http: [url] } },
  });
  const client = createPublicClient({ chain, transport: http(url) });
  const wallet = createWalletClient({ account: privateKeyToAccount(KEY), chain, transport: http(url) });
  const send = async (transaction) => {
    const receipt = await client.waitForTransactionReceipt({ hash: await wallet.sendTransaction(transaction) });
    assert.equal(receipt.status, 'success');
    return receipt;
  };
  const artifacts = new URL('node_modules/@account-abstraction/contracts/artifacts/', import.meta.url);
  const bytecode = (contract) => JSON.parse(readFileSync(new URL(`${contract}.json`, artifacts), 'utf8')).bytecode;
  const implementation = await check(`${name}: EntryPoint 0.8 by CREATE2 is at its address`, async () => {
    await ask('anvil_setCode', DEPLOYER, DEPLOYER_CODE);
    await send({ to: DEPLOYER, data: concat([ENTRY_POINT_SALT, bytecode('EntryPoint')]) });
    assert((await client.getCode({ address: entryPoint08Address })).length > 40_000);
    const code = { salt: ENTRY_POINT_SALT, bytecode: bytecode('Simple7702Account') };
    await send({ to: DEPLOYER, data: concat([code.salt, code.bytecode]) });
    return getContractAddress({ opcode: 'CREATE2', from: DEPLOYER, ...code }).toLowerCase();
  });
  if (implementation === undefined) return;
  const owner = privateKeyToAccount(OWNER_KEY);
  const account = await toSimple7702SmartAccount({ client, owner, implementation });
  const bundler = await check(`${name}: it starts, and deploys what it simulates with`, async () => {
    const port = await freePort();
    const program = fileURLToPath(new URL('node_modules/@pimlico/alto/esm/cli/alto.js', import.meta.url));
    const options = {
      'rpc-url': url,
      port,
      entrypoints: entryPoint08Address,
      'executor-private-keys': EXECUTOR_KEY,
      'utility-private-key': UTILITY_KEY,
      'min-executor-balance': '0',
      'safe-mode': false,
      'log-level': 'warn',
    };
    const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
    start(process.execPath, [program, 'run', ...args]);
    const transport = http(`http://127.0.0.1:${port}`, { retryCount: 0 });
    const made = createBundlerClient({ account, client, transport, pollingInterval: 100 });
    assert.deepEqual(await until('alto answers', () => made.getSupportedEntryPoints()), [entryPoint08Address]);
    return made;
  });
  if (bundler === undefined) return;
  // All of it is given, so that two nodes are asked for the same.
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 10n };
  const pay = (key) => ({ calls: [5n, 6n].map((value) => ({ to: PAID, value })), nonce: key << 64n, ...fees });
  const gasOf = [];
  const operate = async (operation) => {
    const before = await client.getBalance({ address: PAID });
    const hash = await bundler.sendUserOperation(operation);
    const { success, receipt, sender } = await bundler.waitForUserOperationReceipt({ hash, timeout: 30_000 });
    assert(success && receipt.status === 'success');
    assert.deepEqual([sender, receipt.to.toLowerCase()], [owner.address, entryPoint08Address.toLowerCase()]);
    assert.equal((await client.getBalance({ address: PAID })) - before, 11n);
    gasOf.push(receipt.gasUsed);
    return client.getTransaction({ hash: receipt.transactionHash });
  };
  await check(`${name}: a user operation of two payments, whose account delegates by EIP-7702 in it`, async () => {
    const authorization = await owner.signAuthorization({
      chainId: chain.id,
      nonce: 0,
      contractAddress: implementation,
    });
    assert.equal((await operate({ ...pay(1n), authorization })).type, 'eip7702');
    assert.equal(await client.getCode({ address: owner.address }), `0xef0100${implementation.slice(2)}`);
  });
  await check(`${name}: a second one, of the account that delegates`, async () =>
    assert.equal((await operate(pay(2n))).type, 'eip1559'),
  );
  await check(`${name}: the gas of one is estimated, with what its verification takes`, async () => {
    const gas = await bundler.estimateUserOperationGas(pay(3n));
    assert(gas.callGasLimit > 9_000n && gas.verificationGasLimit > 20_000n && gas.preVerificationGas > 21_000n);
    gasOf.push(gas);
  });
  await check(`${name}: one that pays more than there is is refused with the reason`, () =>
    assert.rejects(bundler.sendUserOperation({ ...fees, calls: [{ to: PAID, value: 10n ** 24n }] }), /revert/i),
  );
  return gasOf;
}
