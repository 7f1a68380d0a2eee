// A light node and a fork over another execution client: each answer is compared with the client's own.
import assert from 'node:assert/strict';
import { createInlineNode, devnet } from 'plumbline-l2/inline';
import { atEnd, check, endpoint, fault, hex, skip, until, word } from './lib.mjs';

/** First key of the usual test mnemonic. */
export const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
export const RICH = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
/** The second account of the mnemonic. */
const OTHER_KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
const OTHER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const NOBODY = '0x00000000000000000000000000000000000000aa';

/**
 * A contract: 64 bytes of calldata set a slot and log the value, 32 read a slot, 4 are what it reverts with, none take ether.
 */
const RUNTIME =
  '368060401460175780602014602a578060041460345700' +
  '5b6020355f35556020355f525f3560205fa100' +
  '5b5f35545f5260205ff3' +
  '5b60045f5f3760045ffd';
export const INIT = `0x60${(RUNTIME.length / 2).toString(16)}8060095f395ff3${RUNTIME}`;
const TEST_PROFILE = { ...devnet(), sealing: {} };

/** Options of a profile for such a client: the devnet's, with these members. */
export const profile = (members) => ({ ...TEST_PROFILE, ...members });

/** Profile of a chain that has this fork, Prague or a later one, from genesis. */
export const profileAt = (hardfork, members) =>
  profile({
    gasSearch: 'exact',
    forks: [{ hardfork, block: 0, timestamp: 0, blobs: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n } }],
    ...members,
  });

/** Opens a node, which is closed at the end. */
export async function open(options) {
  const node = await createInlineNode(options);
  atEnd(() => node.close());
  const ask = (method, ...params) => node.request({ method, params });
  return { node, ask };
}

export const light = (network, urls, chain = {}) =>
  open({ chain: { kind: 'light', network, endpoints: urls, ...chain } });

/** A value with these members left out, at any depth, and addresses and hashes in lower case. */
function without(value, names) {
  if (Array.isArray(value)) return value.map((one) => without(one, names));
  if (typeof value === 'string') return value.startsWith('0x') ? value.toLowerCase() : value;
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([name, one]) => !names.includes(name) && one !== undefined);
  return Object.fromEntries(entries.map(([name, one]) => [name, without(one, names)]));
}

/** Where two answers differ, as text. */
function differences(ours, theirs, at = '') {
  const isTree = (value) => value !== null && typeof value === 'object';
  if (!isTree(ours) || !isTree(theirs)) return ours === theirs ? [] : [`${at} ${show(ours)} is not ${show(theirs)}`];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].flatMap((name) => differences(ours[name], theirs[name], `${at}.${name}`));
}
const show = (value) => (JSON.stringify(value) ?? 'left out').slice(0, 80);

/** Asserts that two answers are the same but for members of these names. */
export function assertSame(ours, theirs, names = [], note = '') {
  const found = differences(without(ours, names), without(theirs, names));
  assert.equal([...found.slice(0, 6), ...(found.length > 0 ? [note] : [])].join('; '), '');
}

