import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { readFinalized } from '../../src/chain/light/checkpoint.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { ethereum } from '../../src/networks/ethereum.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { attestedScene } from '../support/attested-chain.js';
import { accountAt, devNode, PRICE, stranger } from '../support/dev-node.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import type { Json } from '../support/lie-edits.js';
import { serveBeacon } from '../support/mock-beacon.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const NOTHING = new Uint8Array(4);
const SIGNERS = (count: number) => NOTHING.map((_, i) => (1 << Math.min(8, Math.max(0, count - 8 * i))) - 1);

test('latest is the newest attested block, finalized the one that consensus finalized', async () => {
  const { dev, open, endpoints } = await attestedScene();
  const { ask, reports } = await open();
  for (const [tag, number, level] of [
    ['latest', '0x5', 'attested'],
    ['finalized', '0x3', 'settled'],
    ['safe', '0x3', 'settled'],
  ] as const) {
    expect(await ask('eth_getBlockByNumber', tag, false)).toEqual(await dev.ask('eth_getBlockByNumber', number, false));
    expect(reports.at(-1)).toMatchObject({ level, class: 'proved' });
  }
  const balance = await dev.ask('eth_getBalance', accountAt(0), '0x5');
  expect(await ask('eth_getBalance', accountAt(0), 'latest')).toBe(balance);
  expect(reports.at(-1)).toMatchObject({
    level: 'attested',
    class: 'proved',
    layerOne: { checkpoint: { level: 'checkpoint' } },
  });
  expect(reports.at(-1).layerOne).not.toHaveProperty('behind');
  const asked = endpoints[0]!.seen.length;
  expect(await ask('eth_getBalance', accountAt(0), 'latest')).toBe(balance);
  expect(endpoints[0]!.seen).toHaveLength(asked);
  // The chain of the endpoints is one block ahead of what is attested.
  expect(await dev.number()).toBe(6);
  // Between and below, blocks are linked to one of the two.
  for (const number of ['0x4', '0x1', '0x0']) {
    expect(await ask('eth_getBlockByNumber', number, true)).toEqual(
      await dev.ask('eth_getBlockByNumber', number, true),
    );
    expect(reports.at(-1)).toMatchObject({ level: number === '0x4' ? 'attested' : 'settled' });
  }
  expect(await ask('eth_getBlockByNumber', '0x6', false)).toBeNull();
});

describe('the highest attested slot of all servers counts', () => {
  test.each([
    ['the first withholds it', 0],
    ['the second withholds it', 1],
  ])('%s', async (_, withholding) => {
    const { dev, servers, carry, open, finalized, slotNow } = await attestedScene({ servers: 2 });
    servers[withholding]!.attested = { block: await carry(slotNow() - 5, 4, finalized) };
    const { ask } = await open();
    expect(await ask('eth_blockNumber')).toBe('0x5');
    expect(await ask('eth_getBalance', accountAt(1), 'latest')).toBe(
      await dev.ask('eth_getBalance', accountAt(1), '0x5'),
    );
  });

  test('one cannot answer, or lies', async () => {
    const { servers, open } = await attestedScene({ servers: 2 });
    servers[0]!.beacon.tamper = (path, answer) =>
      path.endsWith('/optimistic_update') ? { status: 503, body: {} } : answer;
    const { ask } = await open();
    expect(await ask('eth_blockNumber')).toBe('0x5');
    servers[0]!.beacon.tamper = (path, answer) => {
      if (!path.endsWith('/optimistic_update')) return answer;
      const body = structuredClone(answer.body) as Json;
      body.data.attested_header.execution.state_root = `0x${'ee'.repeat(32)}`;
      return { ...answer, body };
    };
    const again = await open();
    expect(await again.ask('eth_blockNumber')).toBe('0x5');
  });

  test('it is never taken back to a lower one', async () => {
    const { servers, carry, open, finalized, clock, slotNow } = await attestedScene();
    const { ask } = await open();
    expect(await ask('eth_blockNumber')).toBe('0x5');
    servers[0]!.attested = { block: await carry(slotNow() - 3, 4, finalized) };
    clock.advance(2_000);
    expect(await ask('eth_blockNumber')).toBe('0x5');
  });
});

test('a block that less than two thirds attested is not taken', async () => {
  const { servers, carry, open, finalized, clock, slotNow } = await attestedScene();
  const { ask } = await open();
  expect(await ask('eth_blockNumber')).toBe('0x5');
  clock.advance(3_000);
  const block = await carry(slotNow() - 1, 6, finalized);
  servers[0]!.attested = { block, bits: SIGNERS(21) };
  expect(await ask('eth_blockNumber')).toBe('0x5');
  clock.advance(1_000);
  servers[0]!.attested = { block, bits: SIGNERS(22) };
  expect(await ask('eth_blockNumber')).toBe('0x6');
});

