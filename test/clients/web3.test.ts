import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Web3 } from 'web3';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { eventually } from '../support/eventually.js';
import { type Endpoint, openEndpoint, tokenCode } from './endpoint.js';

const owner = DEV_ACCOUNTS[0]!;
const receiver = DEV_ACCOUNTS[1]!.address;
const to = { name: 'to', type: 'address' } as const;
const amount = { name: 'value', type: 'uint256' } as const;
const abi = [
  { type: 'function', name: 'transfer', stateMutability: 'nonpayable', inputs: [to, amount], outputs: [] },
  { type: 'function', name: 'mint', stateMutability: 'nonpayable', inputs: [to, amount], outputs: [] },
  {
    type: 'function',
    name: 'balanceOf',
    stateMutability: 'view',
    inputs: [{ name: 'owner', type: 'address' }],
    outputs: [amount],
  },
  {
    type: 'event',
    name: 'Transfer',
    inputs: [{ name: 'from', type: 'address', indexed: true }, { ...to, indexed: true }, amount],
  },
] as const;

describe.each(['HTTP', 'WebSocket', 'EIP-1193'] as const)('web3.js over %s', (way) => {
  let endpoint: Endpoint;
  let web3: Web3;
  let code: string;

  beforeAll(async () => {
    endpoint = await openEndpoint();
    web3 = new Web3(
      way === 'HTTP' ? endpoint.http : way === 'WebSocket' ? endpoint.webSocket : (endpoint.node as never),
    );
    web3.eth.wallet!.add(owner.privateKey);
    web3.eth.transactionPollingInterval = 20;
    code = await tokenCode();
  });
  afterAll(async () => {
    await web3.eth.clearSubscriptions();
    if (way === 'WebSocket') web3.provider!.disconnect();
    await endpoint.close();
  });

  const send = { from: owner.address };

  /** A token of one's own, with a supply. */
  async function deploy() {
    const token = await new web3.eth.Contract(abi).deploy({ data: code }).send(send);
    await token.methods.mint(owner.address, 1000n).send(send);
    return token;
  }

  test('deploys, sends, waits, reads back state and logs', async () => {
    const token = await deploy();
    const receipt = await token.methods.transfer(receiver, 10n).send(send);
    expect(receipt).toMatchObject({ status: 1n, from: owner.address, to: token.options.address!.toLowerCase() });
    expect(receipt.events!.Transfer).toMatchObject({ returnValues: { value: 10n } });
    expect(await token.methods.balanceOf(receiver).call()).toBe(10n);
    const logs = await token.getPastEvents('Transfer', { filter: { to: receiver }, fromBlock: 0, toBlock: 'latest' });
    expect(logs).toMatchObject([{ transactionHash: receipt.transactionHash, returnValues: { value: 10n } }]);
    const block = await web3.eth.getBlock(receipt.blockHash, true);
    expect(block.transactions).toMatchObject([{ hash: receipt.transactionHash, from: owner.address }]);
    expect(await web3.eth.getTransaction(receipt.transactionHash)).toMatchObject({ blockNumber: receipt.blockNumber });
  });

  test('estimates', async () => {
    expect(await web3.eth.estimateGas({ from: owner.address, to: receiver, value: 1n })).toBe(21_000n);
    expect(await web3.eth.getGasPrice()).toBeGreaterThan(7n);
    const { result } = (await web3
      .provider!.request({
        jsonrpc: '2.0',
        id: 1,
        method: 'linea_estimateGas',
        params: [{ from: owner.address, to: receiver }],
      } as never)
      .then((answer) => (way === 'EIP-1193' ? { result: answer } : answer))) as { result: unknown };
    expect(result).toMatchObject({ gasLimit: '0x5208', baseFeePerGas: '0x7' });
  });

  test('gets a proof', async () => {
    const token = await deploy();
    const word = owner.address.slice(2).padStart(64, '0');
    const slot = web3.utils.keccak256(`0x${word}${'0'.repeat(64)}`);
    const proof = await web3.eth.getProof(token.options.address!, [slot], 'latest');
    expect(proof.storageProof).toMatchObject([{ key: slot, value: 1000n }]);
  });

  // web3.js subscribes; over HTTP it cannot.
  test.skipIf(way === 'HTTP')('receives blocks, events and pending transactions', async () => {
    const token = await deploy();
    const seen = { values: [] as unknown[], blocks: [] as unknown[], pending: [] as unknown[] };
    const events = token.events.Transfer({ filter: { from: owner.address } });
    events.on('data', ({ returnValues }) => void seen.values.push(returnValues.value));
    const heads = await web3.eth.subscribe('newHeads');
    heads.on('data', ({ number }) => void seen.blocks.push(number));
    const pool = await web3.eth.subscribe('pendingTransactions');
    pool.on('data', (hash) => void seen.pending.push(hash));
    await eventually(() => expect(events.id).toBeDefined());
    const hashes: unknown[] = [];
    for (const value of [1n, 2n])
      hashes.push((await token.methods.transfer(receiver, value).send(send)).transactionHash);
    const head = await web3.eth.getBlockNumber();
    await eventually(() => {
      expect(seen.values).toEqual([1n, 2n]);
      expect(seen.pending).toEqual(hashes);
      expect(seen.blocks.slice(-2)).toEqual([head - 1n, head]);
    });
    expect(await heads.unsubscribe()).toBeUndefined();
  });
});
