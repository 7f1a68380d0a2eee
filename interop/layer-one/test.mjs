// A light node over a layer 1 that nobody here wrote: EthereumJS executes it, Lodestar's state transition is its consensus. The chain goes
// from Capella to Fulu and through two committee rotations; the rollup contract on it changes from state roots to block hashes.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { devnet, ethereum } from 'plumbline-l2';
import { createInlineNode } from 'plumbline-l2/inline';
import { verifyEvidence } from 'plumbline-l2/verify';
import { serve } from 'plumbline-l2-cli';
import solc from 'solc';
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  encodePacked,
  http,
  keccak256,
  parseAbi,
  zeroAddress,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { namehash } from 'viem/ens';
import { MemoryStore } from '../../build/modules/store/memory-store.js';
import { atEnd, check, freePort, hex, main, start, startClient, until, word } from '../lib.mjs';

const NAME = 'EthereumJS 0.10.5 and Lodestar 1.46.0';
const CHAIN_ID = 32_382;
const SECONDS_PER_SLOT = 2;
const FORKS = { deneb: 2, electra: 4, fulu: 6 };
/** The minimal preset: 8 slots, 8 epochs. */
const PERIOD_SECONDS = 64 * SECONDS_PER_SLOT;
/** The client takes about six seconds to start. */
const LEAD = 20;
const RICH = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

const genesisTime = Math.floor(Date.now() / 1000) + LEAD;
const timeOf = (epoch) => genesisTime + epoch * 8 * SECONDS_PER_SLOT;
const now = () => Date.now() / 1000;
const bytes = (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'));

/** Contracts of a source, by name. */
function compiled(file) {
  const content = readFileSync(new URL(file, import.meta.url), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { source: { content } },
    settings: {
      evmVersion: 'shanghai',
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  };
  return JSON.parse(solc.compile(JSON.stringify(input))).contracts.source;
}

const ALICE = `0x${'a1'.repeat(20)}`;
const REGISTRY = '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e';
const [RECORDS, WILDCARD, OFFCHAIN] = ['01', '02', '03'].map((end) => `0x${'e5'.repeat(19)}${end}`);

/** A name service in genesis: its code, and its slots as Solidity lays them out. alice.eth is ALICE, who is alice.eth. */
function nameService() {
  const { NameRegistry, NameRecords, NameWildcard, NameOffchain } = compiled('../../test/contracts/Names.sol');
  const at = (key, slot) => keccak256(encodePacked(['bytes32', 'bytes32'], [key, slot]));
  const [zero, one, coin] = [0n, 1n, 60n].map((value) => `0x${word(value)}`);
  const short = (data) => `0x${data.padEnd(62, '0')}${data.length.toString(16).padStart(2, '0')}`;
  const reverse = namehash(`${ALICE.slice(2)}.addr.reverse`);
  const resolvers = [
    [namehash('alice.eth'), RECORDS],
    [reverse, RECORDS],
    [namehash('wild.eth'), WILDCARD],
    [namehash('far.eth'), OFFCHAIN],
  ];
  const account = ({ evm }, storage = {}) => ({
    balance: '0x0',
    nonce: '0x1',
    code: `0x${evm.deployedBytecode.object}`,
    storage,
  });
  const slots = resolvers.map(([node, resolver]) => [at(node, zero), `0x${word(BigInt(resolver))}`]);
  return {
    [REGISTRY]: account(NameRegistry, Object.fromEntries(slots)),
    [RECORDS]: account(NameRecords, {
      [at(coin, at(namehash('alice.eth'), zero))]: short(ALICE.slice(2)),
      [at(reverse, one)]: short(Buffer.from('alice.eth').toString('hex')),
    }),
    [WILDCARD]: account(NameWildcard),
    [OFFCHAIN]: account(NameOffchain),
  };
}

/** A genesis file with the forks of the beacon chain. System contracts must be there before their fork, with nonce 1. */
function genesisFile(folder) {
  const code = JSON.parse(readFileSync(new URL('system-contracts.json', import.meta.url), 'utf8'));
  const zero = (length) => `0x${'00'.repeat(length)}`;
  const contracts = Object.entries(code).map(([address, its]) => [
    address,
    { balance: '0x0', nonce: '0x1', code: its },
  ]);
  const rich = privateKeyToAccount(RICH).address;
  const byBlock = 'homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london'.split(
    ' ',
  );
  const genesis = {
    config: {
      chainId: CHAIN_ID,
      ...Object.fromEntries(byBlock.map((name) => [`${name}Block`, 0])),
      terminalTotalDifficulty: 0,
      terminalTotalDifficultyPassed: true,
      depositContractAddress: '0x00000000219ab540356cBB839Cbe05303d7705Fa',
      shanghaiTime: 0,
      cancunTime: timeOf(FORKS.deneb),
      pragueTime: timeOf(FORKS.electra),
      blobSchedule: {
        cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 },
        prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 },
      },
    },
    ...{ nonce: '0x0', timestamp: '0x0', extraData: '0x', gasLimit: '0x1c9c380', difficulty: '0x0', number: '0x0' },
    ...{ mixHash: zero(32), coinbase: zero(20), parentHash: zero(32), gasUsed: '0x0', baseFeePerGas: '0x3b9aca00' },
    alloc: { ...Object.fromEntries([...contracts, [rich, { balance: '0x3635c9adc5dea000000000' }]]), ...nameService() },
  };
  const path = join(folder, 'genesis.json');
  writeFileSync(path, JSON.stringify(genesis));
  return path;
}