test('the event says how far the newest attested block is behind, and one that is too old is an error', async () => {
  const { open, clock } = await attestedScene();
  const { ask, reports } = await open({}, { latestMaxAgeMs: 20_000 });
  clock.advance(9_000);
  expect(await ask('eth_blockNumber')).toBe('0x5');
  expect(reports.at(-1).layerOne.behind).toBeGreaterThanOrEqual(10);
  clock.advance(20_000);
  await expect(ask('eth_blockNumber')).rejects.toThrow(
    /attested is not reached: the newest attested block is \d+ seconds/,
  );
  // What is final stays so.
  expect((await ask('eth_getBlockByNumber', 'finalized', false)).number).toBe('0x3');
});

test('another attested head is a reorg: the event says so, and nothing at finalized moves', async () => {
  const { dev, servers, carry, open, finalized, clock, slotNow } = await attestedScene();
  const { ask, reports } = await open();
  const before = await ask('eth_getBlockByNumber', 'latest', false);
  const final = await ask('eth_getBlockByNumber', 'finalized', false);
  // The devnet drops blocks 5 and 6, and makes others, of another state.
  await dev.ask('anvil_rollback', 2);
  await dev.transfer(0, { nonce: 0, chainId: 1337, to: stranger('aa'), value: 5n, ...PRICE });
  clock.advance(3_000);
  servers[0]!.attested = { block: await carry(slotNow() - 1, 5, finalized) };
  const after = await ask('eth_getBlockByNumber', 'latest', false);
  expect(after).toEqual(await dev.ask('eth_getBlockByNumber', '0x5', false));
  expect(after.hash).not.toBe(before.hash);
  expect(reports.at(-1)).toMatchObject({ takenBack: { from: { hash: before.hash }, to: { hash: after.hash } } });
  expect(await ask('eth_getBalance', stranger('aa'), 'latest')).toBe('0x5');
  expect(await ask('eth_getBlockByNumber', 'finalized', false)).toEqual(final);
});

test('endpoints that lie about what is attested are not believed', async () => {
  const { dev, endpoints, open } = await attestedScene({ endpoints: 2 });
  endpoints[0]!.options.tamper = ({ method }, result) => {
    if (method.startsWith('eth_getBlockBy')) return { ...(result as object), stateRoot: `0x${'ee'.repeat(32)}` };
    return method === 'eth_getProof' ? { ...(result as object), balance: '0x1' } : result;
  };
  const { ask } = await open();
  expect(await ask('eth_getBlockByNumber', 'latest', false)).toEqual(
    await dev.ask('eth_getBlockByNumber', '0x5', false),
  );
  expect(await ask('eth_getBalance', accountAt(0), 'latest')).toBe(
    await dev.ask('eth_getBalance', accountAt(0), '0x5'),
  );
});

test('from Gloas on the attested payload is that of the parent, and its number is in its header', async () => {
  const { dev, open } = await attestedScene({ epochs: { gloas: 0 } });
  const { ask } = await open();
  for (const [tag, number] of [
    ['latest', '0x5'],
    ['finalized', '0x3'],
  ])
    expect(await ask('eth_getBlockByNumber', tag, false)).toEqual(await dev.ask('eth_getBlockByNumber', number, false));
});

test('calls, estimates, receipts and logs are those of the chain', async () => {
  const { dev, servers, carry, open, finalized, clock, slotNow } = await attestedScene();
  const hash = await dev.transfer(0, { nonce: 0, chainId: 1337, to: stranger('aa'), value: 5n, ...PRICE });
  clock.advance(3_000);
  servers[0]!.attested = { block: await carry(slotNow() - 1, 7, finalized) };
  const { ask } = await open();
  const call = { from: accountAt(1), to: stranger('bb'), value: '0x1' };
  for (const [method, ...params] of [
    ['eth_getTransactionReceipt', hash],
    ['eth_getTransactionByHash', hash],
    ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }],
    ['eth_call', call, 'latest'],
    ['eth_estimateGas', call],
    ['eth_getTransactionCount', accountAt(0), 'latest'],
    ['eth_getBlockReceipts', '0x7'],
    ['debug_traceTransaction', hash, { tracer: 'callTracer' }],
    ['eth_chainId'],
  ] as [string, ...unknown[]][])
    expect(await ask(method, ...params), method).toEqual(await dev.ask(method, ...params));
});

