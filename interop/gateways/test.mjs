// @unruggable/gateways 1.3.5 end to end: a contract on layer 1 (anvil) reads a devnet by CCIP-Read, through the package's gateway and
// its published verifier. Its hash is MiMC's, so the devnet has that scheme. Then the same over a light node.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serve as serveGateway } from '@namestone/ezccip/serve';
import {
  Gateway,
  GatewayRequest,
  LineaGatewayV1,
  LineaProver,
  LineaRollup,
  solidityArraySlots,
  UnfinalizedLineaRollup,
} from '@unruggable/gateways';
import {
  AbiCoder,
  Contract,
  ContractFactory,
  JsonRpcProvider,
  keccak256,
  makeError,
  NonceManager,
  toUtf8String,
  Wallet,
} from 'ethers';
import { devnet } from 'plumbline-l2';
import { createInlineNode } from 'plumbline-l2/inline';
import { serve } from 'plumbline-l2-cli';
import solc from 'solc';
import { atEnd, check, fault, freePort, hex, main, startClient } from '../lib.mjs';
import { KEY, light, RICH } from '../over-client.mjs';

const NAME = '@unruggable/gateways 1.3.5';
const packages = join(import.meta.dirname, 'node_modules');
const NOBODY = '0x00000000000000000000000000000000000000ab';
const ZERO_ADDRESS = `0x${'00'.repeat(20)}`;
const PRECOMPILE = '0x0000000000000000000000000000000000000001';
const HISTORY = '0x0000f90827f1c53a10cb7a02335b175320002935';

function compile() {
  const sources = { 'Contracts.sol': { content: readFileSync(new URL('Contracts.sol', import.meta.url), 'utf8') } };
  const outputSelection = { '*': { '*': ['abi', 'evm.bytecode.object'] } };
  const settings = { evmVersion: 'cancun', optimizer: { enabled: true }, viaIR: true, outputSelection };
  const found = (path) => ({ contents: readFileSync(join(packages, path), 'utf8') });
  const output = JSON.parse(
    solc.compile(JSON.stringify({ language: 'Solidity', sources, settings }), { import: found }),
  );
  const fatal = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (fatal.length > 0) throw new Error(fatal[0].formattedMessage);
  return output.contracts['Contracts.sol'];
}

/** A provider of ethers that remembers nothing and asks one request at a time, or in batches of so many. */
function providerOf(url, batchMaxCount = 1) {
  const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1, batchMaxCount, pollingInterval: 100 });
  atEnd(() => provider.destroy());
  return provider;
}