/** Passes requests on, or none, as a server does that is down. */
async function gate(target) {
  const state = { isOpen: true, seen: 0 };
  const server = createServer(async (request, response) => {
    state.seen++;
    if (!state.isOpen) return request.socket.destroy();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    const headers = { accept: request.headers.accept ?? '*/*', ...(body && { 'content-type': 'application/json' }) };
    try {
      const reply = await fetch(target + request.url, { method: request.method, headers, body });
      const type = reply.headers.get('content-type') ?? 'application/json';
      response.writeHead(reply.status, { 'content-type': type }).end(Buffer.from(await reply.arrayBuffer()));
    } catch {
      request.socket.destroy();
    }
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  atEnd(() => server.close());
  return Object.assign(state, { url: `http://127.0.0.1:${server.address().port}` });
}

async function startLayerOne() {
  const folder = mkdtempSync(join(tmpdir(), 'interop-layer-one-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const [port, enginePort, peers, rest] = [await freePort(), await freePort(), await freePort(), await freePort()];
  // dist/bin/cli.js is an empty placeholder.
  const cli = join(import.meta.dirname, 'node_modules/@ethereumjs/client/dist/esm/bin/cli.js');
  const options =
    `--gethGenesis ${genesisFile(folder)} --dataDir ${join(folder, 'data')} --rpc --rpcPort ${port} --rpcAddr 127.0.0.1
    --rpcEngine --rpcEnginePort ${enginePort} --rpcEngineAddr 127.0.0.1 --rpcEngineAuth=false --saveReceipts --port ${peers}
    --discV4=false --discDns=false --logFile=false --maxPeers 0 --minPeers 0 --isSingleNode`.split(/\s+/);
  const url = `http://127.0.0.1:${port}`;
  const client = await startClient(process.execPath, [cli, ...options], url, { cwd: folder });
  const beacon = join(import.meta.dirname, 'beacon-chain.mjs');
  const engine = `http://127.0.0.1:${enginePort}`;
  const program = start(
    process.execPath,
    [beacon, engine, String(rest), String(genesisTime), url, JSON.stringify(FORKS), String(SECONDS_PER_SLOT)],
    { cwd: import.meta.dirname, env: { ...process.env, LODESTAR_PRESET: 'minimal' } },
  );
  const restUrl = `http://127.0.0.1:${rest}`;
  await until('the beacon chain answers', async () => {
    if (program.child.exitCode !== null) throw new Error(`it ended: ${program.output()}`);
    return (await fetch(`${restUrl}/eth/v1/beacon/genesis`)).ok;
  });
  return { client, url, restUrl, program };
}

/** Deploys the rollup, and copies the finalizations of the devnet to it: state roots, or block hashes once `kind` says so. */
async function relay(layerOne, layerTwo) {
  const { abi, evm } = compiled('Rollup.sol').Rollup;
  const chain = defineChain({
    id: CHAIN_ID,
    name: 'layer 1',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [layerOne.url] } },
  });
  const transport = http(layerOne.url);
  const reader = createPublicClient({ chain, transport, pollingInterval: 500 });
  const wallet = createWalletClient({ account: privateKeyToAccount(RICH), chain, transport });
  // Fixed gas and fees: a client that estimates badly is no obstacle.
  const fees = { gas: 2_000_000n, maxFeePerGas: 5_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const hashes = [];
  const mined = async (sent) => {
    const hash = await sent;
    hashes.push(hash);
    return reader.waitForTransactionReceipt({ hash, timeout: 90_000 });
  };
  const simulated = (method, ...params) => layerTwo.node.l1.request({ method, params });
  const { address: ofDevnet } = devnet().rollup;
  const call = (data) => simulated('eth_call', { to: ofDevnet, data }, 'latest');
  const rootOf = (number) => call(`0x8be745d1${word(number)}`);
  const bytecode = `0x${evm.bytecode.object}`;
  const { contractAddress: address } = await mined(wallet.deployContract({ abi, bytecode, ...fees }));
  const write = (functionName, ...args) => mined(wallet.writeContract({ address, abi, functionName, args, ...fees }));
  await write('init', await rootOf(0n));
  const posted = { address, hashes, kind: 'stateRoot', last: { stateRoot: 0, blockHash: 0 }, isOver: false };
  const step = async () => {
    await layerTwo.node.request({ method: 'anvil_mine', params: ['0x2'] });
    const end = BigInt(await call('0x695378f5'));
    if (posted.kind === 'stateRoot') await write('finalize', end, await rootOf(end));
    else {
      const block = await layerTwo.node.request({ method: 'eth_getBlockByNumber', params: [hex(end), false] });
      await write('finalizeBlock', end, block.hash);
    }
    posted.last[posted.kind] = Number(end);
  };
  const run = async () => {
    while (!posted.isOver) {
      // A transaction that is lost between two blocks is sent again with the next finalization.
      await step().catch(() => {});
      await wait(3_000);
    }
  };
  atEnd(() => {
    posted.isOver = true;
  });
  run();
  return posted;
}

const blobs = (target, max, baseFeeUpdateFraction) => ({ target, max, baseFeeUpdateFraction });

/** A light node of a network that is its own layer 1. */
async function openOwn(network, layerOne, url) {
  const node = await createInlineNode({ chain: { kind: 'light', network, endpoints: [url], layerOne } });
  atEnd(() => node.close());
  const reports = [];
  node.on('answer', (report) => reports.push(report));
  return { node, reports, ask: (method, ...params) => node.request({ method, params }) };
}

/** The beacon chain as data, from what its server says. */
async function networkOf(restUrl) {
  const read = async (path) => (await (await fetch(restUrl + path)).json()).data;
  const [genesis, spec] = [await read('/eth/v1/beacon/genesis'), await read('/eth/v1/config/spec')];
  const forks = ['CAPELLA', 'DENEB', 'ELECTRA', 'FULU'].map((fork) => ({
    name: fork.toLowerCase(),
    epoch: Number(spec[`${fork}_FORK_EPOCH`]),
    version: spec[`${fork}_FORK_VERSION`],
  }));
  return {
    name: 'interop',
    preset: 'minimal',
    secondsPerSlot: SECONDS_PER_SLOT,
    genesisTime: Number(genesis.genesis_time),
    genesisValidatorsRoot: genesis.genesis_validators_root,
    forks,
    depositChainId: CHAIN_ID,
  };
}

main(async () => {
  const layerTwo = { node: await createInlineNode() };
  const server = await serve(layerTwo.node, { port: 0 });
  atEnd(() => layerTwo.node.close());
  atEnd(() => server.close());
  layerTwo.url = `http://127.0.0.1:${server.port}`;
  const layerOne = await startLayerOne();
  await check(`${NAME}: they are these versions`, async () =>
    assert.match(await layerOne.client.ask('web3_clientVersion'), /EthereumJS\/0\.10\.5/),
  );
  await wait(Math.max(0, genesisTime + 6 - now()) * 1000);
  const posted = await relay(layerOne, layerTwo);
  const [consensus, execution] = [await gate(layerOne.restUrl), await gate(layerOne.url)];
  const network = {
    ...devnet(),
    layerOne: await networkOf(layerOne.restUrl),
    rollup: { ...devnet().rollup, address: posted.address, blockHashesSlot: 456n },
  };
  const headers = async (id) => (await fetch(`${layerOne.restUrl}/eth/v1/beacon/headers/${id}`)).json();
  const checkpoint = await until(
    'a beacon block is final',
    async () => (await headers('finalized')).data?.root,
    120_000,
  );
  const openLight = async (more = {}, trusted = { checkpoint: { root: checkpoint } }, profile = network) => {
    const layer = { consensus: [consensus.url], execution: [execution.url], ...trusted };
    const chain = {
      kind: 'light',
      network: profile,
      endpoints: [layerTwo.url],
      layerOne: layer,
      finalityMaxAgeMs: 500,
    };
    const node = await createInlineNode({ chain, ...more });
    atEnd(() => node.close());
    const reports = [];
    node.on('answer', (report) => reports.push(report));
    return { node, reports, ask: (method, ...params) => node.request({ method, params }) };
  };
  // It outlives the node that closes it, as a database does.
  const store = new MemoryStore();
  store.close = async () => {};
  const light = await openLight({ store });

  // The chain itself as the network: its newest block as a sync committee attested it.
  const own = {
    ...ethereum,
    name: 'interop layer 1',
    chainId: CHAIN_ID,
    slotSeconds: SECONDS_PER_SLOT,
    forks: [
      { hardfork: 'paris', block: 0 },
      { hardfork: 'shanghai', timestamp: 0 },
      { hardfork: 'cancun', timestamp: timeOf(FORKS.deneb), blobs: blobs(3, 6, 3_338_477n) },
      { hardfork: 'prague', timestamp: timeOf(FORKS.electra), blobs: blobs(6, 9, 5_007_716n) },
    ],
    layerOne: network.layerOne,
    ens: { registry: REGISTRY },
  };
  const itself = await openOwn(own, { consensus: [consensus.url], checkpoint: { root: checkpoint } }, execution.url);
  const attestedNumber = async () => {
    const { data } = await (await fetch(`${layerOne.restUrl}/eth/v1/beacon/light_client/optimistic_update`)).json();
    return Number(data.attested_header.execution.block_number);
  };
  let highest = 0;
  const onItself = (method, ...params) => layerOne.client.ask(method, ...params);
  /** Reads the newest block of layer 1, at level attested, and compares it and what is in it with the client itself. */
  const attested = async () => {
    const { ask, reports } = itself;
    const before = await attestedNumber();
    const block = await ask('eth_getBlockByNumber', 'latest', false);
    assert.equal(reports.at(-1).level, 'attested');
    assert.equal(block.hash, (await onItself('eth_getBlockByNumber', block.number, false)).hash);
    // A head is used for the time of a slot.
    assert(Number(block.number) >= before - 1, `${block.number}, attested ${before}`);
    assert(Number(block.number) >= highest, `${block.number} after ${highest}`);
    highest = Number(block.number);
    const rich = privateKeyToAccount(RICH).address;
    assert.equal(await ask('eth_getBalance', rich, block.number), await onItself('eth_getBalance', rich, block.number));
    return block;
  };

  const layouts = new Set();
  let newest = 0;
  const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
  /** Reads what is final, at level settled, and compares it with layer 2 itself. @returns its number */
  const settled = async ({ ask, reports } = light) => {
    const block = await ask('eth_getBlockByNumber', 'finalized', false);
    assert.deepEqual(
      block,
      await layerTwo.node.request({ method: 'eth_getBlockByNumber', params: [block.number, false] }),
    );
    assert.equal(reports.at(-1).level, 'settled');
    assert.equal(
      await ask('eth_getBalance', account, block.number),
      await layerTwo.node.request({ method: 'eth_getBalance', params: [account, block.number] }),
    );
    assert(Number(block.number) >= newest, `${block.number} after ${newest}`);
    newest = Number(block.number);
    return newest;
  };
  await check(`${NAME}: the contract is in a final block, and finalized is read at level settled`, () =>
    until('the contract is final', () => settled(), 150_000),
  );
  await check('layer 1 itself: latest is attested, finalized is what consensus finalized', async () => {
    await attested();
    const { ask, reports } = itself;
    const block = await ask('eth_getBlockByNumber', 'finalized', false);
    assert.equal(reports.at(-1).level, 'settled');
    assert.equal(block.hash, (await onItself('eth_getBlockByNumber', block.number, false)).hash);
    const data = await until('there is a finality update', async () => {
      const answer = await fetch(`${layerOne.restUrl}/eth/v1/beacon/light_client/finality_update`);
      return (await answer.json()).data;
    });
    assert(Number(block.number) <= Number(data.finalized_header.execution.block_number));
  });
  await check('layer 1 itself: calls, logs, transactions and receipts are those of EthereumJS', async () => {
    const { number } = await attested();
    const { ask } = itself;
    const call = { to: posted.address, data: '0x695378f5' };
    assert.equal(await ask('eth_call', call, number), await onItself('eth_call', call, number));
    assert.equal(
      await ask('eth_getCode', posted.address, number),
      await onItself('eth_getCode', posted.address, number),
    );
    const filter = { address: posted.address, fromBlock: '0x0', toBlock: number };
    const [ours, theirs] = [await ask('eth_getLogs', filter), await onItself('eth_getLogs', filter)];
    assert.deepEqual(
      ours.map(({ data, topics, transactionHash }) => ({ data, topics, transactionHash })),
      theirs.map(({ data, topics, transactionHash }) => ({ data, topics, transactionHash })),
    );
    const hash = posted.hashes.at(0);
    const [receipt, truth] = [
      await ask('eth_getTransactionReceipt', hash),
      await onItself('eth_getTransactionReceipt', hash),
    ];
    for (const member of ['status', 'gasUsed', 'contractAddress']) assert.equal(receipt[member], truth[member]);
    assert.equal(receipt.blockHash, truth.blockHash);
    assert.equal((await ask('eth_getTransactionByHash', hash)).blockHash, truth.blockHash);
  });
  await check(
    'layer 1 itself: names are what viem reads of EthereumJS, and a name of a server is not proved',
    async () => {
      const { number } = await attested();
      const { node, reports } = itself;
      const abi = parseAbi([
        'function resolver(bytes32) view returns (address)',
        'function addr(bytes32) view returns (address)',
        'function name(bytes32) view returns (string)',
      ]);
      const reader = createPublicClient({ transport: http(layerOne.url) });
      const read = (address, functionName, name) =>
        reader.readContract({ address, abi, functionName, args: [namehash(name)], blockNumber: BigInt(number) });
      const resolver = (await read(REGISTRY, 'resolver', 'alice.eth')).toLowerCase();
      const found = await node.resolveName('Alice.eth', { block: number });
      assert.equal(found.address, (await read(resolver, 'addr', 'alice.eth')).toLowerCase());
      assert.deepEqual([found.status, found.address, found.resolver], ['resolved', ALICE, resolver]);
      assert.equal(found.trust.block.number, Number(number));
      assert.equal(reports.at(-1).class, 'computed');
      assert.match(found.trust.level, /attested|settled/);
      assert.equal((await node.resolveName('alice.eth')).trust.level, 'attested');
      const own = await node.lookupAddress(ALICE);
      assert.equal(own.name, await read(resolver, 'name', `${ALICE.slice(2)}.addr.reverse`));
      assert.equal(await read(REGISTRY, 'resolver', 'sub.wild.eth'), zeroAddress);
      const wild = await node.resolveName('sub.wild.eth');
      assert.equal(wild.address, `0x${keccak256(new TextEncoder().encode('sub')).slice(-40)}`);
      for (const name of ['far.eth', 'sub.far.eth']) {
        const far = await node.resolveName(name);
        assert.deepEqual([far.status, far.address], ['notProved', undefined]);
      }
      assert.equal((await node.resolveName('none.eth')).status, 'noResolver');
    },
  );
  await check('layer 1 itself: what the light node estimates and prices is mined', async () => {
    const { ask } = itself;
    const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
    const rich = privateKeyToAccount(RICH).address;
    const gas = await ask('eth_estimateGas', { from: rich, to: account.address, value: '0x1' });
    assert.equal(gas, '0x5208');
    const tip = await ask('eth_maxPriorityFeePerGas');
    assert(BigInt(tip) > 0n);
    assert(BigInt(await ask('eth_gasPrice')) > BigInt(tip));
    assert.equal((await ask('eth_feeHistory', 3, 'latest', [50])).reward.length, 3);
  });
  await check(
    'layer 1 itself: attested blocks are replaced, the node says so, and nothing that is final moves',
    async () => {
      const { ask, reports } = itself;
      const final = await ask('eth_getBlockByNumber', 'finalized', false);
      const before = await attested();
      layerOne.program.child.kill('SIGUSR2');
      await until('its attested block is replaced', async () => {
        const now = await onItself('eth_getBlockByNumber', before.number, false);
        return now !== null && now.hash !== before.hash;
      });
      // The new branch is lower at first.
      highest = 0;
      const left = () => reports.findLast(({ takenBack }) => takenBack !== undefined)?.takenBack;
      await until('the node is on the new branch, and has said so', async () => {
        const block = await attested();
        assert.notEqual(left(), undefined, 'no answer says that blocks were taken back');
        return Number(block.number) >= Number(before.number);
      });
      // The node may have followed the old branch one block further.
      const { from, to } = left();
      if (from.number === Number(before.number)) assert.equal(from.hash, before.hash);
      assert(from.number >= Number(before.number), `${from.number}, attested ${Number(before.number)}`);
      for (const [{ number, hash }, isOnChain] of [
        [from, false],
        [to, true],
      ]) {
        assert.equal((await onItself('eth_getBlockByNumber', hex(number), false))?.hash === hash, isOnChain);
      }
      assert.equal((await ask('eth_getBlockByNumber', before.number, false)).hash !== before.hash, true);
      assert.deepEqual(await ask('eth_getBlockByNumber', final.number, false), final);
    },
  );
  await check('layer 1 itself: methods of a rollup say that it is none', () =>
    assert.rejects(itself.ask('linea_getProof', account, [], 'finalized'), /needs a rollup/),
  );
  const proof = await check('linea_getProof of the finalized block holds against the root on layer 1', async () => {
    const { accountProof } = await light.ask('linea_getProof', account, [], 'finalized');
    assert(accountProof.proof.proofRelatedNodes.length > 40);
    return true;
  });
  assert(proof);
  const follow = async (until) => {
    while (now() < until) {
      await settled();
      await attested();
      layouts.add(
        (await (await fetch(`${layerOne.restUrl}/eth/v1/beacon/light_client/finality_update`)).json()).version,
      );
      await wait(2_000);
    }
  };
  await check('it follows over the forks to Fulu', async () => {
    await follow(timeOf(FORKS.fulu) + 40);
    assert(layouts.has('fulu'), [...layouts].join());
  });
  await check('a bundle of evidence holds', async () => {
    const bundle = JSON.parse(JSON.stringify(await light.node.exportEvidence({ address: account, storageKeys: [] })));
    const verdict = await verifyEvidence(bundle, { network, checkpoint: bytes(checkpoint) });
    assert(verdict.verified, verdict.message);
  });
  await check('a schedule that is another than the profile says is named at opening', async () => {
    const forks = network.layerOne.forks.map((fork) => (fork.name === 'fulu' ? { ...fork, epoch: 400 } : fork));
    await assert.rejects(
      openLight({ openCheck: 'wait' }, undefined, { ...network, layerOne: { ...network.layerOne, forks } }),
      {
        message: /FULU_FORK_EPOCH is 6, not 400/,
      },
    );
  });
  await check('without the consensus server what is known stays final, and it is found again', async () => {
    const before = await settled();
    consensus.isOpen = false;
    assert((await settled()) >= before);
    await wait(20_000);
    assert((await settled()) >= before);
    consensus.isOpen = true;
    await until('finality moves again', async () => (await settled()) > before, 60_000);
  });
  await check('without the execution client what is known stays final, and it is found again', async () => {
    const before = await settled();
    execution.isOpen = false;
    assert.equal((await light.ask('eth_getBlockByNumber', 'finalized', false)).number, hex(before));
    execution.isOpen = true;
    await until('finality moves again', async () => (await settled()) > before, 60_000);
  });
  await check('the contract changes to block hashes: finalized is then the block itself', async () => {
    const [last] = [posted.last.stateRoot];
    posted.kind = 'blockHash';
    await until(
      'a block is final by its hash',
      async () => (await settled()) > last && posted.last.blockHash > 0,
      150_000,
    );
    await until('the newest finalization has no root', async () => {
      const error = await light.ask('linea_getProof', account, [], 'finalized').catch((reason) => reason);
      return /on layer 1 by its hash/.test(error.message);
    });
  });
  await check('a bundle of evidence by the hash holds', async () => {
    const bundle = JSON.parse(JSON.stringify(await light.node.exportEvidence({ address: account, storageKeys: [] })));
    assert(bundle.finalizedHeader);
    const verdict = await verifyEvidence(bundle, { network, checkpoint: bytes(checkpoint) });
    assert(verdict.verified, verdict.message);
  });
  await check('it follows through two committee rotations', async () => {
    await follow(genesisTime + 2 * PERIOD_SECONDS + 50);
    const period = Math.floor((light.reports.at(-1).layerOne?.slot ?? 0) / 64);
    assert(period >= 2, `period ${period}`);
  });
  await check('after a restart it goes on from its store', async () => {
    await light.node.close();
    const again = await openLight({ store }, {});
    assert((await settled(again)) > 0);
    assert.equal(
      again.reports.at(-2).layerOne?.checkpoint.level ?? again.reports.at(-1).layerOne.checkpoint.level,
      'stored',
    );
  });
  await check('the server gives an optimistic update, which is newer than what is final', async () => {
    const { data } = await (await fetch(`${layerOne.restUrl}/eth/v1/beacon/light_client/optimistic_update`)).json();
    const final = (await headers('finalized')).data.header.message.slot;
    assert(Number(data.attested_header.beacon.slot) > Number(final));
  });
});