test('prices are those of the newest blocks, and a preview and a diagnosis know them', async () => {
  const { dev, servers, carry, open, finalized, clock, slotNow } = await attestedScene();
  await dev.transfer(0, { nonce: 0, chainId: 1337, to: stranger('aa'), value: 5n, ...PRICE });
  clock.advance(3_000);
  servers[0]!.attested = { block: await carry(slotNow() - 1, 7, finalized) };
  const { ask, node } = await open();
  const tip = PRICE.maxPriorityFeePerGas;
  expect(BigInt(await ask('eth_maxPriorityFeePerGas'))).toBe(tip);
  // The base fee of the devnet is 7 wei and does not fall.
  expect(BigInt(await ask('eth_gasPrice'))).toBe(7n + tip);
  const history = await ask('eth_feeHistory', 2, 'latest', [50]);
  expect(history.reward.map(([reward]: [Hex]) => BigInt(reward))).toEqual([0n, tip]);
  const call = { from: accountAt(1), to: stranger('bb'), value: '0x1' } as const;
  const preview = await node.previewTransaction(call);
  expect(preview.calls[0]).toMatchObject({ status: 'success', fee: { gasLimit: '0x5208' } });
  expect(BigInt((preview.calls[0] as Json).fee.priorityFeePerGas)).toBe(tip);
  const diagnosis = await node.diagnoseTransaction({
    ...call,
    maxFeePerGas: '0x1',
    maxPriorityFeePerGas: '0x0',
  } as never);
  const checks = new Map(diagnosis.checks.map((one) => [one.check, one.outcome]));
  expect(checks.get('fee-cap')).toBe('fails');
  for (const ofRollups of ['base-fee', 'pool-price', 'block-price', 'line-counts'] as const)
    expect(checks.has(ofRollups)).toBe(false);
  await expect(node.explainEstimate([call])).rejects.toThrow(/needs a rollup/);
});