main(async () => {
  const compiled = compile();
  const node = await createInlineNode({ chain: { kind: 'devnet', scheme: 'mimc' } });
  atEnd(() => node.close());
  const server = await serve(node, { port: 0 });
  atEnd(() => server.close());
  const url = `http://127.0.0.1:${server.port}`;
  const anvilPath = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil');
  const port = await freePort();
  const args = ['--port', String(port), '--silent', '--gas-limit', '4000000000'];
  const anvil = await startClient(anvilPath, args, `http://127.0.0.1:${port}`);

  const [one, two, simulated] = [providerOf(anvil.url), providerOf(url), providerOf(`${url}/l1`)];
  const [signerOne, signerTwo] = [one, two].map((provider) => new NonceManager(new Wallet(KEY, provider)));
  const deployed = async (signer, abi, bytecode, ...inputs) => {
    const contract = await new ContractFactory(abi, bytecode, signer).deploy(...inputs);
    await contract.waitForDeployment();
    return contract;
  };
  const own = (signer, name, ...inputs) =>
    deployed(signer, compiled[name].abi, compiled[name].evm.bytecode.object, ...inputs);
  const published = async (name, libraries, ...inputs) => {
    const artifact = JSON.parse(
      readFileSync(join(packages, `@unruggable/gateways/artifacts/${name}.sol/${name}.json`), 'utf8'),
    );
    let code = artifact.bytecode.object;
    for (const links of Object.values(artifact.bytecode.linkReferences))
      for (const [library, places] of Object.entries(links))
        for (const { start } of places)
          code =
            code.slice(0, 2 + 2 * start) + libraries[library].slice(2).toLowerCase() + code.slice(2 + 2 * (start + 20));
    return deployed(signerOne, artifact.abi, code, ...inputs);
  };

  // Layer 2, and its finalizations on layer 1.
  const second = await own(signerTwo, 'Data', ZERO_ADDRESS);
  const data = await own(signerTwo, 'Data', await second.getAddress());
  const empty = await own(signerTwo, 'Empty');
  const target = await data.getAddress();
  const abi = LineaRollup.ROLLUP_ABI;
  const finalizations = new Contract(node.info.rollupAddress, abi, simulated);
  const rollup = await own(signerOne, 'Rollup', await finalizations.stateRootHashes(0));
  const rpc = (method, ...params) => node.request({ method, params });
  /** Makes blocks until what has been done is final, and copies the finalizations. */
  const finalize = async () => {
    for (let at = 0; at < 3; at++) await rpc('evm_mine');
    for (const { args } of await finalizations.queryFilter('DataFinalizedV3', 0, 'latest'))
      if (args.endBlockNumber > (await rollup.currentL2BlockNumber()))
        await (await rollup.finalize(args.endBlockNumber, args.finalStateRootHash)).wait();
    return Number(await rollup.currentL2BlockNumber());
  };
  await finalize();

  const hooksLibraries = { Mimc: await (await published('Mimc', {})).getAddress() };
  hooksLibraries.SparseMerkleProof = await (await published('SparseMerkleProof', hooksLibraries)).getAddress();
  const hooks = await published('LineaVerifierHooks', hooksLibraries);
  const machine = await published('GatewayVM', {});
  const reader = await own(signerOne, 'Reader');
  const verifierOf = async (endpoint) =>
    published(
      'LineaVerifier',
      { GatewayVM: await machine.getAddress() },
      [endpoint],
      1_000_000,
      await hooks.getAddress(),
      await rollup.getAddress(),
    );
  const config = {
    L1MessageService: await rollup.getAddress(),
    firstCommitV3: 1n,
    SparseMerkleProof: hooksLibraries.SparseMerkleProof,
  };

  /** A gateway over this provider of layer 2. @returns a function that reads on layer 1 what a request says */
  const gatewayOver = async (provider2, isFast) => {
    const lineaRollup = new LineaRollup({ provider1: one, provider2 }, config);
    lineaRollup.latestBlockTag = 'latest';
    if (!isFast) {
      const { _fetchCommit } = lineaRollup;
      lineaRollup._fetchCommit = async (index) => {
        const commit = await _fetchCommit.call(lineaRollup, index);
        commit.prover.fast = false;
        return commit;
      };
    }
    const gateway = new Gateway(lineaRollup);
    gateway.disableCache();
    const listening = await serveGateway(gateway, { protocol: 'raw', log: false });
    atEnd(() => listening.shutdown());
    const verifier = await (await verifierOf(listening.endpoint)).getAddress();
    const read = async (request) => {
      const [values, exitCode] = await reader.read.staticCall(verifier, request.toTuple(), { enableCcipRead: true });
      return { values: [...values], exitCode: Number(exitCode) };
    };
    return { read, lineaRollup, gateway };
  };
  const over = await gatewayOver(two, true);
  const things = {
    two,
    one,
    simulated,
    data,
    target,
    second,
    empty,
    rollup,
    node,
    rpc,
    finalize,
    finalizations,
    config,
    url,
  };
  await events(things);
  await reads('', over.read, things);
  await accounts('', over.read, things);
  await changes(over, things);
  await otherGateways(over, things);
  await readiness(things);
  await overSimulatedLayerOne(things);
  const lit = await light(devnet({ scheme: 'mimc' }), [url], { layerOne: [`${url}/l1`] });
  const litServer = await serve(lit.node, { port: 0 });
  atEnd(() => litServer.close());
  const overLight = await gatewayOver(providerOf(`http://127.0.0.1:${litServer.port}`, 3), false);
  await reads('over a light node, ', overLight.read, things);
  await accounts('over a light node, ', overLight.read, things);
  await fault(NAME, 'UnfinalizedLineaRollup is not implemented', () => {
    assert.match(String(UnfinalizedLineaRollup.prototype._fetchCommit), /not implemented/);
  });
  await fault(NAME, "EMPTY_STORAGE_HASH is MiMC's", () =>
    assert.equal(LineaProver.EMPTY_STORAGE_HASH, '0x07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5'),
  );
});

