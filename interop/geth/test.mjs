// A light node and a fork over geth 1.17.10, and go-ethereum's own clients over a devnet. Where geth or Go is missing, it says so.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createInlineNode } from 'plumbline-l2/inline';
import { serve } from 'plumbline-l2-cli';
import { fromRlp, toRlp } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { engineMiner, testGenesis, versionedHash } from '../execution-genesis.mjs';
import { atEnd, check, endpoint, fault, freePort, hex, main, skip, start, startClient, word } from '../lib.mjs';
import { accountsOf, assertSame, followed, INIT, light, NOBODY, overClient, profileAt, RICH } from '../over-client.mjs';
import { amsterdam } from './amsterdam.mjs';
import { asLayerOne } from './layer-one.mjs';
import { pool } from './pool.mjs';
import { ENTRY, programCall } from './programs.mjs';

const NAME = 'geth 1.17.10';
const networkOf = (hardfork) =>
  profileAt(hardfork, { name: 'geth', slotSeconds: 12, chainId: 32_383, gasSearch: 'geth' });
const network = networkOf('prague');

const TEST_TOKEN = '0x7e57c0de00000000000000000000000000007e57';

const onPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
const gethPath = process.env.GETH_PATH ?? onPath('geth') ?? [join(homedir(), 'go/bin/geth')].find(existsSync);
const goPath = onPath('go');

/**
 * A chain of its own, with the engine API; `options` are further ones of geth.
 *
 * @param alloc - of genesis, beside what it has
 * @param keeps - `archive`, or `full`: the states of the newest 128 blocks
 */