test('a fork begins with the attested block', async () => {
  const { dev, network, servers, endpoints, genesis, clock } = await attestedScene();
  const fork = await devNode({
    clock,
    chain: {
      kind: 'devnet',
      fork: {
        network,
        endpoints: endpoints.map(({ url }) => url),
        layerOne: { consensus: servers.map(({ url }) => url), checkpoint: { root: bytesToHex(genesis.root) } },
      },
    },
  });
  expect(await fork.number()).toBe(5);
  const balance = await dev.ask<Hex>('eth_getBalance', accountAt(0), '0x5');
  expect(await fork.ask('eth_getBalance', accountAt(0), 'latest')).toBe(balance);
  const hash = await fork.transfer(1, { nonce: 0, chainId: 1337, to: accountAt(0), value: 9n, ...PRICE });
  expect(await fork.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', blockNumber: '0x6' });
  expect(BigInt(await fork.ask('eth_getBalance', accountAt(0), 'latest'))).toBe(BigInt(balance) + 9n);
  await expect(fork.ask('linea_getProof', accountAt(0), [], 'latest')).rejects.toThrow(/needs a rollup/);
});

test('a long chain: older blocks by their hashes in the state and by links, logs of all of it in bounded requests', async () => {
  const blocks = 1_200;
  const { dev, open, endpoints, servers, carry, finalized, clock, slotNow } = await attestedScene({ blocks });
  const fields = { to: token, data: transferCalldata(stranger('77'), 5n), gasLimit: 100_000n, ...PRICE };
  await dev.ask('eth_sendRawTransaction', signTransaction(0, { nonce: 0, chainId: 1337, ...fields }));
  clock.advance(3_000);
  servers[0]!.attested = { block: await carry(slotNow() - 1, blocks + 1, finalized) };
  const { ask, reports } = await open();
  const [{ seen }] = endpoints as [(typeof endpoints)[0]];
  await ask('eth_getBlockByNumber', 'finalized', false);
  seen.length = 0;
  const old = '0x14';
  expect(await ask('eth_getBlockByNumber', old, false)).toEqual(await dev.ask('eth_getBlockByNumber', old, false));
  expect(reports.at(-1)).toMatchObject({ level: 'settled', class: 'proved' });
  // The hash is in the state after the finalized block (EIP-2935): no header between the two is fetched. The last is the head.
  expect(seen.flat().map(({ method }) => method)).toEqual(['eth_getProof', 'eth_getBlockByHash', 'eth_getBlockByHash']);
  seen.length = 0;
  const filter = { fromBlock: '0x0', toBlock: 'latest' };
  const logs = await ask('eth_getLogs', filter);
  expect(logs).toHaveLength(1);
  expect(logs).toEqual(await dev.ask('eth_getLogs', filter));
  // 64 headers with one request.
  expect(seen.length).toBeLessThan(blocks / 16);
  expect(Math.max(...seen.map(({ length }) => length))).toBeLessThanOrEqual(64);
});

test('methods of a rollup are not there, and say what is', async () => {
  const { open } = await attestedScene();
  const { ask, node } = await open();
  for (const method of ['linea_estimateGas', 'l2_estimateGas', 'linea_getProof', 'l2_getProof'])
    await expect(ask(method, { to: stranger('aa') })).rejects.toMatchObject({
      code: 4200,
      message: expect.stringMatching(/needs a rollup, and own layer 1 is a layer 1: /),
    });
  await expect(ask('linea_getTransactionExclusionStatusV1', `0x${'11'.repeat(32)}`)).rejects.toThrow(/needs a rollup/);
  expect(node.info).not.toHaveProperty('rollupAddress');
  expect(node.info).not.toHaveProperty('hashScheme');
});

test('what a layer 1 cannot use is refused with the member', async () => {
  const { open, endpoints } = await attestedScene();
  const url = endpoints[0]!.url;
  await expect(open({ execution: [url] })).rejects.toMatchObject({
    code: 'INVALID_PARAMETER',
    details: { parameter: 'layerOne.execution' },
  });
  await expect(open({}, { layerOne: [url] })).rejects.toMatchObject({ details: { parameter: 'layerOne' } });
  await expect(open({}, { layerOne: undefined as never, level: 'attested' })).rejects.toMatchObject({
    details: { parameter: 'level' },
  });
});

test('without consensus servers the head is that of the endpoints', async () => {
  const { open, dev } = await attestedScene({ endpoints: 2 });
  const { ask, reports } = await open({}, { layerOne: undefined as never, level: 'plain' });
  expect(await ask('eth_blockNumber')).toBe(await dev.ask('eth_blockNumber'));
  expect(reports.at(-1)).toMatchObject({ level: 'plain' });
  await expect(ask('eth_getBlockByNumber', 'finalized', false)).rejects.toThrow(/layerOne names no layer 1/);
});

describe('recorded on Ethereum mainnet', () => {
  const FULU = 'consensus/fulu-2026';
  const BLOCK = 'layer-one/blocks/block_0x17a2d23.json.gz';

  test.skipIf(!hasFixture(BLOCK))('the block that consensus finalized is answered, whole and proved', async () => {
    const [bootstrap, updates, finality, optimistic] = ['bootstrap', 'updates', 'finality', 'optimistic'].map((name) =>
      fixtureJson<Json>(`${FULU}/lc_${name}.json`),
    );
    const block = fixtureJson<Json>(BLOCK);
    const beacon = await serveBeacon({
      l1: {
        async request({ params: [path] = [] }: { params?: readonly unknown[] }) {
          const found = Object.entries({ bootstrap, updates, finality, optimistic }).find(([name]) =>
            String(path).includes(`/${name}`),
          );
          return { status: 200, body: found![1] };
        },
      } as never,
    });
    onTestFinished(() => beacon.close());
    const provider = {
      request: async ({ method, params: [named] }: { method: string; params: readonly unknown[] }) =>
        method.startsWith('eth_getBlockBy') && (named === block.hash || named === block.number) ? block : null,
    };
    const clock = new ShiftedClock();
    const slot = Number(optimistic.data.signature_slot);
    clock.advance((1_606_824_023 + 12 * slot) * 1000 - clock.now());
    const { beacon: header } = bootstrap.data.header;
    const root = readFinalized({ finalized: true, data: { header: { message: header } } }).root;
    const node = await createInlineNode({
      clock,
      chain: {
        kind: 'light',
        network: ethereum,
        endpoints: [{ provider: provider as never, name: 'recorded' }],
        layerOne: { consensus: [beacon.url], checkpoint: { root: bytesToHex(root) } },
      },
    });
    const reports: Json[] = [];
    node.on('answer', (report) => void reports.push(report));
    const ask = (method: string, ...params: unknown[]) => node.request({ method, params } as never) as Promise<Json>;
    onTestFinished(() => node.close());
    for (const isWhole of [false, true]) {
      const answer = await ask('eth_getBlockByNumber', 'finalized', isWhole);
      expect(answer).toMatchObject({ hash: block.hash, stateRoot: block.stateRoot, number: block.number });
      expect(answer.transactions).toEqual(
        block.transactions.map(({ hash }: Json) => (isWhole ? expect.objectContaining({ hash }) : hash)),
      );
      expect(reports.at(-1)).toMatchObject({ class: 'proved', level: 'settled' });
    }
  });
});
