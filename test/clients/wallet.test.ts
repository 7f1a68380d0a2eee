import { BrowserProvider, Transaction, verifyMessage as verifyMessageOfEthers } from 'ethers';
import {
  type Chain,
  createPublicClient,
  createWalletClient,
  custom,
  defineChain,
  getAddress,
  type Hex,
  http,
  parseAbi,
  parseSignature,
  parseTransaction,
  publicActions,
  recoverTransactionAddress,
  type Transport,
  verifyMessage,
  verifyTypedData,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Web3 } from 'web3';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { contracts } from '../support/contracts.js';
import { type Endpoint, openEndpoint } from './endpoint.js';

const ACCOUNTS = DEV_ACCOUNTS.map(({ address }) => getAddress(address));
const [owner, spender] = ACCOUNTS as [Hex, Hex];
const local = privateKeyToAccount(DEV_ACCOUNTS[0]!.privateKey);
const PERMIT_ABI = parseAbi([
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]);
const PERMIT_TYPES = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;

let endpoint: Endpoint;
let chain: Chain;
beforeAll(async () => {
  endpoint = await openEndpoint();
  chain = defineChain({
    id: endpoint.node.info.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [endpoint.http] } },
  });
});
afterAll(() => endpoint.close());

describe.each(['EIP-1193', 'HTTP'] as const)("viem's wallet client without keys, over %s", (way) => {
  const open = () => {
    const transport: Transport = way === 'HTTP' ? http(endpoint.http) : custom(endpoint.node);
    return createWalletClient({ account: owner, chain, transport, pollingInterval: 20 }).extend(publicActions);
  };

  test('finds the accounts', async () => {
    expect(await open().requestAddresses()).toEqual(ACCOUNTS);
    expect(await open().getAddresses()).toEqual(ACCOUNTS);
    const [permission] = await open().requestPermissions({ eth_accounts: {} });
    expect(permission).toMatchObject({ parentCapability: 'eth_accounts' });
    expect(await open().getPermissions()).toEqual([permission]);
  });

  test('signs messages as a local account does', async () => {
    for (const message of ['', 'hello', 'grüße €', { raw: '0x00ff' }] as const) {
      const signature = await open().signMessage({ message });
      expect(signature).toBe(await local.signMessage({ message }));
      expect(await verifyMessage({ address: owner, message, signature })).toBe(true);
    }
  });

  test('signs and sends transactions of each type', async () => {
    const client = open();
    for (const fields of [
      { type: 'legacy', gasPrice: 10n ** 9n },
      { type: 'eip2930', gasPrice: 10n ** 9n, accessList: [{ address: spender, storageKeys: [] }] },
      { type: 'eip1559', maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n },
    ] as const) {
      const nonce = await client.getTransactionCount({ address: owner });
      const request = { to: spender, value: 1n, gas: 30_000n, nonce, ...fields } as const;
      const serializedTransaction = await client.signTransaction(request);
      expect(serializedTransaction).toBe(await local.signTransaction({ ...request, chainId: chain.id }));
      expect(await recoverTransactionAddress({ serializedTransaction: serializedTransaction as never })).toBe(owner);
      const hash = await client.sendRawTransaction({ serializedTransaction });
      expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success');
    }
    // What is left out is filled in: it can be sent as it is.
    const raw = await endpoint.node.request({ method: 'eth_signTransaction', params: [{ from: owner, to: spender }] });
    const nonce = await client.getTransactionCount({ address: owner });
    expect(parseTransaction(raw)).toMatchObject({ type: 'eip1559', chainId: chain.id, nonce });
    expect(Transaction.from(raw).from).toBe(owner);
  });

  test('switches to the chain of the node, and to no other', async () => {
    const client = open();
    expect(await client.switchChain({ id: chain.id })).toBeUndefined();
    expect(await client.addChain({ chain })).toBeUndefined();
    const refused = client.switchChain({ id: 1 });
    await expect(refused).rejects.toMatchObject({ name: 'SwitchChainError', code: 4902 });
    await expect(client.addChain({ chain: { ...chain, id: 5 } })).rejects.toMatchObject({ code: 4200 });
  });

  test('sends a batch of calls, and follows it', async () => {
    const client = open();
    expect(await client.getCapabilities()).toEqual({ [chain.id]: { atomic: { status: 'unsupported' } } });
    const { id } = await client.sendCalls({
      calls: [
        { to: spender, value: 1n },
        { to: spender, value: 2n },
      ],
    });
    const status = await client.waitForCallsStatus({ id, pollingInterval: 20 });
    expect(status).toMatchObject({ status: 'success', statusCode: 200, atomic: false, chainId: chain.id });
    expect(status.receipts).toHaveLength(2);
    for (const { transactionHash } of status.receipts!) {
      expect(await client.getTransactionReceipt({ hash: transactionHash })).toMatchObject({
        from: owner.toLowerCase(),
      });
    }
    await expect(client.getCallsStatus({ id: '0x12' })).rejects.toMatchObject({ code: 5730 });
    const atomic = client.sendCalls({ calls: [{ to: spender }], forceAtomic: true });
    await expect(atomic).rejects.toMatchObject({ cause: { name: 'AtomicityNotSupportedError', code: 5760 } });
  });

  test('permits by a signature (EIP-2612)', async () => {
    const client = open();
    const { Permit } = await contracts();
    const hash = await client.deployContract({ abi: PERMIT_ABI, bytecode: Permit!.creationCode as Hex });
    const address = (await client.waitForTransactionReceipt({ hash })).contractAddress!;
    const typed = {
      domain: { name: 'Permit', version: '1', chainId: chain.id, verifyingContract: address },
      types: PERMIT_TYPES,
      primaryType: 'Permit',
      message: { owner, spender, value: 12n, nonce: 0n, deadline: 2n ** 256n - 1n },
    } as const;
    const signature = await client.signTypedData(typed);
    expect(signature).toBe(await local.signTypedData(typed));
    expect(await verifyTypedData({ address: owner, ...typed, signature })).toBe(true);
    const { r, s, v } = parseSignature(signature);
    const { value, deadline } = typed.message;
    const permit = await client.writeContract({
      // Sent by the other: the owner only signs.
      account: spender,
      address,
      abi: PERMIT_ABI,
      functionName: 'permit',
      args: [owner, spender, value, deadline, Number(v), r, s],
    });
    expect((await client.waitForTransactionReceipt({ hash: permit })).status).toBe('success');
    const allowance = { address, abi: PERMIT_ABI, functionName: 'allowance', args: [owner, spender] } as const;
    expect(await client.readContract(allowance)).toBe(12n);
  });
});

