import { describe, expect, it } from 'vitest';
import { simulateArea, simulateLightArea } from '../../conformance/execution-apis.js';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { GenesisJson } from '../../src/chain/devnet/state/genesis-json.js';
import { logsBloom } from '../../src/ethereum/receipt.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { runArea } from '../support/area-checks.js';
import { accountAt, type DevNode, devNode, PRICE, stranger, word } from '../support/dev-node.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';

interface Call {
  readonly returnData: Hex;
  readonly logs: readonly { address: Hex; topics: Hex[]; data: Hex; logIndex: Hex; blockHash: Hex }[];
  readonly gasUsed: Hex;
  readonly maxUsedGas: Hex;
  readonly status: Hex;
  readonly error?: { readonly code: number; readonly data?: Hex };
}
type Simulated = Readonly<Record<string, Hex>> & { readonly calls: readonly Call[] };

const simulate = ({ ask }: DevNode, blockStateCalls: readonly object[], options: object = {}) =>
  ask<Simulated[]>('eth_simulateV1', { blockStateCalls, ...options }, 'latest');
const refusal = (dev: DevNode, blocks: readonly object[], options?: object) =>
  simulate(dev, blocks, options).then(
    () => 'went on',
    (error: { code: number }) => error.code,
  );

const [CONTRACT, READER] = [stranger('c1'), stranger('c2')];
/** Gives the balance of the address in the call data: CALLDATALOAD(0), BALANCE, MSTORE, RETURN. */
const BALANCE_OF: Hex = '0x6000353160005260206000f3';
/** Gives the hash of the block in the call data. */
const HASH_OF: Hex = '0x6000354060005260206000f3';
const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`;
const padded = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;

describe.skipIf(!hasFixture('execution-apis/chain.rlp'))('eth_simulateV1 of the execution-apis suite', () => {
  it('answers as recorded', async () => {
    // 54 files and the count; in the one left over, a log index counts logs of calls that were reverted.
    const { passed, problems } = await runArea(simulateArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(55);
  });

  it('answers as recorded through a light node', async () => {
    const { passed, problems } = await runArea(simulateLightArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(55);
  });
});

describe('a simulated block', () => {
  it('has the roots of the block that is sealed afterwards, waiting edits included', async () => {
    const dev = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
    const { ask, transfer } = dev;
    await ask('anvil_setBalance', stranger('51'), '0x3039');
    await ask('evm_mine');
    await ask('anvil_setBalance', stranger('52'), '0x3039');
    const data: Hex = `0xa9059cbb${padded(stranger('61')).slice(2)}${word(7n).slice(2)}`;
    const fees = {
      maxFeePerGas: hex(PRICE.maxFeePerGas),
      maxPriorityFeePerGas: hex(PRICE.maxPriorityFeePerGas),
    };
    const { timestamp } = await ask<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
    const time = Number(timestamp) + 9;
    const calls = [
      { from: accountAt(0), to: stranger('11'), value: '0x1', gas: '0x5208', ...fees },
      { from: accountAt(0), to: TEST_TOKEN, input: data, gas: '0x186a0', ...fees },
    ];
    const [simulated] = await simulate(dev, [{ blockOverrides: { time: hex(time) }, calls }], { validation: true });
    await transfer(0, { nonce: 0 });
    await transfer(0, { nonce: 1, to: TEST_TOKEN, value: 0n, data, gasLimit: 100_000n });
    await ask('evm_setNextBlockTimestamp', time);
    await ask('evm_mine');
    const sealed = await ask<Record<string, unknown>>('eth_getBlockByNumber', 'latest', false);
    const same = [
      'number',
      'timestamp',
      'parentHash',
      'stateRoot',
      'receiptsRoot',
      'logsBloom',
      'gasUsed',
      'gasLimit',
      'miner',
    ];
    for (const name of [...same, 'baseFeePerGas']) expect([name, simulated![name]]).toEqual([name, sealed[name]]);
    expect(sealed.transactions).toHaveLength(2);
  });

  it('leaves the chain as it was', async () => {
    const dev = await devNode();
    const { ask, transfer } = dev;
    const before = await ask('eth_getProof', CONTRACT, [word(0n)], 'latest');
    const override = { [CONTRACT]: { balance: '0x5', code: BALANCE_OF, stateDiff: { [word(0n)]: word(1n) } } };
    const [first] = await simulate(dev, [{ stateOverrides: override }, {}]);
    expect(await ask('eth_getProof', CONTRACT, [word(0n)], 'latest')).toEqual(before);
    expect(await ask('eth_blockNumber')).toBe('0x0');
    const { stateRoot } = await ask<{ stateRoot: Hex }>('eth_getBlockByNumber', 'latest', false);
    expect(first!.stateRoot).not.toBe(stateRoot);
    await transfer(0, { nonce: 0 });
    expect(await ask('eth_blockNumber')).toBe('0x1');
    const absent = { balance: '0x0', storageProof: [{ value: '0x0' }] };
    expect(await ask('eth_getProof', CONTRACT, [word(0n)], 'latest')).toMatchObject(absent);
  });

  it('stands on the one before it: state, hash and number, gaps filled', async () => {
    const dev = await devNode();
    const head = await dev.ask<{ hash: Hex; timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
    const ask = (number: number) => ({ to: READER, input: word(BigInt(number)) });
    const blocks = await simulate(dev, [
      { stateOverrides: { [READER]: { code: HASH_OF } } },
      { blockOverrides: { number: '0x4' }, calls: [ask(0), ask(1), ask(3), ask(4)] },
    ]);
    expect(blocks.map(({ number }) => number)).toEqual(['0x1', '0x2', '0x3', '0x4']);
    expect(blocks.map(({ parentHash }) => parentHash)).toEqual([head.hash, ...blocks.slice(0, 3).map((b) => b.hash)]);
    expect(blocks[3]!.calls.map((call) => call.returnData)).toEqual([
      head.hash,
      blocks[0]!.hash,
      blocks[2]!.hash,
      word(0n),
    ]);
    expect(Number(blocks[3]!.timestamp)).toBe(Number(head.timestamp) + 4);
  });

  it('pays withdrawals, and tells the beacon root to its own calls', async () => {
    const dev = await devNode();
    const address = stranger('71');
    const withdrawals = [{ index: '0x0', validatorIndex: '0x1', address, amount: '0x3' }];
    const [paid, after] = await simulate(dev, [
      { blockOverrides: { withdrawals, beaconRoot: word(5n) } },
      { stateOverrides: { [READER]: { code: BALANCE_OF } }, calls: [{ to: READER, input: padded(address) }] },
    ]);
    expect(paid).toMatchObject({ withdrawals, parentBeaconBlockRoot: word(5n) });
    expect(paid!.withdrawalsRoot).not.toBe(after!.withdrawalsRoot);
    expect(after!.calls[0]!.returnData).toBe(word(3n * 10n ** 9n));
  });
});

describe('transfers of ether', () => {
  // CALLCODE with 5 wei to 0xd1; CALL with 7 to 0xd2; CREATE with 3; LOG0; SELFDESTRUCT to 0xd3.
  const code: Hex = '0x6000600060006000600560d15af2506000600060006000600760d25af150600060006003f05060006000a060d3ff';
  const from = accountAt(0);
  const at = (byte: string): Hex => `0x${byte.padStart(40, '0')}`;

  it('leave logs in their places, which no bloom holds', async () => {
    const dev = await devNode();
    const stateOverrides = { [CONTRACT]: { balance: '0x64', code }, [READER]: { code: BALANCE_OF } };
    const read = (address: Hex) => ({ to: READER, input: padded(address) });
    const [block, after] = await simulate(
      dev,
      [
        { stateOverrides, calls: [{ from, to: CONTRACT, value: '0xb' }] },
        { calls: [read(at('d1')), read(at('d2')), read(at('d3'))] },
      ],
      { traceTransfers: true },
    );
    const { logs } = block!.calls[0]!;
    const ether = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
    expect(logs.map(({ address }) => address)).toEqual([ether, ether, ether, CONTRACT, ether]);
    expect(logs.map(({ logIndex }) => Number(logIndex))).toEqual([0, 1, 2, 3, 4]);
    expect(logs.every(({ blockHash }) => blockHash === block!.hash)).toBe(true);
    const moved = logs.filter(({ address }) => address === ether).map(({ topics, data }) => [...topics.slice(1), data]);
    const contract = padded(CONTRACT);
    expect(moved).toEqual([
      [padded(from), contract, word(11n)],
      [contract, padded(at('d2')), word(7n)],
      [contract, expect.any(String), word(3n)],
      [contract, padded(at('d3')), word(101n)],
    ]);
    expect(after!.calls.map(({ returnData }) => BigInt(returnData))).toEqual([0n, 7n, 101n]);
    const bare = { address: hexToBytes(CONTRACT), topics: [], data: new Uint8Array(0) };
    expect(block!.logsBloom).toBe(bytesToHex(logsBloom([bare])));
  });

  it('leave none without the flag, nor when they are taken back', async () => {
    const dev = await devNode();
    const call = { from, to: CONTRACT, value: '0xb' };
    const stateOverrides = { [CONTRACT]: { balance: '0x64', code } };
    const [plain] = await simulate(dev, [{ stateOverrides, calls: [call] }]);
    expect(plain!.calls[0]!.logs.map(({ address }) => address)).toEqual([CONTRACT]);
    // The same code, and a REVERT in the place of SELFDESTRUCT.
    const reverting = { [CONTRACT]: { balance: '0x64', code: `${code.slice(0, -6)}60006000fd` } };
    const [reverted] = await simulate(dev, [{ stateOverrides: reverting, calls: [call] }], { traceTransfers: true });
    expect(reverted!.calls[0]).toMatchObject({ status: '0x0', logs: [], error: { code: 3, data: '0x' } });
  });
});

describe('a simulation that is refused', () => {
  const from = accountAt(0);
  const fees = { maxFeePerGas: '0x3b9aca00' };
  const sent = { from, to: stranger('11'), ...fees };

  it.each([
    ['a nonce below the account’s', -38010, { calls: [sent, { ...sent, nonce: '0x0' }] }, { validation: true }],
    ['a nonce above the account’s', -38011, { calls: [{ ...sent, nonce: '0x5' }] }, { validation: true }],
    ['a price below the base fee', -38012, { calls: [{ from, to: stranger('11') }] }, { validation: true }],
    ['too little gas', -38013, { calls: [{ ...sent, gas: '0x5207' }] }, {}],
    ['funds that do not reach', -38014, { calls: [{ from: stranger('12'), to: from, value: '0x1' }] }, {}],
    ['more gas than the block has', -38015, { blockOverrides: { gasLimit: '0x5208' }, calls: [{ gas: '0x5209' }] }, {}],
    ['a number that does not rise', -38020, { blockOverrides: { number: '0x0' } }, {}],
    ['a time that does not rise', -38021, { blockOverrides: { time: '0x1' } }, {}],
    ['init code that is too long', -38025, { calls: [{ from, input: `0x${'00'.repeat(49_153)}` }] }, {}],
    ['a number too far away', -38026, { blockOverrides: { number: '0x101' } }, {}],
    ['a tip above the price', -32602, { calls: [{ ...sent, maxPriorityFeePerGas: '0x3b9aca01' }] }, {}],
    ['another chain', -32602, { calls: [{ ...sent, chainId: '0x1' }] }, {}],
    [
      'blobs on a network without them',
      -32602,
      { calls: [{ ...sent, blobVersionedHashes: [`0x01${'00'.repeat(31)}`] }] },
      {},
    ],
    ['an unknown block override', -32602, { blockOverrides: { coinbase: sent.to } }, {}],
    ['an unknown state override', -32602, { stateOverrides: { [CONTRACT]: { kode: '0x' } } }, {}],
    ['a difficulty after the merge', -32602, { blockOverrides: { difficulty: '0x0' } }, {}],
    ['both forms of storage', -32000, { stateOverrides: { [CONTRACT]: { state: {}, stateDiff: {} } } }, {}],
  ])('for %s: %i', async (_what, code, block, options) => {
    const dev = await devNode();
    expect(await refusal(dev, [block], options)).toBe(code);
  });

  it('has a reason, and the rule among its details', async () => {
    const dev = await devNode();
    await expect(simulate(dev, [{ blockOverrides: { number: '0x101' } }])).rejects.toMatchObject({
      reason: 'SIMULATION_REFUSED',
      details: { rule: 'too-many-blocks' },
    });
  });

  it('not for overrides that are null', async () => {
    const dev = await devNode();
    const hashes = async (block: object) => (await simulate(dev, [block])).map(({ hash }) => hash);
    const plain = await hashes({});
    for (const block of [
      { blockOverrides: null, stateOverrides: null, calls: null },
      { blockOverrides: { number: null, feeRecipient: null } },
      { stateOverrides: { [CONTRACT]: null } },
    ])
      expect(await hashes(block)).toEqual(plain);
  });

  it('for what blobs cost only with validation, if the call offers nothing for them', async () => {
    const genesis = fixtureJson<GenesisJson>('tracing/scenarios/genesis.json');
    const dev = await devNode({ chain: { kind: 'devnet', genesis, mining: 'manual' } });
    const blobs = { blobVersionedHashes: [`0x01${'00'.repeat(31)}`] };
    const expensive = { blobBaseFee: `0x${(10n ** 30n).toString(16)}` };
    const poor = { from: stranger('12'), to: stranger('11') };
    for (const call of [
      { ...poor, ...blobs },
      { ...sent, ...blobs, maxFeePerBlobGas: '0x0' },
    ]) {
      const [block] = await simulate(dev, [{ blockOverrides: expensive, calls: [call] }]);
      expect(block!.calls).toMatchObject([{ status: '0x1' }]);
      // As geth: an offer is checked, and with validation so is none.
      const offer = { ...call, maxFeePerBlobGas: '0x1' };
      if ('maxFeePerGas' in call)
        expect(await refusal(dev, [{ blockOverrides: expensive, calls: [offer] }])).toBeLessThan(0);
    }
    const validated = await refusal(dev, [{ calls: [{ ...sent, ...blobs }] }], { validation: true });
    expect(validated).toBeLessThan(0);
  });

  it('for no block, too many, and one that is not there', async () => {
    const dev = await devNode();
    expect(await refusal(dev, [])).toBe(-32602);
    expect(await refusal(dev, Array(257).fill({}))).toBe(-38026);
    await expect(dev.ask('eth_simulateV1', { blockStateCalls: [{}] }, '0x9')).rejects.toMatchObject({ code: -32000 });
    const blocks = await simulate(dev, [{ blockOverrides: { number: '0x100' } }]);
    expect(blocks).toHaveLength(256);
  });
});

it('gives a call the gas that the calls before it have left of the node’s own cap', async () => {
  const dev = await devNode();
  const calls = Array(2).fill({ to: stranger('11') });
  const [block] = await simulate(dev, [{ calls }], { returnFullTransactions: true });
  const { transactions } = block as unknown as { transactions: { gas: Hex; type: Hex }[] };
  expect(transactions.map(({ gas }) => Number(gas))).toEqual([50_000_000, 50_000_000 - 21_000]);
  expect(transactions.map(({ type }) => type)).toEqual(['0x2', '0x2']);
});
