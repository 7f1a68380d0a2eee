import {
  BrowserProvider,
  Contract,
  ContractFactory,
  type Eip1193Provider,
  JsonRpcProvider,
  keccak256,
  NonceManager,
  type Provider,
  toBeHex,
  toQuantity,
  Wallet,
  WebSocketProvider,
  zeroPadValue,
} from 'ethers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { eventually } from '../support/eventually.js';
import { type Endpoint, openEndpoint, TOKEN_ABI, tokenCode } from './endpoint.js';

const receiver = DEV_ACCOUNTS[1]!.address;
const ways = ['JsonRpcProvider', 'WebSocketProvider', 'BrowserProvider'] as const;

describe.each(ways)('ethers by its %s', (way) => {
  let endpoint: Endpoint;
  let provider: JsonRpcProvider | WebSocketProvider | BrowserProvider;
  let wallet: Wallet;
  let code: string;

  beforeAll(async () => {
    endpoint = await openEndpoint();
    // ethers remembers answers for 250 ms; on a chain that seals at once its next nonce would be too low.
    const options = { cacheTimeout: -1 };
    if (way === 'JsonRpcProvider') provider = new JsonRpcProvider(endpoint.http, undefined, options);
    else if (way === 'WebSocketProvider') provider = new WebSocketProvider(endpoint.webSocket, undefined, options);
    else provider = new BrowserProvider(endpoint.node as unknown as Eip1193Provider, undefined, options);
    if (!(provider instanceof WebSocketProvider)) provider.pollingInterval = 50;
    wallet = new Wallet(DEV_ACCOUNTS[0]!.privateKey, provider as Provider);
    code = await tokenCode();
  });
  afterAll(async () => {
    await provider.destroy();
    await endpoint.close();
  });

  /** A token of one's own, with a supply. */
  async function deploy(): Promise<Contract> {
    const deployed = await new ContractFactory([...TOKEN_ABI], code, wallet).deploy();
    await deployed.waitForDeployment();
    const token = new Contract(await deployed.getAddress(), [...TOKEN_ABI], wallet);
    await (await token.mint!(wallet.address, 1000n)).wait();
    return token;
  }

  test('deploys back to back with a NonceManager', async () => {
    const manager = new NonceManager(wallet);
    const factory = new ContractFactory([...TOKEN_ABI], code, manager);
    const deployed = await Promise.all([factory.deploy(), factory.deploy(), factory.deploy()]);
    const addresses = await Promise.all(deployed.map(async (token) => (await token.waitForDeployment()).getAddress()));
    expect(new Set(addresses).size).toBe(3);
  });

  test('deploys, sends, waits, reads back state and logs', async () => {
    const token = await deploy();
    const receipt = await (await token.transfer!(receiver, 10n)).wait();
    expect(receipt).toMatchObject({ status: 1, to: token.target, from: wallet.address });
    expect(await token.balanceOf!(receiver)).toBe(10n);
    const events = await token.queryFilter(token.filters.Transfer!(wallet.address, receiver), 0);
    expect(events.map((event) => [event.transactionHash, 'args' in event && event.args.value])).toEqual([
      [receipt.hash, 10n],
    ]);
    const block = await provider.getBlock(receipt.blockHash, true);
    expect(block!.prefetchedTransactions).toMatchObject([{ hash: receipt.hash, from: wallet.address }]);
    const transaction = await provider.getTransaction(receipt.hash);
    expect(transaction).toMatchObject({ type: 2, blockNumber: receipt.blockNumber });
    expect(await transaction!.confirmations()).toBe(1);
    await expect(token.transfer!.staticCall(receiver, 10n ** 9n)).rejects.toMatchObject({
      revert: { name: 'InsufficientBalance', args: [wallet.address, 990n, 10n ** 9n] },
    });
  });

  test('receives blocks and events', async () => {
    const token = await deploy();
    const seen = { values: [] as bigint[], blocks: [] as number[] };
    await token.on(token.filters.Transfer!(wallet.address), ({ args }) => void seen.values.push(args.value));
    await provider.on('block', (number) => void seen.blocks.push(number));
    // Polling providers begin with the block they find. When they have seen one of these, they have begun.
    await eventually(async () => {
      await (await token.transfer!(receiver, 0n)).wait();
      for (const list of [seen.values, seen.blocks]) expect(list).not.toEqual([]);
    });
    for (const value of [1n, 2n, 3n]) await (await token.transfer!(receiver, value)).wait();
    const head = await provider.getBlockNumber();
    await eventually(() => {
      expect(seen.values.filter((value) => value > 0n)).toEqual([1n, 2n, 3n]);
      expect(seen.blocks.at(-1)).toBe(head);
    });
    await token.removeAllListeners();
    await provider.removeAllListeners();
  });

  test('receives pending transactions', async () => {
    const [heard, sent]: [string[], string[]] = [[], []];
    await provider.on('pending', (hash) => void heard.push(hash));
    // ethers asks at each block, but not while it asks already: the last hash may come with the block after.
    await eventually(async () => {
      sent.push((await wallet.sendTransaction({ to: receiver, value: 2n })).hash);
      expect(heard.filter((hash) => sent.includes(hash))).not.toEqual([]);
    });
    await provider.removeAllListeners();
  });

  test('estimates, and its price is enough', async () => {
    expect(await provider.estimateGas({ from: wallet.address, to: receiver, value: 1n })).toBe(21_000n);
    const fees = await provider.getFeeData();
    expect(fees.maxFeePerGas).toBeGreaterThan(7n);
    const estimate = await provider.send('linea_estimateGas', [{ from: wallet.address, to: receiver }]);
    expect(estimate).toMatchObject({ gasLimit: '0x5208', baseFeePerGas: '0x7' });
    const sent = await wallet.sendTransaction({
      to: receiver,
      value: 1n,
      maxPriorityFeePerGas: estimate.priorityFeePerGas,
    });
    expect((await sent.wait())!.status).toBe(1);
  });

  test('gets proofs of both kinds', async () => {
    const token = await deploy();
    const slot = keccak256(zeroPadValue(wallet.address, 32) + '0'.repeat(64));
    const number = toQuantity(await provider.getBlockNumber());
    const proof = await provider.send('eth_getProof', [token.target, [slot], number]);
    expect(proof.storageProof).toMatchObject([{ key: slot, value: '0x3e8' }]);
    await provider.send('evm_mine', [{ blocks: 2 }]);
    const zk = await provider.send('linea_getProof', [token.target, [slot], number]);
    expect(zk.storageProofs).toMatchObject([{ key: slot, proof: { value: toBeHex(1000n, 32) } }]);
  });

  test('sends from a dev account that the node signs for', async () => {
    const signer = await provider.getSigner(2);
    expect((await signer.getAddress()).toLowerCase()).toBe(DEV_ACCOUNTS[2]!.address);
    const sent = await signer.sendTransaction({ to: receiver, value: 1n });
    expect((await sent.wait())!.status).toBe(1);
  });

  test('detects the network, and throws what the node refuses', async () => {
    expect((await provider.getNetwork()).chainId).toBe(59_139n);
    const poor = Wallet.createRandom(provider as Provider);
    await expect(poor.sendTransaction({ to: receiver, value: 1n, gasLimit: 21_000n })).rejects.toThrow();
  });
});

test('hex of ethers, of the type string, needs no casts', async () => {
  const { node, close } = await openEndpoint();
  onTestFinished(close);
  const { address } = new Wallet(DEV_ACCOUNTS[0]!.privateKey);
  const call = { from: address, to: receiver as string, value: toQuantity(5n), input: '0x' as string };
  const { gasLimit } = await node.request({ method: 'linea_estimateGas', params: [call] });
  expect(gasLimit).toBe('0x5208');
  const { calls } = await node.previewTransaction(call, { block: toQuantity(0n), watch: [call.to] });
  expect(calls).toMatchObject([{ status: 'success', gasUsed: '0x5208' }]);
  const balance = await node.request({ method: 'eth_getBalance', params: [address, toQuantity(0n)] });
  expect(BigInt(balance)).toBe(10_000n * 10n ** 18n);
});