const number = (value) => BigInt(value === '0x' ? 0 : value);
const word = (value) => `0x${BigInt(value).toString(16).padStart(64, '0')}`;
const mapped = (slot, key) => BigInt(keccak256(AbiCoder.defaultAbiCoder().encode(['uint256', 'uint256'], [key, slot])));
const filled = (length) => `0x${Buffer.from(Array.from({ length }, (_, at) => (at + 1) & 255)).toString('hex')}`;

async function events({ finalizations }) {
  await check(`${NAME}: fields of the finalizations are those of the getters`, async () => {
    const found = await finalizations.queryFilter('DataFinalizedV3', 0, 'latest');
    for (const { args } of found) {
      assert.equal(await finalizations.stateRootHashes(args.endBlockNumber), args.finalStateRootHash);
      assert.equal(await finalizations.stateRootHashes(args.startBlockNumber - 1n), args.parentStateRootHash);
    }
    assert.equal(await finalizations.currentL2BlockNumber(), found.at(-1).args.endBlockNumber);
  });
}

/** Values of a contract in all shapes that a request can read. */
async function reads(where, read, { target, second }) {
  const from = (outputs = 1) => new GatewayRequest(outputs).setTarget(target);
  const text = (value) => toUtf8String(value);
  const one = async (request, expected, as = number) => {
    const { values, exitCode } = await read(request);
    assert.equal(exitCode, 0);
    assert.equal(as(values[0]), expected);
  };
  const plain = (value) => value;
  const longText = 'a string that is longer than the thirty-one bytes of one slot, so that it has slots of its own';
  for (const [what, ask] of [
    ['one slot', () => one(from().setSlot(0).read().setOutput(0), 49n)],
    ['a short string', () => one(from().setSlot(1).readBytes().setOutput(0), 'Satoshi', text)],
    ['a long string', () => one(from().setSlot(2).readBytes().setOutput(0), longText, text)],
    ['a missing string', () => one(from().setSlot(3).readBytes().setOutput(0), '0x', plain)],
    [
      'a string in a mapping',
      () => one(from().setSlot(4).push(1).follow().readBytes().setOutput(0), 'Hal Finney', text),
    ],
    [
      'a long string in a mapping',
      () =>
        one(
          from().setSlot(4).push(2).follow().readBytes().setOutput(0),
          'another name that is longer than the thirty-one bytes of one slot',
          text,
        ),
    ],
    [
      'a missing string in a mapping',
      () => one(from().setSlot(4).push(3).follow().readBytes().setOutput(0), '0x', plain),
    ],
    [
      'a chase of pointers',
      async () => {
        const request = new GatewayRequest(2)
          .setTarget(target)
          .setSlot(6)
          .read()
          .dup()
          .setOutput(0)
          .target()
          .setSlot(1)
          .readBytes();
        const { values } = await read(request.setOutput(1));
        assert.equal(number(values[0]), BigInt(await second.getAddress()));
        assert.equal(text(values[1]), 'Satoshi');
      },
    ],
    [
      'a mapping by string',
      () => one(from().setSlot(5).pushStr('Money Skeleton').follow().readBytes().setOutput(0), 'Vitalik Buterin', text),
    ],
    ['zero', () => one(from().setSlot(14_000).read().setOutput(0), 0n)],
    [
      'a slot that was never written, 2^256 - 1',
      () =>
        one(
          from()
            .setSlot(2n ** 256n - 1n)
            .read()
            .setOutput(0),
          0n,
        ),
    ],
    ['a slot that was cleared', () => one(from().setSlot(7).read().setOutput(0), 0n)],
    ['2^256 - 1', () => one(from().setSlot(8).read().setOutput(0), 2n ** 256n - 1n)],
    ['a nested mapping', () => one(from().setSlot(9).pushStr('a').follow().push(7).follow().read().setOutput(0), 77n)],
    ...[0, 31, 32, 333].map((length) => [
      `${length} bytes in a mapping`,
      () => one(from().setSlot(10).push(length).follow().readBytes().setOutput(0), filled(length), plain),
    ]),
    [
      'hashed bytes',
      () =>
        one(
          from()
            .setSlot(10)
            .push(333)
            .follow()
            .push(keccak256(filled(333)))
            .readHashedBytes()
            .setOutput(0),
          filled(333),
          plain,
        ),
    ],
    [
      'uint256[]',
      async () => {
        const { values } = await read(from().setSlot(11).readArray(32).setOutput(0));
        const parts = [...Array(6)].map((_, at) => number(`0x${values[0].slice(2 + 64 * at, 66 + 64 * at)}`));
        assert.deepEqual(parts, [5n, 1000n, 2000n, 3000n, 4000n, 5000n]);
        assert.equal(solidityArraySlots(11, 5).length, 5);
      },
    ],
    [
      'uint64[]',
      async () => {
        const { values } = await read(from().setSlot(12).readArray(8).setOutput(0));
        assert.equal(number(values[0].slice(0, 66)), 7n);
      },
    ],
    [
      '40 slots, a third of them missing',
      async () => {
        const { values } = await read(
          Array.from({ length: 40 }).reduce(
            (request, _, at) =>
              request
                .setSlot(at % 3 === 0 ? 5000 + at : at % 3 === 1 ? 0 : 8)
                .read()
                .setOutput(at),
            from(40),
          ),
        );
        for (const [at, value] of values.entries())
          assert.equal(number(value), at % 3 === 0 ? 0n : at % 3 === 1 ? 49n : 2n ** 256n - 1n);
      },
    ],
    [
      '100 outputs',
      async () => {
        const request = from(100).setSlot(0).read();
        for (let at = 0; at < 100; at++) request.dup().setOutput(at);
        const { values } = await read(request);
        assert(values.length === 100 && values.every((value) => number(value) === 49n));
      },
    ],
  ])
    await check(`${NAME}: ${where}${what}`, ask);
}