test('ethers signs with an account of the node', async () => {
  const provider = new BrowserProvider(endpoint.node);
  const signer = await provider.getSigner();
  expect(await signer.getAddress()).toBe(owner);
  expect(verifyMessageOfEthers('hello', await signer.signMessage('hello'))).toBe(owner);
  const domain = { name: 'Permit', chainId: chain.id };
  const message = { owner, spender, value: 1n, nonce: 0n, deadline: 5n };
  const typed = { domain, types: PERMIT_TYPES, primaryType: 'Permit', message } as const;
  const types = { Permit: [...PERMIT_TYPES.Permit] };
  expect(await signer.signTypedData(domain, types, message)).toBe(await local.signTypedData(typed));
  // eth_sign, which ethers still has.
  expect(verifyMessageOfEthers('hello', await signer._legacySignMessage('hello'))).toBe(owner);
});

test('web3 signs with an account of the node', async () => {
  const web3 = new Web3(endpoint.http);
  expect(await web3.eth.personal.sign('0x1234', owner, '')).toBe(
    await local.signMessage({ message: { raw: '0x1234' } }),
  );
  expect(await web3.eth.sign('0x1234', owner)).toBe(await local.signMessage({ message: { raw: '0x1234' } }));
  expect((await web3.eth.requestAccounts()).map((account) => getAddress(account))).toEqual(ACCOUNTS);
});

test('a public client of a light node gets the error that the node holds no keys', async () => {
  const light = await openEndpoint({
    chain: {
      kind: 'light',
      network: (await import('../../src/networks/devnet.js')).devnet(),
      endpoints: [endpoint.http],
    },
  });
  try {
    for (const transport of [custom(light.node), http(light.http, { retryCount: 0 })]) {
      const client = createPublicClient({ chain, transport });
      const sign = client.request({ method: 'personal_sign', params: ['0x12', owner] } as never);
      await expect(sign).rejects.toMatchObject({
        details:
          'Method not enabled (personal_sign: this node holds no keys; sign in the wallet and send with ' +
          'eth_sendRawTransaction, or open a devnet)',
      });
    }
    await expect(light.node.request({ method: 'eth_requestAccounts' })).rejects.toMatchObject({ code: 4200 });
    expect(await light.node.request({ method: 'eth_accounts' })).toEqual([]);
  } finally {
    await light.close();
  }
});
