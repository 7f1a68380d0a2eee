import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { FORK, hashOfJson, FORKING as network } from '../support/amsterdam.js';
import { accountAt, type DevNode, devNode, KeptStore, PRICE, stranger, word } from '../support/dev-node.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const chain = { kind: 'devnet', network, mining: 'manual' } as const;

interface Header extends Record<string, unknown> {
  readonly hash: Hex;
  readonly number: Hex;
  readonly gasUsed: Hex;
  readonly timestamp: Hex;
  readonly blockAccessListHash?: Hex;
  readonly slotNumber?: Hex;
}

const blockAt = ({ ask }: DevNode, number: number) =>
  ask<Header>('eth_getBlockByNumber', `0x${number.toString(16)}`, false);

async function mine({ ask }: DevNode, timestamp?: number): Promise<void> {
  await ask('evm_mine', ...(timestamp === undefined ? [] : [timestamp]));
}

/** Two blocks of Osaka and three of Amsterdam, the second with transactions and an edit. */
async function forked(node: DevNode): Promise<void> {
  await node.transfer(0, { nonce: 0 });
  await mine(node);
  await mine(node);
  await mine(node, FORK);
  await node.ask('anvil_setBalance', stranger('77'), '0x5');
  await node.ask('anvil_setStorageAt', stranger('78'), word(3n), word(9n));
  // Gas for a new account: the ether goes to nobody yet.
  await node.transfer(0, { nonce: 1, to: stranger('55'), gasLimit: 300_000n, ...PRICE });
  await node.transfer(1, { nonce: 0, to: accountAt(0), ...PRICE });
  await mine(node);
  await mine(node);
}

test('a devnet forks to Amsterdam by timestamp: headers gain two members, and hash to their hash', async () => {
  const node = await devNode({ chain });
  await forked(node);
  for (const number of [1, 2]) expect(await blockAt(node, number)).not.toHaveProperty('blockAccessListHash');
  for (const number of [0, 1, 2, 3, 4, 5]) {
    const header = await blockAt(node, number);
    expect(hashOfJson(header)).toBe(header.hash);
    if (number >= 3) expect(header.slotNumber).toBe(`0x${number.toString(16)}`);
  }
});

test('the header counts the larger of both kinds of gas, receipts what was paid', async () => {
  const node = await devNode({ chain });
  await forked(node);
  const { hash, gasUsed } = await blockAt(node, 4);
  const receipts = await node.ask<{ gasUsed: Hex; status: Hex; logs: unknown[] }[]>('eth_getBlockReceipts', hash);
  expect(receipts.map(({ status }) => status)).toEqual(['0x1', '0x1']);
  // 21 000 execution gas each; a new account takes 183 600 of state gas besides (docs/spec/amsterdam.md 1, 3).
  expect(receipts.map((receipt) => Number(receipt.gasUsed)).sort((a, b) => a - b)).toEqual([21_000, 204_600]);
  expect(Number(gasUsed)).toBe(183_600);
  expect(receipts.map(({ logs }) => logs.length)).toEqual([1, 1]);
});

test('the list of a block names its edits at index 0', async () => {
  const node = await devNode({ chain });
  await mine(node, FORK);
  await node.ask('anvil_setBalance', stranger('77'), '0x5');
  await node.ask('anvil_setNonce', stranger('77'), '0x2');
  await node.ask('anvil_setCode', stranger('77'), '0x6001');
  await node.ask('anvil_setStorageAt', stranger('77'), word(3n), word(9n));
  await mine(node);
  const edited = await blockAt(node, 2);
  const parent = await blockAt(node, 1);
  const list = emptyBlockList(parent, edited);
  const int = (value: number) => (value === 0 ? '0x' : `0x${value.toString(16)}`);
  list.push([
    stranger('77'),
    [[int(3), [[int(0), int(9)]]]],
    [],
    [[int(0), int(5)]],
    [[int(0), int(2)]],
    [[int(0), '0x6001']],
  ]);
  expect(edited.blockAccessListHash).toBe(hashOfList(list));
  expect(parent.blockAccessListHash).toBe(hashOfList(emptyBlockList(await blockAt(node, 0), parent)));
});

