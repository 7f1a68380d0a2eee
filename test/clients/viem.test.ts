import {
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  custom,
  defineChain,
  getContract,
  type Hex,
  http,
  keccak256,
  pad,
  parseAbi,
  parseEther,
  type Transport,
  toHex,
  webSocket,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { hoodi, linea, lineaSepolia, mainnet, sepolia } from 'viem/chains';
import { estimateGas } from 'viem/linea';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { NETWORKS } from '../../src/networks/networks.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { verifyEthereumProof } from '../../src/proof/ethereum-proof.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { CHAINS } from '../../src/viem.js';
import { eventually } from '../support/eventually.js';
import { type Endpoint, openEndpoint, TOKEN_ABI, tokenCode } from './endpoint.js';

const abi = parseAbi(TOKEN_ABI);
const owner = privateKeyToAccount(DEV_ACCOUNTS[0]!.privateKey);
const receiver = privateKeyToAccount(DEV_ACCOUNTS[1]!.privateKey).address;

describe.each(['HTTP', 'WebSocket', 'EIP-1193'] as const)('viem over %s', (way) => {
  let endpoint: Endpoint;
  let chain: Chain;
  let transport: Transport;
  let bytecode: Hex;

  beforeAll(async () => {
    endpoint = await openEndpoint();
    chain = defineChain({
      // As viem prices transactions for Linea: by linea_estimateGas.
      fees: linea.fees,
      id: endpoint.node.info.chainId,
      name: 'plumbline devnet',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [endpoint.http] } },
    });
    if (way === 'HTTP') transport = http(endpoint.http);
    else if (way === 'WebSocket') transport = webSocket(endpoint.webSocket, { reconnect: false });
    else transport = custom(endpoint.node as unknown as Parameters<typeof custom>[0]);
    bytecode = await tokenCode();
  });
  afterAll(() => endpoint.close());

  const clients = () => ({
    reader: createPublicClient({ chain, transport, pollingInterval: 20 }),
    wallet: createWalletClient({ chain, transport, account: owner }),
    tester: createTestClient({ chain, transport, mode: 'anvil' }),
  });

  /** A token of one's own, with a supply. */
  async function deploy() {
    const { reader, wallet } = clients();
    const { contractAddress } = await reader.waitForTransactionReceipt({
      hash: await wallet.deployContract({ abi, bytecode }),
    });
    const token = getContract({ abi, address: contractAddress!, client: { public: reader, wallet } });
    await reader.waitForTransactionReceipt({ hash: await token.write.mint([owner.address, 1000n]) });
    return token;
  }

  test('deploys, sends, waits, reads back state and logs', async () => {
    const { reader } = clients();
    const token = await deploy();
    const hash = await token.write.transfer([receiver, 10n]);
    const receipt = await reader.waitForTransactionReceipt({ hash });
    expect(receipt).toMatchObject({ status: 'success', to: token.address, type: 'eip1559' });
    expect(await token.read.balanceOf([receiver])).toBe(10n);
    const range = { fromBlock: 'earliest', toBlock: 'latest' } as const;
    const events = await token.getEvents.Transfer({ to: receiver }, range);
    expect(events.map(({ args, transactionHash }) => [args, transactionHash])).toEqual([
      [{ from: owner.address, to: receiver, value: 10n }, hash],
    ]);
    const block = await reader.getBlock({ blockHash: receipt.blockHash, includeTransactions: true });
    expect(block.transactions).toMatchObject([{ hash, from: owner.address.toLowerCase(), blockNumber: block.number }]);
    expect(await reader.getTransactionCount({ address: owner.address })).toBeGreaterThan(2);
    await expect(token.simulate.transfer([receiver, 10n ** 9n])).rejects.toThrow('InsufficientBalance');
  });

  test('watches blocks, events and the pool', async () => {
    const { reader } = clients();
    const token = await deploy();
    const seen = { values: [] as bigint[], blocks: [] as bigint[], pending: [] as Hex[] };
    const stops = [
      token.watchEvent.Transfer(
        { from: owner.address },
        { onLogs: (logs) => seen.values.push(...logs.map(({ args }) => args.value!)) },
      ),
      reader.watchBlocks({ onBlock: ({ number }) => seen.blocks.push(number) }),
      reader.watchPendingTransactions({ onTransactions: (hashes) => seen.pending.push(...hashes) }),
    ];
    // Watchers begin some time after they are asked to. When they have seen one of these, they have begun.
    await eventually(async () => {
      await token.write.transfer([receiver, 0n]);
      for (const list of [seen.values, seen.blocks, ...(way === 'WebSocket' ? [seen.pending] : [])]) {
        expect(list).not.toEqual([]);
      }
    });
    const hashes: Hex[] = [];
    for (const value of [1n, 2n, 3n]) hashes.push(await token.write.transfer([receiver, value]));
    const head = await reader.getBlockNumber({ cacheTime: 0 });
    await eventually(() => {
      expect(seen.values.filter((value) => value > 0n)).toEqual([1n, 2n, 3n]);
      expect(seen.blocks.slice(-1)).toEqual([head]);
      if (way === 'WebSocket') expect(seen.pending.slice(-3)).toEqual(hashes);
    });
    for (const stop of stops) stop();
  });

  test('estimates by viem/linea, with and without a block tag', async () => {
    const { reader } = clients();
    const request = { account: owner, to: receiver, value: 1n } as const;
    const plain = await estimateGas(reader, request);
    // A plain transfer needs 21000; the base fee of the network is 7 wei.
    expect(plain).toMatchObject({ gasLimit: 21_000n, baseFeePerGas: 7n });
    expect(await estimateGas(reader, { ...request, blockTag: 'latest' })).toEqual(plain);
    expect(await estimateGas(reader, { ...request, blockNumber: await reader.getBlockNumber() })).toEqual(plain);
    const poor = '0x00000000000000000000000000000000000000aa';
    const override = {
      account: poor,
      to: receiver,
      value: 1n,
      stateOverride: [{ address: poor, balance: 10n ** 20n }],
    };
    expect(await estimateGas(reader, override as never)).toMatchObject({ gasLimit: 21_000n });
    expect(await reader.estimateGas(request)).toBe(21_000n);
    // The chain's own fees: what viem fills in for a transaction.
    const fees = await reader.estimateFeesPerGas();
    expect(fees.maxFeePerGas).toBeGreaterThan(7n);
  });

  test('gets proofs of both kinds, which verify', async () => {
    const { reader, tester } = clients();
    const token = await deploy();
    const slot = keccak256(`0x${pad(owner.address).slice(2)}${'0'.repeat(64)}`);
    const key = hexToBytes(slot);
    const address = hexToBytes(token.address);
    const block = await reader.getBlock();
    const proof = await reader.getProof({ address: token.address, storageKeys: [slot], blockNumber: block.number });
    expect(proof.storageProof[0]!.value).toBe(1000n);
    const raw = await reader.request({
      method: 'eth_getProof',
      params: [token.address, [slot], toHex(block.number)],
    });
    const stateRoot = hexToBytes(block.stateRoot);
    expect(verifyEthereumProof({ address, storageKeys: [key], stateRoot }, raw)).toMatchObject({ verified: true });

    // Two blocks later the block is final on the simulated layer 1.
    await tester.mine({ blocks: 2 });
    const zkProof = await reader.request({
      method: 'linea_getProof',
      params: [token.address, [slot], toHex(block.number)],
    } as never);
    const zkRoot = (await endpoint.node.l1.request({
      method: 'eth_call',
      params: [
        { to: endpoint.node.info.rollupAddress!, data: `0x8be745d1${block.number.toString(16).padStart(64, '0')}` },
        'latest',
      ],
    })) as Hex;
    const hasher = await loadHasher(endpoint.node.info.hashScheme!);
    const verdict = verifyLineaProof(hasher, { address, storageKeys: [key], stateRoot: hexToBytes(zkRoot) }, zkProof);
    expect(verdict).toMatchObject({ verified: true, slots: [{ value: hexToBytes(toHex(1000n, { size: 32 })) }] });
  });

  test('mines, snapshots and sets balances through viem’s test client', async () => {
    const { reader, tester, wallet } = clients();
    const stranger = '0x00000000000000000000000000000000000000b1';
    const snapshot = await tester.snapshot();
    await tester.setBalance({ address: stranger, value: parseEther('2') });
    await tester.setNonce({ address: stranger, nonce: 5 });
    await tester.setCode({ address: '0x00000000000000000000000000000000000000b2', bytecode: '0x60ff' });
    const at = '0x00000000000000000000000000000000000000b2';
    await tester.setStorageAt({ address: at, index: 1, value: pad('0x2a') });
    expect(await reader.getBalance({ address: stranger })).toBe(parseEther('2'));
    expect(await reader.getTransactionCount({ address: stranger })).toBe(5);
    expect(await reader.getCode({ address: at })).toBe('0x60ff');
    expect(await reader.getStorageAt({ address: at, slot: '0x1' })).toBe(pad('0x2a'));

    await tester.impersonateAccount({ address: stranger });
    const unlocked = createWalletClient({ chain, transport, account: stranger });
    const hash = await unlocked.sendTransaction({ to: receiver, value: 1n });
    expect(await reader.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success', from: stranger });
    await tester.stopImpersonatingAccount({ address: stranger });
    await expect(unlocked.sendTransaction({ to: receiver, value: 1n })).rejects.toThrow();

    const before = await reader.getBlock();
    await tester.increaseTime({ seconds: 1000 });
    await tester.mine({ blocks: 1 });
    const after = await reader.getBlock();
    expect(after.number).toBe(before.number + 1n);
    expect(after.timestamp - before.timestamp).toBeGreaterThanOrEqual(1000n);
    await tester.setNextBlockTimestamp({ timestamp: after.timestamp + 500n });
    await tester.mine({ blocks: 1 });
    expect((await reader.getBlock()).timestamp).toBe(after.timestamp + 500n);

    await tester.revert({ id: snapshot });
    expect(await reader.getBalance({ address: stranger })).toBe(0n);
    const sent = await wallet.sendTransaction({ to: receiver, value: 1n });
    expect(await reader.waitForTransactionReceipt({ hash: sent })).toMatchObject({ status: 'success' });
  });

  test('sends from a dev account that the node signs for', async () => {
    const { reader } = clients();
    const wallet = createWalletClient({ chain, transport });
    const [account] = await wallet.getAddresses();
    const hash = await wallet.sendTransaction({ account: account!, to: receiver, value: 1n });
    expect(await reader.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' });
  });
});

describe('the networks as chains of viem', () => {
  test('have the ids that viem has, and no endpoint of others', () => {
    const known = { linea, 'linea-sepolia': lineaSepolia, ethereum: mainnet, sepolia, hoodi };
    for (const [name, { id, testnet = false }] of Object.entries(known)) {
      expect(CHAINS[name as keyof typeof CHAINS], name).toMatchObject({
        id,
        testnet,
        rpcUrls: { default: { http: [] } },
      });
    }
    expect(Object.keys(CHAINS).sort()).toEqual(Object.keys(NETWORKS).sort());
    for (const [name, { chainId }] of Object.entries(NETWORKS)) {
      expect(CHAINS[name as keyof typeof CHAINS].id, name).toBe(chainId);
    }
  });

  test.each(['eip1559', 'legacy'] as const)('the devnet prices as the Linea of viem does: %s', async (type) => {
    const endpoint = await openEndpoint();
    onTestFinished(() => endpoint.close());
    // As of a node that fills in no transactions: viem prices itself then.
    const request = async ({ method, params }: { method: string; params?: unknown[] }) => {
      if (method === 'eth_fillTransaction') throw Object.assign(new Error('no such method'), { code: -32_601 });
      return endpoint.node.request<UntypedMethod>({ method, params: params ?? [] });
    };
    const transport = custom({ request });
    const chain: Chain = CHAINS.devnet;
    const priced = async (fees: Chain['fees']) => {
      const wallet = createWalletClient({ chain: { ...chain, fees }, transport, account: owner });
      const data = `0x${'5a'.repeat(2000)}` as const;
      const asked = { to: receiver, value: 1n, data, type };
      const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = await wallet.prepareTransactionRequest(asked);
      return { gasPrice, maxFeePerGas, maxPriorityFeePerGas };
    };
    expect(await priced(chain.fees)).toEqual(await priced(linea.fees));
    // A network without such a method has another price.
    expect(await priced(undefined)).not.toEqual(await priced(linea.fees));
    const reader = createPublicClient({ chain, transport });
    const wallet = createWalletClient({ chain, transport, account: owner });
    await reader.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to: receiver, value: 1n, type }) });
  });
});