/** Seven kinds of accounts, five requests each. */
async function accounts(where, read, { target, empty, rpc }) {
  const kinds = [
    ['an EOA', RICH, false],
    ['a missing account', NOBODY, false],
    ['a contract without storage', await empty.getAddress(), true],
    ['a contract', target, true],
    ['the zero address', ZERO_ADDRESS, false],
    ['a precompile', PRECOMPILE, false],
    ['the contract of EIP-2935', HISTORY, true],
  ];
  for (const [kind, address, hasCode] of kinds) {
    const from = (outputs) => new GatewayRequest(outputs).setTarget(address);
    // The hooks take a contract whose storage is empty as one.
    const isContract = hasCode;
    await check(`${NAME}: ${where}${kind}: one slot`, async () => {
      const { values, exitCode } = await read(from(1).setSlot(0).read().setOutput(0));
      assert.deepEqual(
        [exitCode, number(values[0])],
        [0, address === target ? 49n : number(await rpc('eth_getStorageAt', address, '0x0', 'finalized'))],
      );
    });
    await check(`${NAME}: ${where}${kind}: several slots`, async () => {
      const { values } = await read(
        from(3).setSlot(0).read().setOutput(0).setSlot(8).read().setOutput(1).setSlot(99).read().setOutput(2),
      );
      const expected =
        address === target
          ? [49n, 2n ** 256n - 1n, 0n]
          : await Promise.all(
              [0, 8, 99].map(async (slot) => number(await rpc('eth_getStorageAt', address, hex(slot), 'finalized'))),
            );
      assert.deepEqual(values.map(number), expected);
    });
    await check(`${NAME}: ${where}${kind}: isContract`, async () => {
      const { values } = await read(from(1).isContract().setOutput(0));
      assert.equal(number(values[0]), isContract ? 1n : 0n);
    });
    await check(`${NAME}: ${where}${kind}: requireContract`, async () => {
      const { exitCode } = await read(from(1).requireContract(7).setSlot(0).read().setOutput(0));
      assert.equal(exitCode, isContract ? 0 : 7);
    });
    await check(`${NAME}: ${where}${kind}: bytes`, async () => {
      // Slot 9000 is behind the ring of EIP-2935.
      const { values } = await read(
        from(1)
          .setSlot(address === target ? 1 : 9_000)
          .readBytes()
          .setOutput(0),
      );
      if (address === target) assert.equal(toUtf8String(values[0]), 'Satoshi');
      else assert.equal(values[0], '0x');
    });
  }
  await check(`${NAME}: ${where}targets read from storage: a contract, an EOA, a missing account`, async () => {
    const request = new GatewayRequest(3);
    for (const [at, slot] of [6, 13, 14].entries())
      request.setTarget(target).setSlot(slot).read().target().setSlot(0).read().setOutput(at);
    const { values } = await read(request);
    assert.deepEqual(values.map(number), [49n, 0n, 0n]);
  });
}