async function startGeth(options = [], hardfork = 'prague', { amsterdamTime, alloc = {}, keeps = 'archive' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'interop-geth-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const [genesis, secretFile, data] = ['genesis.json', 'jwt', 'data'].map((name) => join(folder, name));
  const json = await testGenesis(network.chainId, hardfork, amsterdamTime);
  Object.assign(json.alloc, alloc);
  writeFileSync(genesis, JSON.stringify(json));
  const secret = randomBytes(32);
  writeFileSync(secretFile, secret.toString('hex'));
  const state = ['--datadir', data, '--state.scheme=hash'];
  execFileSync(gethPath, [...state, 'init', genesis], { stdio: 'ignore' });
  const [port, enginePort] = [await freePort(), await freePort()];
  const args = `--networkid ${network.chainId} --syncmode full --gcmode ${keeps} --nodiscover --maxpeers 0 --port 0 --ipcdisable
    --http --http.port ${port} --http.api eth,net,web3,debug,txpool --authrpc.port ${enginePort} --authrpc.jwtsecret ${secretFile}`;
  const run = () => startClient(gethPath, [...state, ...args.split(/\s+/), ...options], `http://127.0.0.1:${port}`);
  const client = await run();
  const text = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = () => {
    const signed = `${text({ alg: 'HS256', typ: 'JWT' })}.${text({ iat: Math.floor(Date.now() / 1000) })}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  };
  const engine = endpoint(`http://127.0.0.1:${enginePort}`, () => ({ authorization: `Bearer ${token()}` }));
  const mine = engineMiner(client, engine, hardfork, amsterdamTime);
  return { ...client, genesis: json, mine, startAgain: async () => Object.assign(client, await run()) };
}

main(async () => {
  if (gethPath === undefined) return skip(NAME, 'there is no geth on this machine; GETH_PATH names one');
  const client = await startGeth();
  await check(`${NAME}: it is this version`, async () =>
    assert.match(await client.ask('web3_clientVersion'), /^Geth\/v1\.17\.10/),
  );
  const accounts = accountsOf(privateKeyToAccount);
  const scene = await overClient(client, { name: NAME, network, types: [0, 1, 2, 4], accounts, mine: client.mine });
  if (scene === undefined) return;
  await traces(client, scene);
  await programs(client, scene);
  await simulations(client, scene);
  await reorgs(client, scene);
  await batchLimits();
  await blobTransactions(accounts);
  await asLayerOne(startGeth, network);
  await pool(startGeth, network.chainId);
  await amsterdam(startGeth, network.chainId);
  await goClients();
});

/** Each tracer over each transaction that was mined. */
async function traces(client, { made, light: lit }) {
  const tracers = [
    {},
    { tracer: 'callTracer', tracerConfig: { withLog: true } },
    { tracer: 'prestateTracer' },
    { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
    { tracer: '4byteTracer' },
    { tracer: 'flatCallTracer' },
    { tracer: 'muxTracer', tracerConfig: { callTracer: {}, prestateTracer: {} } },
  ];
  for (const options of tracers) {
    const diff = options.tracerConfig?.diffMode ? ' in diff mode' : '';
    await check(
      `${NAME}: ${options.tracer ?? 'the list of instructions'}${diff} of ${made.length} transactions`,
      async () => {
        for (const { hash } of made) {
          const [ours, theirs] = await Promise.all(
            [lit, client].map(({ ask }) => ask('debug_traceTransaction', hash, options)),
          );
          assertSame(ours, theirs, [], hash);
        }
      },
    );
  }
}

const ZERO_WORD = `0x${word(0)}`;
/** Names of EOF, which no fork has, and of Amsterdam: before the fork such a byte is named here as each other that is no instruction. */
const LATER_NAMES =
  /^(invalid opcode: )?(DATA(LOADN?|SIZE|COPY)|RJUMP[IV]?|(CALL|RET|JUMP)F|EOFCREATE|RETURNCONTRACT|RETURNDATALOAD|EXT(STATIC|DELEGATE)?CALL|SLOTNUM|DUPN|SWAPN|EXCHANGE)$/;

/**
 * An answer of a tracer without the differences that stay:
 * - callTracer's texts of out of gas (geth's may be `gas uint64 overflow`) and of failed precompiles;
 * - in prestateTracer's diff mode, the code hash of zero in `post`, of accounts that are not there and were called without a value;
 * - geth's names of instructions that were to come with EOF, or come with Amsterdam.
 */
function comparable(answer) {
  const plain = (value, name) => {
    if (Array.isArray(value)) return value.map((one) => plain(one));
    if (name === 'op' || name === 'error')
      return LATER_NAMES.test(value) || /opcode 0x.. not defined$/.test(value) ? 'no instruction' : value;
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value).map(([member, one]) => [member, plain(one, member)]);
    return Object.fromEntries(entries);
  };
  if (answer.post === undefined) return plain(answer);
  const post = Object.entries(answer.post).flatMap(([address, { codeHash, ...rest }]) => {
    if (codeHash !== ZERO_WORD) return [[address, answer.post[address]]];
    return Object.keys(rest).length > 0 ? [[address, rest]] : [];
  });
  return { ...answer, post: Object.fromEntries(post) };
}

/** Takes the texts out of frames that failed in both, where one is of out of gas or of a precompile. */
function dropTexts(ours, theirs, seen) {
  if (ours === undefined || theirs === undefined) return;
  if (ours.error !== undefined && theirs.error !== undefined && ours.error !== theirs.error) {
    const bothOutOfGas = [ours, theirs].every(({ error }) => /^(out of gas|gas uint64 overflow$)/.test(error));
    if (bothOutOfGas || ours.error === 'precompile failed') {
      seen.texts++;
      delete ours.error;
      delete theirs.error;
    }
  }
  for (const [at, call] of (ours.calls ?? []).entries()) dropTexts(call, theirs.calls?.[at], seen);
}

/** Random programs by debug_traceCall, with their code in a state override. `INTEROP_SEED` is the first of their seeds. */
async function programs(client, { light: lit }) {
  const [COUNT, AT_ONCE] = [2_000, 12];
  const first = Number(process.env.INTEROP_SEED ?? 0);
  const block = await client.ask('eth_blockNumber');
  const seen = { failures: [], texts: 0, steps: 0, instructions: new Set(), ends: { success: 0, revert: 0, halt: 0 } };
  /** The same calls to both: geth's in one batch. */
  const both = async (asked) => {
    const batch = asked.map(({ params }, id) => ({ jsonrpc: '2.0', id, method: 'debug_traceCall', params }));
    const [theirs, ours] = await Promise.all([
      client.post(batch),
      Promise.all(batch.map(({ method, params }) => lit.ask(method, ...params))),
    ]);
    for (const [at, { error, result }] of theirs.entries()) {
      assert.equal(error, undefined, `${asked[at].what}: ${error?.message}`);
      const pair = [comparable(ours[at]), comparable(result)];
      dropTexts(...pair, seen);
      try {
        assertSame(...pair, [], asked[at].what);
      } catch (thrown) {
        seen.failures.push(thrown.actual ?? thrown.message);
      }
      if (result.structLogs === undefined) continue;
      const last = result.structLogs.at(-1)?.op;
      seen.ends[result.failed ? (last === 'REVERT' ? 'revert' : 'halt') : 'success']++;
      seen.steps += result.structLogs.length;
      for (const { op } of result.structLogs) seen.instructions.add(op);
    }
  };
  /** The three tracers of a program. */
  const traced = (seed) => {
    const { overrides, ...call } = programCall(seed);
    const tracers = {
      'list of instructions': { enableMemory: seed % 8 === 0, enableReturnData: true },
      callTracer: { tracer: 'callTracer', tracerConfig: { withLog: true } },
      prestateTracer: { tracer: 'prestateTracer', tracerConfig: { diffMode: seed % 2 === 1 } },
    };
    return Object.entries(tracers).map(([name, options]) => ({
      what: `program ${seed}, ${name}`,
      params: [{ from: RICH, to: ENTRY, ...call }, block, { ...options, stateOverrides: overrides }],
    }));
  };
  await check(`${NAME}: ${COUNT} random programs by three tracers`, async () => {
    for (let at = 0; at < COUNT; at += AT_ONCE) {
      const count = Math.min(AT_ONCE, COUNT - at);
      await both(Array.from({ length: count }, (_, index) => traced(first + at + index)).flat());
    }
    const { failures, ends } = seen;
    if (failures.length > 0) throw new Error(`${failures.length} differ, the first: ${failures[0]}`);
    // Programs that all fail at once would show little.
    assert(ends.success > COUNT / 3 && ends.revert > 0 && ends.halt > COUNT / 20, JSON.stringify(ends));
    assert(seen.instructions.size >= 130 && seen.steps > 100 * COUNT, `${seen.instructions.size}, ${seen.steps}`);
  });
  const { success, revert, halt } = seen.ends;
  console.log(
    `   ${seen.steps} steps of ${seen.instructions.size} instructions; ${success} succeed, ${revert} revert, ${halt} halt; ${seen.texts} texts left out`,
  );
  const small = (code, options) => [
    { from: RICH, to: ENTRY, gas: '0x186a0' },
    block,
    { ...options, stateOverrides: { [ENTRY]: { code } } },
  ];
  await check(`${NAME}: each of the 256 instructions, alone`, async () => {
    const before = seen.failures.length;
    const codes = Array.from({ length: 256 }, (_, code) => `0x5f5f5f5f5f5f5f${code.toString(16).padStart(2, '0')}`);
    await both(codes.map((code) => ({ what: code, params: small(code, {}) })));
    assert.equal(seen.failures.slice(before).join('; '), '');
  });
  // What is left out above is there: the smallest programs.
  const diff = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } };
  await check(
    `${NAME}: prestateTracer's diff mode lists an account that is not there, with a code hash of zero`,
    async () => {
      const params = small(`0x73${NOBODY.slice(2).replace(/aa$/, 'ab')}31`, diff);
      const [ours, theirs] = await Promise.all([lit, client].map(({ ask }) => ask('debug_traceCall', ...params)));
      const absent = NOBODY.replace(/aa$/, 'ab');
      const listed = { codeHash: ZERO_WORD };
      assert.deepEqual([ours.post[absent], theirs.post[absent]], [listed, listed]);
    },
  );
  await fault(NAME, 'a byte that is no instruction has the name of one of EOF or Amsterdam', async () => {
    const names = await Promise.all(['0xe4', '0x4b'].map((code) => client.ask('debug_traceCall', ...small(code, {}))));
    assert.deepEqual(
      names.map(({ structLogs }) => structLogs[0].op),
      ['RETF', 'SLOTNUM'],
    );
  });
}