/** Signs and sends transactions of these types, and waits until they are mined. @returns their hashes, and the contract */
export async function makeBlocks(client, { accounts, chainId, types, mine = async () => {} }) {
  const [account, other] = accounts;
  const send = async (transaction, signer = account) => {
    const nonce = Number(await client.ask('eth_getTransactionCount', signer.address, 'latest'));
    const raw = await signer.signTransaction({ chainId, nonce, gas: 300_000n, ...transaction });
    // Hardhat mines a transaction that fails, and answers with its error.
    const hash = await client.ask('eth_sendRawTransaction', raw).catch(async (error) => {
      const { transactions } = await client.ask('eth_getBlockByNumber', 'latest', true);
      const mined = transactions.find(
        (one) => one.from.toLowerCase() === signer.address.toLowerCase() && Number(one.nonce) === nonce,
      );
      if (mined === undefined) throw error;
      return mined.hash;
    });
    await mine();
    const receipt = await until(`a receipt of ${hash}`, () => client.ask('eth_getTransactionReceipt', hash));
    return { hash, receipt };
  };
  const price = { gasPrice: 5_000_000_000n };
  const fees = { maxFeePerGas: 5_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const deployed = await send({ ...price, data: INIT, type: 'legacy' });
  const contract = deployed.receipt.contractAddress;
  const made = [deployed];
  const set = (slot, value) => `0x${word(slot)}${word(value)}`;
  made.push(await send({ ...price, type: 'legacy', to: NOBODY, value: 12_345n }));
  made.push(await send({ ...price, type: 'legacy', to: contract, data: set(1, 0x1234) }));
  if (types.includes(1)) {
    const accessList = [{ address: contract, storageKeys: [`0x${word(2)}`] }];
    made.push(await send({ ...price, type: 'eip2930', to: contract, data: set(2, 2n ** 255n), accessList }));
  }
  if (types.includes(2)) made.push(await send({ ...fees, type: 'eip1559', to: contract, data: set(40_364, 1) }));
  if (types.includes(2)) made.push(await send({ ...fees, type: 'eip1559', to: contract, data: set(105_566, 1) }));
  // It fails: the receipt has status 0.
  if (types.includes(2)) made.push(await send({ ...fees, type: 'eip1559', to: contract, data: '0x01020304' }));
  if (types.includes(2)) made.push(await send({ ...fees, type: 'eip1559', to: contract, data: set(1, 0) }));
  if (types.includes(4)) {
    const nonce = Number(await client.ask('eth_getTransactionCount', other.address, 'latest'));
    const authorizationList = [await other.signAuthorization({ address: contract, chainId, nonce })];
    made.push(await send({ ...fees, type: 'eip7702', to: other.address, data: set(7, 7), authorizationList }));
  }
  return { contract, made };
}

/**
 * Opening, state, calls, estimates, blocks, receipts, logs, proofs and traces by a light node over `client`, then a fork of it.
 *
 * @param options.name - the client with its version
 * @param options.network - profile of its chain
 * @param options.types - transaction types that it takes
 * @param options.leftOut - by method: members that differ, each with a check of its own or a difference of form
 * @param options.lacks - methods that the client does not have or answers in another form, with the reason
 * @param options.history - blocks of the fee history
 * @param options.roughEstimates - its search is none that plumbline has, and ends a little above the exact one
 * @param options.failedRefused - how the receipt of a failed transaction is refused, where the client has it wrong
 */
export async function overClient(client, options) {
  const {
    name,
    network,
    types,
    leftOut = {},
    lacks = {},
    accounts,
    mine,
    history = 4,
    roughEstimates = false,
  } = options;
  const scene = await check(`${name}: transactions of types ${types.join(', ')} are mined`, () =>
    makeBlocks(client, { accounts, chainId: network.chainId, types, mine }),
  );
  if (scene === undefined) return;
  const { contract, made } = scene;
  const lit = await check(`${name}: a light node opens and has its head`, async () => {
    const opened = await light(network, [client.url]);
    const [ours, theirs] = [await opened.ask('eth_blockNumber'), await client.ask('eth_blockNumber')];
    assert.equal(Number(ours), Number(theirs));
    return opened;
  });
  if (lit === undefined) return;

  /** The same answer of both, but for members that the client has of its own or wrong. */
  const same = (what, method, ...params) => {
    if (lacks[method] !== undefined) return skip(`${name}: ${what}`, lacks[method]);
    const names = [...(leftOut.all ?? []), ...(leftOut[method] ?? [])];
    return check(`${name}: ${what}`, async () => {
      const [ours, theirs] = await Promise.all([lit.ask(method, ...params), client.ask(method, ...params)]);
      assert.notEqual(theirs, undefined);
      assertSame(ours, theirs, names);
    });
  };
  const kinds = [
    ['a contract', contract],
    ['a sender', RICH],
    ['a receiver', NOBODY],
    ['an account that is not there', '0x00000000000000000000000000000000000000ab'],
    ...(types.includes(4) ? [['a delegated account', OTHER]] : []),
  ];
  for (const [kind, address] of kinds) {
    await same(`balance of ${kind}`, 'eth_getBalance', address, 'latest');
    await same(`nonce of ${kind}`, 'eth_getTransactionCount', address, 'latest');
    await same(`code of ${kind}`, 'eth_getCode', address, 'latest');
  }
  for (const slot of [1, 2, 40_364, 5])
    await check(`${name}: slot ${slot}`, async () => {
      const params = ['eth_getStorageAt', contract, hex(slot), 'latest'];
      const [ours, theirs] = await Promise.all([lit.ask(...params), client.ask(...params)]);
      // ganache writes zero as 0x.
      assert.equal(BigInt(ours), BigInt(theirs === '0x' ? 0 : theirs));
    });
  const height = Number(await client.ask('eth_blockNumber'));
  const half = hex(Math.floor(height / 2));
  await same('balance at an older block', 'eth_getBalance', RICH, half);
  const slots = [1, 2, 40_364, 105_566, 5].map(hex);
  await check(`${name}: a proof of the contract with five slots`, async () => {
    const params = [contract, options.fullWords ? slots.map((one) => `0x${word(one)}`) : slots, 'latest'];
    const [ours, theirs] = await Promise.all([
      lit.ask('eth_getProof', ...params),
      client.ask('eth_getProof', ...params),
    ]);
    const facts = ({ balance, nonce, codeHash, storageHash, storageProof }) => ({
      ...without({ codeHash, storageHash }, []),
      numbers: [balance, nonce, ...storageProof.flatMap(({ key, value }) => [key, value])].map(BigInt),
    });
    assert.deepEqual(facts(ours), facts(theirs));
  });
  const read = (slot) => ({ to: contract, data: `0x${word(slot)}` });
  await same('a call', 'eth_call', read(40_364), 'latest');
  await same('a call at an older block', 'eth_call', read(1), half);
  if (lacks.overrides !== undefined) skip(`${name}: a call with overrides`, lacks.overrides);
  else {
    const state = { [contract]: { stateDiff: { [`0x${word(3)}`]: `0x${word(99)}` } } };
    await same('a call with an override of a slot', 'eth_call', read(3), 'latest', state);
    const code = { [NOBODY]: { code: '0x60215f5260205ff3' } };
    await same('a call with an override of code', 'eth_call', { to: NOBODY }, 'latest', code);
  }
  await check(`${name}: a call that reverts has the same data`, async () => {
    const call = [{ from: RICH, to: contract, data: '0x01020304' }, 'latest'];
    const refused = async (ask) => {
      const error = await ask('eth_call', ...call).then(assert.fail, (thrown) => thrown);
      const data = error.data?.data ?? error.data?.result ?? error.data;
      return options.revertData?.(error) ?? data;
    };
    assert.equal(await refused(lit.ask), '0x01020304');
    assert.equal(await refused(client.ask), '0x01020304');
  });
  const set = { from: RICH, to: contract, data: `0x${word(9)}${word(9)}` };
  for (const [what, call] of [
    ['a transfer', { from: RICH, to: NOBODY, value: '0x1' }],
    ['a write', set],
    ['a deployment', { from: RICH, data: INIT }],
    ['a refund', { from: RICH, to: contract, data: `0x${word(2)}${word(0)}` }],
  ])
    if (what === 'a refund' && lacks.refunds !== undefined) skip(`${name}: estimate of ${what}`, lacks.refunds);
    else if (!roughEstimates) await same(`estimate of ${what}`, 'eth_estimateGas', call);
    else
      await check(
        `${name}: estimate of ${what}, at most 3 % below the client's, whose search stops earlier`,
        async () => {
          const [ours, theirs] = (await Promise.all([lit, client].map(({ ask }) => ask('eth_estimateGas', call)))).map(
            Number,
          );
          assert(ours <= theirs && theirs <= ours * 1.03, `${ours}, ${theirs}`);
        },
      );
  await same('an access list', 'eth_createAccessList', { ...set, gas: '0x493e0' }, 'latest');

  for (const [number, full] of [
    ['latest', true],
    [half, false],
    ['0x1', true],
  ])
    await same(`block ${number}${full ? ' with transactions' : ''}`, 'eth_getBlockByNumber', number, full);
  const { receipt } = made.at(-1);
  await same('a block by hash', 'eth_getBlockByHash', receipt.blockHash, true);
  for (const { hash, receipt: own } of made) {
    await same(`transaction of type ${Number(own.type ?? 0)}`, 'eth_getTransactionByHash', hash);
    if (own.status === '0x0' && options.failedRefused !== undefined)
      await fault(
        name,
        'the receipt of a transaction that failed is not that of its receipts root: it is refused',
        () => assert.rejects(lit.ask('eth_getTransactionReceipt', hash), options.failedRefused),
      );
    else await same(`receipt of type ${Number(own.type ?? 0)}`, 'eth_getTransactionReceipt', hash);
  }
  await same('receipts of a block by number', 'eth_getBlockReceipts', receipt.blockNumber);
  await same('all logs', 'eth_getLogs', { fromBlock: '0x1', toBlock: 'latest' });
  const topics = [[`0x${word(2)}`, `0x${word(40_364)}`]];
  await same('logs by address and topic', 'eth_getLogs', {
    fromBlock: '0x1',
    toBlock: 'latest',
    address: contract,
    topics,
  });
  await same('logs of a block by its hash', 'eth_getLogs', { blockHash: receipt.blockHash });
  await check(`${name}: fee history has the ratios and base fees of the blocks`, async () => {
    const answer = await lit.ask('eth_feeHistory', hex(history), 'latest', [50]);
    for (let at = 0; at < history; at++) {
      const block = await client.ask('eth_getBlockByNumber', hex(height - history + 1 + at), false);
      assert.equal(BigInt(answer.baseFeePerGas[at]), BigInt(block.baseFeePerGas));
      assert.equal(answer.gasUsedRatio[at], Number(block.gasUsed) / Number(block.gasLimit));
    }
    assert.equal(answer.reward.length, history);
  });
  const call = { tracer: 'callTracer' };
  await same('callTracer of a write', 'debug_traceTransaction', made[2].hash, call);
  await check(`${name}: a trace of a write ends as its receipt`, async () => {
    const trace = await lit.ask('debug_traceTransaction', made[2].hash, {});
    assert.equal(Number(trace.gas), Number(made[2].receipt.gasUsed));
    assert.equal(trace.failed, false);
  });
  await forkOf(client, { name, network, contract, same });
  return { ...scene, light: lit };
}

/** A fork: its own transactions on top of the client's state. */
async function forkOf(client, { name, network, contract }) {
  const fork = await check(`${name}: a fork opens`, () =>
    open({ chain: { kind: 'devnet', fork: { network, endpoints: [client.url] } } }),
  );
  if (fork === undefined) return;
  const height = Number(await client.ask('eth_blockNumber'));
  await check(`${name}: a fork reads state that the client has`, async () => {
    assert.equal(Number(await fork.ask('eth_blockNumber')), height);
    assert.equal(BigInt(await fork.ask('eth_getStorageAt', contract, hex(40_364), 'latest')), 1n);
    const code = await client.ask('eth_getCode', contract, 'latest');
    assert.equal(await fork.ask('eth_getCode', contract, 'latest'), code);
    assert.equal(await fork.ask('eth_call', { to: contract, data: `0x${word(40_364)}` }, 'latest'), `0x${word(1)}`);
  });
  await check(`${name}: a fork writes on top of it, by an impersonated sender`, async () => {
    await fork.ask('anvil_impersonateAccount', NOBODY);
    await fork.ask('anvil_setBalance', NOBODY, hex(10n ** 18n));
    const data = `0x${word(40_364)}${word(2)}`;
    const hash = await fork.ask('eth_sendTransaction', { from: NOBODY, to: contract, data });
    const receipt = await fork.ask('eth_getTransactionReceipt', hash);
    assert.equal(receipt.status, '0x1');
    assert.equal(Number(receipt.blockNumber), height + 1);
    assert.equal(BigInt(await fork.ask('eth_getStorageAt', contract, hex(40_364), 'latest')), 2n);
    assert.equal(BigInt(await client.ask('eth_getStorageAt', contract, hex(40_364), 'latest')), 1n);
  });
  await check(`${name}: logs of a fork span both chains`, async () => {
    const logs = await fork.ask('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', address: contract });
    const theirs = await client.ask('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', address: contract });
    assert.equal(logs.length, theirs.length + 1);
    assert.deepEqual(
      logs.slice(0, -1).map((log) => log.data),
      theirs.map((log) => log.data),
    );
  });
}

/** The accounts that send: of viem, which each folder has. */
export const accountsOf = (privateKeyToAccount) => [privateKeyToAccount(KEY), privateKeyToAccount(OTHER_KEY)];

/** Waits until the light node names this head of the client, and compares what it says of the state there. */
export async function followed(lit, client, address) {
  const head = await client.ask('eth_getBlockByNumber', 'latest', false);
  await until(`the light node has block ${head.number}`, async () => {
    const block = await lit.ask('eth_getBlockByNumber', 'latest', false);
    if (block.hash !== head.hash) throw new Error(`it has ${block.number} ${block.hash}, the client ${head.hash}`);
    return true;
  });
  assert.equal(
    BigInt(await lit.ask('eth_getBalance', address, 'latest')),
    BigInt(await client.ask('eth_getBalance', address, 'latest')),
  );
}

export { endpoint, NOBODY };