/** Shapes of answers, and state that changes between finalizations. */
async function changes({ read, lineaRollup, gateway }, { target, empty, data, finalize, rpc, two }) {
  const block = await rpc('eth_getBlockByNumber', 'finalized', false);
  for (const [kind, address] of [
    ['an EOA', RICH],
    ['a missing account', NOBODY],
    ['a contract without storage', await empty.getAddress()],
  ])
    await check(`${NAME}: storageProofs of ${kind} are []`, async () => {
      const { storageProofs } = await two.send('linea_getProof', [address, [word(0)], block.number]);
      assert.deepEqual(storageProofs, []);
    });
  const slot = (at) => new GatewayRequest(1).setTarget(target).setSlot(at).read().setOutput(0);
  const value = async (at) => number((await read(slot(at))).values[0]);
  await check(`${NAME}: after a change`, async () => {
    await (await data.set(0, 50)).wait();
    await finalize();
    assert.equal(await value(0), 50n);
  });
  await check(`${NAME}: after a deletion`, async () => {
    await (await data.set(0, 0)).wait();
    await finalize();
    assert.equal(await value(0), 0n);
    await (await data.set(0, 49)).wait();
    await finalize();
  });
  await check(`${NAME}: among 150 entries of a mapping`, async () => {
    for (let at = 0; at < 150; at += 50) await (await data.fill(at, at + 50)).wait();
    await finalize();
    const request = new GatewayRequest(3).setTarget(target);
    for (const [at, key] of [0, 77, 150].entries()) request.setSlot(mapped(20, key)).read().setOutput(at);
    assert.deepEqual((await read(request)).values.map(number), [1n, 78n, 0n]);
  });
  await check(`${NAME}: three commits, each the parent of the next`, async () => {
    let commit = await gateway.getLatestCommit();
    for (let at = 0; at < 3; at++) {
      const parent = await lineaRollup.fetchParentCommit(commit);
      assert.equal(parent.stateRoot, commit.prevStateRoot);
      assert(parent.index < commit.index);
      commit = parent;
    }
  });
  await check(`${NAME}: an older commit answers with its state`, async () => {
    const old = await gateway.getLatestCommit();
    await (await data.set(30, 30)).wait();
    await finalize();
    assert.equal(number(await old.prover.getStorage(target, 30n, false)), 0n);
    assert.equal(await value(30), 30n);
  });
}