/** eth_simulateV1 with the state roots of its blocks, and estimates of many calls. */
async function simulations(client, { contract, light: lit }) {
  const set = (slot, value) => ({ from: RICH, to: contract, input: `0x${word(slot)}${word(value)}` });
  const cases = [
    ['two blocks of writes', { blockStateCalls: [{ calls: [set(1, 5), set(2, 0)] }, { calls: [set(3, 1)] }] }],
    [
      'a failing call',
      { blockStateCalls: [{ calls: [{ from: RICH, to: contract, input: '0x01020304' }, set(4, 4)] }] },
    ],
    [
      'overrides, transfers traced',
      {
        blockStateCalls: [
          {
            stateOverrides: { [NOBODY]: { balance: hex(10n ** 18n) } },
            blockOverrides: { gasLimit: '0x1000000', feeRecipient: contract },
            calls: [{ from: NOBODY, to: RICH, value: '0x64' }],
          },
        ],
        traceTransfers: true,
      },
    ],
    [
      'with validation',
      {
        blockStateCalls: [{ calls: [{ ...set(1, 5), maxFeePerGas: hex(10n ** 10n), gas: '0x186a0' }] }],
        validation: true,
      },
    ],
  ];
  for (const [what, asked] of cases)
    await check(`${NAME}: simulation, ${what}, with state roots`, async () => {
      const [ours, theirs] = await Promise.all([lit, client].map(({ ask }) => ask('eth_simulateV1', asked, 'latest')));
      assert.equal(ours.length, theirs.length);
      for (const [at, block] of theirs.entries()) {
        assertSame(ours[at].calls, block.calls, ['message']); // its texts are Besu's
        for (const member of [
          'stateRoot',
          'gasUsed',
          'baseFeePerGas',
          'hash',
          'timestamp',
          'receiptsRoot',
          'logsBloom',
        ])
          assert.equal(ours[at][member], block[member], member);
      }
    });
  await check(`${NAME}: estimates of 100 calls`, async () => {
    const data = (slot, value) => `0x${word(slot)}${word(value)}`;
    for (let at = 0; at < 100; at++) {
      const value = at % 3 === 0 ? 0 : 2n ** BigInt(at);
      const call = { from: RICH, to: contract, data: data([1, 2, 40_364, 105_566, at][at % 5], value) };
      const [ours, theirs] = await Promise.all([lit, client].map(({ ask }) => ask('eth_estimateGas', call)));
      assert.equal(ours, theirs, call.data);
    }
  });
}

