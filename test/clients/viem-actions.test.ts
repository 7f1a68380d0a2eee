import {
  type Client,
  createClient,
  createPublicClient,
  createWalletClient,
  custom,
  encodeFunctionData,
  erc20Abi,
  http,
  pad,
  parseAbi,
  parseEther,
  rpcSchema,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { estimateGas } from 'viem/linea';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import {
  estimateLineaFees,
  getLineaProof,
  type LineaFees,
  type LineaFeesParameters,
  lineaActions,
  type PlumblineRpcSchema,
  previewActions,
  type TransactionPreview,
} from '../../src/viem.js';
import { type Endpoint, openEndpoint } from './endpoint.js';

const owner = privateKeyToAccount(DEV_ACCOUNTS[0]!.privateKey);
const to = DEV_ACCOUNTS[1]!.address;
const STRANGER = '0x00000000000000000000000000000000000000aa';

describe('what the actions send is what viem sends', () => {
  /** A client that notes what is sent and has an answer ready. */
  function recorder(): { client: Client; sent: unknown[] } {
    const sent: unknown[] = [];
    const request = async (args: unknown) => {
      sent.push(args);
      return { gasLimit: '0x1', baseFeePerGas: '0x7', priorityFeePerGas: '0x2' };
    };
    return { client: createClient({ account: owner.address, transport: custom({ request }) }), sent };
  }

  const cases: [string, LineaFeesParameters][] = [
    ['a transfer', { to, value: 1n }],
    ['of another account', { account: STRANGER, to, value: 10n ** 30n }],
    ['of a local account', { account: owner, to }],
    ['a creation', { data: '0x6000' }],
    [
      'every member',
      { to, data: '0x01', value: 0n, nonce: 0, gas: 30_000n, maxFeePerGas: 20n, maxPriorityFeePerGas: 3n },
    ],
    ['a price', { to, gasPrice: 9n, accessList: [{ address: to, storageKeys: [pad('0x1')] }] }],
    ['a tag', { to, blockTag: 'pending' }],
    ['a number', { to, blockNumber: 300n }],
    ['an override', { to, stateOverride: [{ address: STRANGER, balance: 255n, nonce: 16, code: '0x60ff' }] }],
    [
      'an override of slots, at a block',
      {
        to,
        blockTag: 'latest',
        stateOverride: [
          { address: STRANGER, stateDiff: [{ slot: pad('0x1'), value: pad('0x2') }] },
          { address: to, state: [{ slot: pad('0x3'), value: pad('0x4') }] },
        ],
      },
    ],
  ];

  test.each(cases)('%s', async (_, parameters) => {
    const [ours, theirs] = [recorder(), recorder()];
    const { maxFeePerGas, totalFee, ...fees } = await estimateLineaFees(ours.client, parameters);
    const { account = owner.address } = parameters;
    expect(fees).toEqual(await estimateGas(theirs.client, { ...parameters, account } as never));
    // What JSON makes of it: viem leaves members undefined.
    expect(ours.sent).toEqual(JSON.parse(JSON.stringify(theirs.sent)));
    expect([maxFeePerGas, totalFee]).toEqual([9n, 9n]);
  });

  test('nothing undefined is sent: providers may clone what they are given', async () => {
    const { client, sent } = recorder();
    await estimateLineaFees(client, { to, data: undefined, stateOverride: undefined, blockTag: undefined });
    expect(sent).toStrictEqual([{ method: 'linea_estimateGas', params: [{ from: owner.address, to }] }]);
  });

  test('a negative amount is refused before it is sent', async () => {
    const { client, sent } = recorder();
    await expect(estimateLineaFees(client, { to, value: -1n })).rejects.toMatchObject({ code: 'INVALID_QUANTITY' });
    expect(sent).toEqual([]);
  });
});

describe.each(['EIP-1193', 'HTTP'] as const)('the actions over %s', (way) => {
  let endpoint: Endpoint;
  const open = () =>
    createPublicClient({
      transport: way === 'HTTP' ? http(endpoint.http) : custom(endpoint.node),
      rpcSchema: rpcSchema<PlumblineRpcSchema>(),
    }).extend(lineaActions());

  beforeAll(async () => {
    endpoint = await openEndpoint();
  });
  afterAll(() => endpoint.close());

  test('an estimate gives prices with which a wallet’s transaction succeeds', async () => {
    const client = open();
    const fees = await client.estimateLineaFees({ account: owner, to, value: 1n });
    expectTypeOf(fees).toEqualTypeOf<LineaFees>();
    // 21 000 for a plain transfer, 7 wei is the base fee of these networks.
    expect(fees).toMatchObject({ gasLimit: 21_000n, baseFeePerGas: 7n, maxFeePerGas: 7n + fees.priorityFeePerGas });
    expect(fees.totalFee).toBe(21_000n * (7n + fees.priorityFeePerGas));
    const { evidence } = await endpoint.node.explainEstimate([{ from: owner.address, to, value: '0x1' }]);
    expect(evidence).toMatchObject({ maxFeePerGas: toHex(fees.maxFeePerGas), totalFee: toHex(fees.totalFee) });
    const chain = {
      id: await client.getChainId(),
      name: 'devnet',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [endpoint.http] } },
    };
    const wallet = createWalletClient({ account: owner, chain, transport: http(endpoint.http) });
    const hash = await wallet.sendTransaction({
      to,
      value: 1n,
      gas: fees.gasLimit,
      maxFeePerGas: fees.maxFeePerGas,
      maxPriorityFeePerGas: fees.priorityFeePerGas,
    });
    const receipt = await client.waitForTransactionReceipt({ hash });
    expect(receipt.status).toBe('success');
    expect(receipt.gasUsed * receipt.effectiveGasPrice).toBeLessThanOrEqual(fees.totalFee);
  });

  test('an override holds for the estimate', async () => {
    const poor = { account: STRANGER, to, value: parseEther('5') } as const;
    await expect(open().estimateLineaFees(poor)).rejects.toThrow();
    const stateOverride = [{ address: STRANGER, balance: parseEther('6') }] as const;
    expect((await open().estimateLineaFees({ ...poor, stateOverride })).gasLimit).toBe(21_000n);
  });

  test('a proof that verifies, typed', async () => {
    const slot = bytesToHex(tokenBalanceSlot(hexToBytes(owner.address)));
    const proof = await open().getLineaProof({ address: TEST_TOKEN, storageKeys: [slot], blockNumber: 0n });
    const root = (await endpoint.node.l1.request({
      method: 'eth_call',
      params: [{ to: endpoint.node.info.rollupAddress!, data: `0x8be745d1${'0'.repeat(64)}` }, 'latest'],
    })) as `0x${string}`;
    const request = { address: hexToBytes(TEST_TOKEN), storageKeys: [hexToBytes(slot)], stateRoot: hexToBytes(root) };
    expect(verifyLineaProof(await loadHasher(endpoint.node.info.hashScheme!), request, proof).verified).toBe(true);
    expect(await getLineaProof(open(), { address: TEST_TOKEN })).toMatchObject({ storageProofs: [] });
    await expect(open().getLineaProof({ address: to, blockNumber: 99n })).rejects.toThrow(/BLOCK_MISSING_IN_CHAIN/);
  });

  test('the schema types plain requests', async () => {
    const fees = await open().request({ method: 'linea_estimateGas', params: [{ from: owner.address, to }] });
    expectTypeOf(fees.gasLimit).toEqualTypeOf<`0x${string}`>();
    expect(fees.gasLimit).toBe('0x5208');
    // @ts-expect-error a number is no address
    await expect(open().request({ method: 'linea_getProof', params: [1, [], 'latest'] })).rejects.toMatchObject({
      code: -32602,
    });
  });
});