/** The package's first gateway, and a layer 1 that is ahead of the state manager. */
async function otherGateways({ lineaRollup }, { one, config, url, target, rpc }) {
  await check(`${NAME}: the V1 gateway answers for a contract`, async () => {
    const gateway = new LineaGatewayV1(lineaRollup);
    const commit = await lineaRollup.fetchLatestCommit();
    const asked = { target, v2: () => new GatewayRequest(1).setTarget(target).setSlot(8).read().setOutput(0) };
    assert.match(await gateway.handleRequest(commit, asked), /f{64}/);
  });
  const newest = Number((await rpc('eth_getBlockByNumber', 'finalized', false)).number);
  /** As a state manager that does not have the newest finalized block yet. */
  class Behind extends JsonRpcProvider {
    async send(method, params) {
      if (method !== 'linea_getProof' || Number(params[2]) !== newest) return super.send(method, params);
      throw makeError('BLOCK_MISSING_IN_CHAIN', 'UNKNOWN_ERROR', { error: { code: -32600 } });
    }
  }
  const provider2 = new Behind(url, undefined, { cacheTimeout: -1, batchMaxCount: 1 });
  atEnd(() => provider2.destroy());
  const rollup = new LineaRollup({ provider1: one, provider2 }, config);
  rollup.latestBlockTag = 'latest';
  let older;
  await check(`${NAME}: layer 1 is ahead of the state manager: the parent is taken`, async () => {
    older = await rollup.fetchLatestCommit();
    assert(Number(older.index) < newest);
  });
  await check(`${NAME}: layer 1 is ahead of the state manager: a read is answered`, async () =>
    assert.equal(number(await older.prover.getStorage(target, 8n, false)), 2n ** 256n - 1n),
  );
}

async function readiness({ two, rpc }) {
  const finalized = Number((await rpc('eth_getBlockByNumber', 'finalized', false)).number);
  const head = Number(await rpc('eth_blockNumber'));
  const ready = (block) => new LineaProver(two, block).isShomeiReady();
  for (const [what, block, expected] of [
    ['a finalized block', finalized, true],
    ['the head', head, false],
    ['a future block', head + 1000, false],
    ['2^64', 2n ** 64n, undefined],
    ['2^256', 2n ** 256n, undefined],
  ])
    await check(`${NAME}: isShomeiReady of ${what}`, async () => {
      const answer = await ready(block);
      if (expected === undefined) assert.equal(typeof answer, 'boolean');
      else assert.equal(answer, expected);
    });
  for (const [what, block] of [
    ['a number', finalized],
    ['padded hex', `0x00${finalized.toString(16)}`],
  ])
    await check(`${NAME}: isShomeiReady of a block as ${what}`, async () => {
      const prover = new LineaProver(two, block);
      prover.block = typeof block === 'string' ? block : prover.block;
      assert.equal(await prover.isShomeiReady(), true);
    });
}

/** LineaRollup on the devnet's own layer 1. */
async function overSimulatedLayerOne({ two, simulated, node, finalizations }) {
  const config = { L1MessageService: node.info.rollupAddress, firstCommitV3: 1n, SparseMerkleProof: ZERO_ADDRESS };
  const rollup = new LineaRollup({ provider1: simulated, provider2: two }, config);
  for (const tag of ['latest', 'safe', 'finalized'])
    await check(`${NAME}: LineaRollup on /l1, tag ${tag}`, async () => {
      rollup.latestBlockTag = tag;
      assert((await rollup.fetchLatestCommitIndex()) > 0n);
    });
  rollup.latestBlockTag = 'latest';
  await check(`${NAME}: LineaRollup on /l1, state root`, async () => {
    const commit = await rollup.fetchLatestCommit();
    assert.equal(commit.stateRoot, await finalizations.stateRootHashes(commit.index));
  });
  await check(`${NAME}: LineaRollup on /l1, parents`, async () => {
    const parent = await rollup.fetchParentCommit(await rollup.fetchLatestCommit());
    assert.equal(parent.stateRoot, await finalizations.stateRootHashes(parent.index));
  });
}