/** On a chain above 64 blocks: by debug_setHead the old blocks are gone, by the engine API they stay. */
async function reorgs(client, { light: lit }) {
  while (Number(await client.ask('eth_blockNumber')) < 90) await client.mine();
  const height = async () => Number(await client.ask('eth_blockNumber'));
  const hashAt = async (number) => (await client.ask('eth_getBlockByNumber', hex(number), false)).hash;
  await check(`${NAME}: a light node follows to block 90`, () => followed(lit, client, RICH));
  for (const [what, back, make] of [
    ['3 blocks go', 3, 0],
    ['3 blocks go and one comes', 3, 1],
    ['20 blocks go and 25 come', 20, 25],
    ['60 blocks go', 60, 0],
  ])
    await check(`${NAME}: debug_setHead, ${what}`, async () => {
      while ((await height()) < 90) await client.mine();
      await followed(lit, client, RICH);
      const to = (await height()) - back;
      const gone = await hashAt(to + 1);
      await client.ask('debug_setHead', hex(to));
      assert.equal(await client.ask('eth_getBlockByHash', gone, false), null);
      // Another block than before: the payload has another random value.
      if (make > 0) await client.mine(await hashAt(to));
      for (let at = 1; at < make; at++) await client.mine();
      await followed(lit, client, RICH);
    });
  await check(`${NAME}: 5 blocks are replaced by one through the engine API, and stay by hash`, async () => {
    while ((await height()) < 90) await client.mine();
    await followed(lit, client, RICH);
    const to = (await height()) - 5;
    const old = await hashAt(to + 1);
    await client.mine(await hashAt(to));
    assert.notEqual(await client.ask('eth_getBlockByHash', old, false), null);
    assert.equal(await height(), to + 1);
    await followed(lit, client, RICH);
  });
}