describe('previewActions', () => {
  let endpoint: Endpoint;
  const open = () =>
    createClient({ account: owner.address, transport: custom(endpoint.node) }).extend(previewActions(endpoint.node));
  const transfer = (amount: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });

  beforeAll(async () => {
    endpoint = await openEndpoint();
  });
  afterAll(() => endpoint.close());

  test('a transaction of the account of the client', async () => {
    const preview = await open().previewTransaction({ to: TEST_TOKEN, data: transfer(3n) });
    expectTypeOf(preview).toEqualTypeOf<TransactionPreview>();
    expect(preview.calls[0]!.transfers).toEqual([
      {
        asset: { kind: 'erc20', address: TEST_TOKEN },
        from: owner.address.toLowerCase(),
        to,
        amount: '0x3',
        cause: 'event',
      },
    ]);
  });

  test('several, each of its own account, in order, and with options', async () => {
    const other = DEV_ACCOUNTS[2]!.address;
    const preview = await open().previewTransaction(
      [
        { account: owner, to: other, value: 7n, nonce: 0, gas: 21_000n, maxFeePerGas: 10n ** 9n },
        { account: other, data: '0x5f5ff3', value: 0n },
      ],
      { watch: [STRANGER], block: 'latest' },
    );
    expect(preview.calls.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(preview.calls[0]!.tree).toMatchObject({ to: other, value: '0x7', gas: toHex(21_000n) });
    expect(preview.calls[1]!.tree).toMatchObject({ type: 'CREATE', from: other, input: '0x5f5ff3' });
    expect(preview.users).toEqual([owner.address.toLowerCase(), other, STRANGER]);
  });

  test('errors by an ABI of viem', async () => {
    const errors = parseAbi([
      'function transfer(address to, uint256 value) returns (bool)',
      'error InsufficientBalance(address owner, uint256 balance, uint256 needed)',
    ]);
    const { calls } = await open().previewTransaction({ to: TEST_TOKEN, data: transfer(10n ** 30n) }, { errors });
    expect(calls[0]!.revert).toMatchObject({
      signature: 'InsufficientBalance(address,uint256,uint256)',
      args: [owner.address.toLowerCase(), String(10n ** 24n), String(10n ** 30n)],
    });
  });

  test('is ended by a signal', async () => {
    const signal = AbortSignal.abort();
    await expect(open().previewTransaction({ to, value: 1n }, { signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});