const BEACON_ROOTS = '0x000f3df6d732807ef1319fb7b8bb8522d0beac02';
const HISTORY = '0x0000f90827f1c53a10cb7a02335b175320002935';

type Item = string | Item[];

/** What a block without transactions accesses, from the texts of the EIPs: 4788, 2935, and four queues that read slots 0 to 3. */
function emptyBlockList(parent: Header, block: Header): Item[] {
  const int = (value: number | bigint) => (BigInt(value) === 0n ? '0x' : `0x${hex(BigInt(value).toString(16))}`);
  const time = Number(block.timestamp);
  const queues = [
    '0x00000961ef480eb55e80d19ad83579a64c007002',
    '0x000064d678505ad48f8ccb093bc65613800e8282',
    '0x0000bbddc7ce488642fb579f8b00f3a590007251',
    '0x0000bff46984e3725691fa540a8c7589300d8282',
  ];
  // The root of the beacon block is zero on a devnet, so its slot is read alone.
  return [
    ...queues.map((address): Item => [address, [], [0, 1, 2, 3].map(int), [], [], []]),
    [HISTORY, [[int((Number(block.number) - 1) % 8191), [['0x', int(BigInt(parent.hash))]]]], [], [], [], []],
    [BEACON_ROOTS, [[int(time % 8191), [['0x', int(time)]]]], [int((time % 8191) + 8191)], [], [], []],
  ];
}

const hex = (digits: string) => (digits.length % 2 === 0 ? digits : `0${digits}`);

function hashOfList(list: Item[]): Hex {
  const bytes = (item: Item): unknown =>
    Array.isArray(item) ? item.map(bytes) : Buffer.from(hex(item.slice(2)), 'hex');
  // By address; the coinbase is not loaded without a transaction.
  const sorted = [...list].sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
  return bytesToHex(keccak_256(RLP.encode(bytes(sorted) as Parameters<typeof RLP.encode>[0])));
}

test('blocks of both forks replay, also after reopening, and on an import of the file', async () => {
  const store = new KeptStore();
  const node = await devNode({ chain, store });
  await forked(node);
  const headers = await Promise.all([0, 1, 2, 3, 4, 5].map((number) => blockAt(node, number)));
  const file = await node.node.exportChain();
  const traces = await node.ask('debug_traceBlockByNumber', '0x4', { tracer: 'callTracer' });
  await node.node.close();

  const again = await devNode({ chain, store });
  const other = await devNode({ chain, store: new KeptStore() });
  await other.node.importChain(file);
  for (const opened of [again, other]) {
    expect(await Promise.all([0, 1, 2, 3, 4, 5].map((number) => blockAt(opened, number)))).toEqual(headers);
    expect(await opened.ask('debug_traceBlockByNumber', '0x4', { tracer: 'callTracer' })).toEqual(traces);
    expect(await opened.ask('debug_traceBlockByNumber', '0x1', { tracer: 'callTracer' })).toHaveLength(1);
    await mine(opened);
    expect(await blockAt(opened, 6)).toHaveProperty('blockAccessListHash');
  }
});

test('blocks that one devnet made are checked and taken over by another as RLP; a changed list hash is refused', async () => {
  const node = await devNode({ chain });
  await node.transfer(0, { nonce: 0 });
  await mine(node, FORK);
  await node.transfer(1, { nonce: 0, to: stranger('55'), gasLimit: 300_000n });
  await mine(node);
  const blocks = await Promise.all(['0x1', '0x2'].map((number) => node.ask<Hex>('debug_getRawBlock', number)));
  const importBlocks = Buffer.from(blocks.map((block) => block.slice(2)).join(''), 'hex');
  const other = await devNode({ chain: { ...chain, importBlocks: new Uint8Array(importBlocks) } });
  expect(await blockAt(other, 2)).toEqual(await blockAt(node, 2));

  const [header, ...body] = RLP.decode(Buffer.from(blocks[0]!.slice(2), 'hex')) as [Uint8Array[], ...Uint8Array[]];
  header[21] = header[21]!.map((byte) => byte ^ 1);
  const changed = RLP.encode([header, ...body]);
  await expect(createInlineNode({ chain: { ...chain, importBlocks: changed } })).rejects.toMatchObject({
    code: 'BLOCK_INVALID',
    details: { what: 'blockAccessListHash' },
  });
});