/** A light node sends batches; geth limits their length and the bytes of the answer. */
async function batchLimits() {
  const limited = await startGeth(['--rpc.batch-request-limit', '5', '--rpc.batch-response-max-size', '20000']);
  for (let at = 0; at < 20; at++) await limited.mine();
  await check(`${NAME}: a batch that is too long is answered by one error with the id of the first call`, async () => {
    const calls = Array.from({ length: 6 }, (_, id) => ({
      jsonrpc: '2.0',
      id: id + 7,
      method: 'eth_chainId',
      params: [],
    }));
    const reply = await limited.post(calls);
    assert.equal(reply.length, 1);
    assert.deepEqual([reply[0].id, reply[0].error.code, reply[0].error.message], [7, -32600, 'batch too large']);
  });
  await check(`${NAME}: a light node gets on with both limits`, async () => {
    const lit = await light(network, [limited.url]);
    const addresses = Array.from({ length: 40 }, (_, at) => `0x${(at + 0xa00).toString(16).padStart(40, '0')}`);
    const balances = await Promise.all(
      [RICH, ...addresses].map((address) => lit.ask('eth_getBalance', address, 'latest')),
    );
    assert.equal(BigInt(balances[0]), 10n ** 22n);
    assert(balances.slice(1).every((balance) => BigInt(balance) === 0n));
    const blocks = await Promise.all(
      Array.from({ length: 20 }, (_, at) => lit.ask('eth_getBlockByNumber', hex(at), true)),
    );
    for (const [at, { hash }] of blocks.entries())
      assert.equal(hash, (await limited.ask('eth_getBlockByNumber', hex(at), false)).hash);
  });
}

/**
 * Transactions of type 3 are sent to a light node, which gives them to geth. The chain has Osaka: before it geth 1.17.10 takes no form
 * of them that it puts in a block. The blobs are constant polynomials, so that no library for KZG is needed: a commitment is
 * the constant times the generator of G1, and the proof is the point at infinity.
 */
async function blobTransactions([account]) {
  const client = await startGeth([], 'osaka');
  const infinity = `0xc0${'00'.repeat(47)}`;
  const generator =
    '0x97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb';
  const constants = [0, 1].map((constant) => `0x${word(constant).repeat(4096)}`);
  const commitments = [infinity, generator];
  // The form of EIP-7594, which viem 2.57.1 does not write: a version, and a proof for each cell.
  const sidecar = ['0x01', constants, commitments, Array(2 * 128).fill(infinity)];
  const lit = await light(networkOf('osaka'), [client.url]);
  // Of each blob's hash, and of one that is not there: it is kept in a slot.
  const code = '5f495f5560014960015560024960025500';
  const made = [];
  const send = async (transaction) => {
    const signed = await account.signTransaction({
      chainId: network.chainId,
      nonce: Number(await lit.ask('eth_getTransactionCount', RICH, 'latest')),
      gas: 300_000n,
      maxFeePerGas: 5_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      ...transaction,
    });
    const raw =
      transaction.type === 'eip4844' ? `0x03${toRlp([fromRlp(`0x${signed.slice(4)}`), ...sidecar]).slice(2)}` : signed;
    const hash = await lit.ask('eth_sendRawTransaction', raw);
    await client.mine();
    await followed(lit, client, RICH);
    const receipt = await client.ask('eth_getTransactionReceipt', hash);
    assert.equal(receipt?.status, '0x1');
    return { hash, receipt };
  };
  const contract = await check(`${NAME}: a light node over a chain with Osaka sends a deployment`, async () => {
    const { receipt } = await send({
      type: 'eip1559',
      data: `0x60${hex(code.length / 2).slice(2)}8060095f395ff3${code}`,
    });
    return receipt.contractAddress;
  });
  if (contract === undefined) return;
  for (let at = 1; at <= 3; at++)
    await check(
      `${NAME}: a transaction with two blobs is sent through a light node, and mined, ${at} of 3`,
      async () => {
        const blobVersionedHashes = commitments.map(versionedHash);
        made.push(await send({ type: 'eip4844', to: contract, maxFeePerBlobGas: 1_000_000_000n, blobVersionedHashes }));
        const { type, blobGasUsed } = made.at(-1).receipt;
        assert.deepEqual([type, blobGasUsed], ['0x3', '0x40000']);
        for (const [slot, value] of [...blobVersionedHashes, `0x${word(0)}`].entries())
          assert.equal(await lit.ask('eth_getStorageAt', contract, hex(slot), 'latest'), value);
      },
    );
  if (made.length === 0) return;
  const { hash, receipt } = made.at(-1);
  for (const [what, ...asked] of [
    ['the transaction', 'eth_getTransactionByHash', hash],
    ['its receipt', 'eth_getTransactionReceipt', hash],
    ['its bytes, without the blobs', 'eth_getRawTransactionByHash', hash],
    ['its block', 'eth_getBlockByHash', receipt.blockHash, true],
    ['the price of a blob', 'eth_blobBaseFee'],
    ['its call', 'debug_traceTransaction', hash, { tracer: 'callTracer' }],
    ['what it changed', 'debug_traceTransaction', hash, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }],
    ['its instructions', 'debug_traceTransaction', hash, {}],
  ])
    await check(`${NAME}: type 3, ${what}`, async () => {
      const [ours, theirs] = await Promise.all([lit, client].map(({ ask }) => ask(...asked)));
      assert.notEqual(theirs, null);
      assertSame(comparable(ours), comparable(theirs));
    });
}

/** go-ethereum's ethclient, gethclient and bind over a devnet: the program of `clients` prints a line for each check. */
async function goClients() {
  const what = 'go-ethereum 1.17.10, ethclient and gethclient over a devnet';
  if (goPath === undefined) return skip(what, 'there is no Go on this machine');
  const folder = mkdtempSync(join(tmpdir(), 'interop-go-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'clients');
  const cwd = join(import.meta.dirname, 'clients');
  const built = spawnSync(goPath, ['build', '-o', program, '.'], { cwd, encoding: 'utf8' });
  if (built.status !== 0) return skip(what, `it does not build here: ${built.stderr.trim().split('\n').at(-1)}`);
  const node = await createInlineNode();
  const server = await serve(node, { port: 0 });
  atEnd(() => server.close());
  atEnd(() => node.close());
  const address = `127.0.0.1:${server.port}`;
  const run = start(program, [`http://${address}`, `ws://${address}`, INIT, TEST_TOKEN]);
  const lines = [];
  createInterface({ input: run.child.stdout }).on('line', (line) => lines.push(line));
  await once(run.child, 'close');
  assert(lines.length > 0, run.output());
  for (const line of lines) {
    const [, verdict, name, reason] = /^(ok|FAIL) ([^:]*(?:: .*by geth's types)?)(?:: (.*))?$/.exec(line) ?? [
      null,
      'FAIL',
      line,
    ];
    await check(`${what}: ${name}`, () => verdict === 'ok' || assert.fail(reason ?? line));
  }
}