test('a block whose gas limit is too low for its list is not made', async () => {
  const node = await devNode({ chain });
  await mine(node, FORK);
  await node.ask('evm_setBlockGasLimit', '0x9c40');
  const { timestamp } = await node.ask<{ timestamp: Hex }>('eth_getHeaderByNumber', 'latest');
  const [next, later] = [Number(timestamp) + 10, Number(timestamp) + 1_000_000];
  await node.ask('evm_setNextBlockTimestamp', next);
  await expect(node.ask('evm_mine', later)).rejects.toThrow(/its gas limit of 40000 allows 20/);
  await node.ask('evm_setBlockGasLimit', '0x1c9c380');
  await node.ask('evm_mine');
  // The time of a block that was not made is not that of the next one.
  expect(await node.ask('eth_getHeaderByNumber', 'latest')).toMatchObject({
    number: '0x2',
    timestamp: `0x${next.toString(16)}`,
  });
});

test('a preview shows moved ether once: its log is not another transfer', async () => {
  const node = await devNode({ chain });
  await forked(node);
  const [from, to] = [accountAt(0), accountAt(1)];
  const preview = await node.node.previewTransaction({ from, to, value: '0x5' });
  const { transfers } = preview.calls[0]!;
  expect(transfers).toEqual([{ asset: { kind: 'native' }, from, to, amount: '0x5', cause: 'native' }]);
});

test('a simulated block has the sums, slot, access list and state root of the block that is then mined', async () => {
  const node = await devNode({ chain });
  await forked(node);
  const { timestamp, miner } = await node.ask<Header & { miner: Hex }>('eth_getBlockByNumber', 'latest', false);
  const time = `0x${(Number(timestamp) + 2).toString(16)}`;
  const prices = { maxFeePerGas: '0x3b9aca00', maxPriorityFeePerGas: '0x5f5e100' };
  const calls = [
    { from: accountAt(2), to: stranger('56'), value: '0x1', gas: '0x493e0', nonce: '0x0', ...prices },
    { from: accountAt(3), to: accountAt(2), value: '0x1', gas: '0x5208', nonce: '0x0', ...prices },
  ];
  const blockOverrides = { time, feeRecipient: miner };
  const [simulated] = await node.ask<(Header & { calls: { logs: unknown[]; gasUsed: Hex }[] })[]>(
    'eth_simulateV1',
    { blockStateCalls: [{ blockOverrides, calls }], validation: true, traceTransfers: true },
    'latest',
  );
  await node.transfer(2, { nonce: 0, to: stranger('56'), gasLimit: 300_000n, ...PRICE });
  await node.transfer(3, { nonce: 0, to: accountAt(2), ...PRICE });
  await mine(node, Number(time));
  const mined = await blockAt(node, 6);
  for (const member of ['gasUsed', 'slotNumber', 'blockAccessListHash', 'stateRoot', 'receiptsRoot', 'baseFeePerGas'])
    expect(simulated![member]).toBe(mined[member]);
  // One log of the protocol each: nothing is added for what is traced.
  expect(simulated!.calls.map(({ logs }) => logs.length)).toEqual([1, 1]);
});

test('simulated blocks across the fork: the first block of Amsterdam has both members', async () => {
  const node = await devNode({ chain });
  await mine(node);
  const calls = [{ from: accountAt(0), to: accountAt(1), value: '0x1' }];
  const [before, after] = await node.ask<Header[]>(
    'eth_simulateV1',
    { blockStateCalls: [{ calls }, { blockOverrides: { time: `0x${FORK.toString(16)}` }, calls }] },
    'latest',
  );
  expect(before).not.toHaveProperty('slotNumber');
  expect(after!.slotNumber).toBe('0x3');
  expect(hashOfJson(after!)).toBe(after!.hash);
});

test.each([
  ['osaka', ['insufficient balance for transfer']],
  ['amsterdam', []],
] as const)('a creation without the balance for its value, as geth 1.17.10 traces it: %s', async (hardfork, errors) => {
  const { ask } = await devNode({ chain: { kind: 'devnet', network: devnet({ hardfork }) } });
  const to = stranger('cc');
  // CREATE(5, 0, 0), STOP
  const stateOverrides = { [to]: { code: '0x5f5f6005f000' } };
  const call = { from: accountAt(0), to, gas: '0x100000' };
  const trace = await ask<{ calls?: { type: string; error: string }[]; error?: string }>(
    'debug_traceCall',
    call,
    'latest',
    { tracer: 'callTracer', stateOverrides },
  );
  expect(trace).not.toHaveProperty('error');
  expect((trace.calls ?? []).map(({ error }) => error)).toEqual(errors);
});

test('an explained estimate has both kinds of gas: a transfer to a new account pays for that in state gas', async () => {
  const { node } = await devNode({ chain: { kind: 'devnet', network: devnet({ hardfork: 'amsterdam' }) } });
  const from = accountAt(0);
  const { gas } = (await node.explainEstimate([{ from, to: stranger('ce'), value: '0x1' }])).evidence;
  // 12 000 + 3 000 + 6 000, and 120 bytes of 1 530 (docs/spec/amsterdam.md 1 and 3).
  expect([gas.executionGas, gas.stateGas].map(Number)).toEqual([21_000, 183_600]);
  const plain = (await node.explainEstimate([{ from, to: accountAt(1), value: '0x1' }])).evidence.gas;
  expect([plain.executionGas, plain.stateGas].map(Number)).toEqual([21_000, 0]);
});

test.each([
  ['eth_estimateGas', (answer: unknown) => answer as Hex],
  ['linea_estimateGas', (answer: unknown) => (answer as { gasLimit: Hex }).gasLimit],
])(
  '%s within ten minutes before the fork: both limits are named, and the larger one is enough on both sides',
  async (method, limitOf) => {
    const node = await devNode({ chain });
    const reports: AnswerReport[] = [];
    node.node.on('answer', (report: AnswerReport) => void reports.push(report));
    const estimate = async (recipient: string) => {
      const call = { from: accountAt(0), to: token, data: transferCalldata(stranger(recipient), 5n) };
      return limitOf(await node.ask(method, call));
    };
    await mine(node, FORK - 700);
    const early = await estimate('a1');
    expect(reports.at(-1)).not.toHaveProperty('gasLimits');
    await mine(node, FORK - 300);
    const given = await estimate('a1');
    const { gasLimits } = reports.at(-1)!;
    expect(gasLimits).toEqual({ fork: 'amsterdam', timestamp: FORK, before: early, after: given });
    expect(BigInt(given)).toBeGreaterThan(BigInt(early));
    const sent = async (nonce: number, recipient: string, gas: Hex) => {
      const data = transferCalldata(stranger(recipient), 5n);
      const raw = signTransaction(0, { nonce, to: token, data, gasLimit: BigInt(gas), ...PRICE });
      return node.ask<Hex>('eth_sendRawTransaction', raw);
    };
    const status = async (hash: Hex) => (await node.ask<{ status: Hex }>('eth_getTransactionReceipt', hash)).status;
    const before = await sent(0, 'a1', given);
    await mine(node);
    expect(await status(before)).toBe('0x1');
    const after = await sent(1, 'a2', given);
    const tooLow = await sent(2, 'a3', early);
    await mine(node, FORK);
    expect([await status(after), await status(tooLow)]).toEqual(['0x1', '0x0']);
    await estimate('a4');
    expect(reports.at(-1)).not.toHaveProperty('gasLimits');
  },
);
