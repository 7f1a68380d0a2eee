import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { BatchJson } from '../../src/rpc/schema/json.js';
import { accountAt, devNode, stranger } from '../support/dev-node.js';
import { transferCalldata } from '../support/sign.js';

const CHAIN = '0xe703';
const ALL = Array.from({ length: 10 }, (_, i) => accountAt(i));
const send = (from: Hex) => ({ method: 'eth_sendTransaction', params: [{ from, to: stranger('11') }] }) as const;
const ofAccounts = (value: readonly Hex[]) => [
  { invoker: 'null', parentCapability: 'eth_accounts', caveats: [{ type: 'restrictReturnedAccounts', value }] },
];

describe('permissions of a provider', () => {
  test('are all accounts, some, or none; each change is an event; signatures and transactions need them', async () => {
    const { node } = await devNode();
    const seen: (readonly Hex[])[] = [];
    node.on('accountsChanged', (accounts) => seen.push(accounts));
    expect(await node.request({ method: 'eth_requestAccounts' })).toEqual(ALL);
    expect(await node.request({ method: 'wallet_getPermissions' })).toEqual(ofAccounts(ALL));
    expect(seen).toEqual([]);

    const two = [ALL[3]!, ALL[1]!];
    const some = { eth_accounts: { restrictReturnedAccounts: [...two, ALL[3]!] } };
    expect(await node.request({ method: 'wallet_requestPermissions', params: [some] })).toEqual(ofAccounts(two));
    expect(await node.request({ method: 'eth_accounts' })).toEqual(two);
    expect(await node.request({ method: 'eth_requestAccounts' })).toEqual(two);
    expect(await node.request({ method: 'personal_sign', params: ['0x12', two[0]!] })).toHaveLength(132);
    await node.request(send(two[0]!));
    for (const request of [
      send(ALL[0]!),
      { method: 'personal_sign', params: ['0x12', ALL[0]!] },
      { method: 'eth_signTransaction', params: [{ from: ALL[0]!, to: stranger('11') }] },
      { method: 'wallet_getCapabilities', params: [ALL[0]!] },
    ] as const) {
      await expect(node.request(request as never)).rejects.toMatchObject({
        code: 4100,
        message: `this session may not use ${ALL[0]}; ask with wallet_requestPermissions`,
      });
    }

    expect(await node.request({ method: 'wallet_revokePermissions', params: [{ eth_accounts: {} }] })).toBeNull();
    expect(await node.request({ method: 'eth_accounts' })).toEqual([]);
    expect(await node.request({ method: 'wallet_getPermissions' })).toEqual([]);
    expect(await node.request({ method: 'eth_requestAccounts' })).toEqual(ALL);
    expect(seen).toEqual([two, [], ALL]);
  });

  test('are those of one session; HTTP has none', async () => {
    const { node } = await devNode();
    await node.request({ method: 'wallet_revokePermissions', params: [{ eth_accounts: {} }] });
    const other = node.openSession(() => {});
    const ask = async (method: string, ...params: unknown[]) =>
      (await other.dispatch({ jsonrpc: '2.0', id: 1, method, params })).body as unknown;
    expect(await ask('eth_accounts')).toMatchObject({ result: ALL });
    const post = async (method: string, ...params: unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json' };
      return (await node.handle(new Request('http://localhost/', { method: 'POST', headers, body }))).json();
    };
    expect(await post('eth_accounts')).toMatchObject({ result: ALL });
    expect(await post('wallet_requestPermissions', { eth_accounts: {} })).toMatchObject({ result: ofAccounts(ALL) });
    const message = 'permissions belong to a provider or a WebSocket; over HTTP all accounts are open';
    expect(await post('wallet_revokePermissions', { eth_accounts: {} })).toMatchObject({
      error: { code: 4200, message },
    });
    expect(await ask('wallet_revokePermissions', { eth_accounts: {} })).toMatchObject({ result: null });
    expect(await ask('eth_accounts')).toMatchObject({ result: [] });
    other.close();
  });

  test.each<[params: unknown, code: number, message: RegExp]>([
    [[], -32602, /permissions: is missing/],
    [[{}], -32602, /permissions.eth_accounts: is missing/],
    [[{ eth_accounts: {}, snap: {} }], 4200, /there is no permission snap, only eth_accounts/],
    [[{ eth_accounts: { filter: [] } }], 4200, /the caveat filter does not exist; use restrictReturnedAccounts/],
    [[{ eth_accounts: { restrictReturnedAccounts: [stranger('11')] } }], 4100, /no key is held for 0x1111/],
    [[{ eth_accounts: { restrictReturnedAccounts: ['0x1'] } }], -32602, /restrictReturnedAccounts\[0\]/],
  ])('refuses %j', async (params, code, message) => {
    const { node } = await devNode();
    const request = node.request({ method: 'wallet_requestPermissions', params } as never);
    await expect(request).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await node.request({ method: 'eth_accounts' })).toEqual(ALL);
  });
});

test('an impersonated account has no key to sign with', async () => {
  const { ask } = await devNode();
  await ask('anvil_impersonateAccount', TEST_TOKEN);
  const unauthorized = { code: 4100, message: `no key is held for ${TEST_TOKEN}; use an account of eth_accounts` };
  await expect(ask('personal_sign', '0x12', TEST_TOKEN)).rejects.toMatchObject(unauthorized);
  await expect(ask('eth_signTransaction', { from: TEST_TOKEN, to: TEST_TOKEN })).rejects.toMatchObject(unauthorized);
});

test('bad parameters are named, and what a node does not have is 4200 or 4902', async () => {
  const { ask, node } = await devNode();
  for (const [method, params, code, message] of [
    ['personal_sign', ['hello', ALL[0]], -32602, /message: does not start with 0x/],
    ['personal_sign', [ALL[0], '0x12'], -32602, /address: expected 20 bytes, got 1/],
    ['eth_signTypedData_v4', [ALL[0], '{'], -32602, /typedData: is not JSON/],
    ['eth_signTypedData_v4', [ALL[0], {}], -32602, /types: must be an object/],
    ['eth_signTransaction', [{ from: ALL[0], to: ALL[1], chainId: '0x1' }], -32000, /Wrong chainId/],
    ['wallet_switchEthereumChain', [{ chainId: 1 }], -32602, /chainId: is not a string/],
    [
      'wallet_switchEthereumChain',
      [{ chainId: '0x1' }],
      4902,
      /one chain, 0xe703; chain 0x1 needs a connection of its own/,
    ],
    ['wallet_addEthereumChain', [{ chainId: '0x1' }], 4200, /one chain, 0xe703; open another node for chain 0x1/],
    ['wallet_watchAsset', [{ type: 'ERC20' }], 4200, /shows no list of tokens; read balances with eth_call/],
  ] as const) {
    await expect(ask(method, ...params)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  }
  // As EIP-747 writes it: parameters by name.
  const asset = { method: 'wallet_watchAsset', params: { type: 'ERC20', options: { address: TEST_TOKEN } } };
  const refused = { code: 4200, message: expect.stringMatching(/no list of tokens/) };
  await expect(node.request(asset as never)).rejects.toMatchObject(refused);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...asset });
  const headers = { 'content-type': 'application/json' };
  const response = await node.handle(new Request('http://127.0.0.1/', { method: 'POST', headers, body }));
  expect(await response.json()).toMatchObject({ error: refused });
});

describe('wallet_sendCalls', () => {
  const to = stranger('11');
  const batch = (more: Partial<BatchJson> = {}): BatchJson => ({
    version: '2.0.0',
    chainId: CHAIN,
    atomicRequired: false,
    calls: [{ to, value: '0x1' }],
    ...more,
  });

  test('follows a batch from the pool into blocks, by the id of the app', async () => {
    const { ask, node } = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
    const calls = [
      { to, value: '0x1' },
      { to, value: '0x2' },
    ] as const;
    const params = [batch({ id: 'mine', from: ALL[2]!, calls })] as const;
    expect(await node.request({ method: 'wallet_sendCalls', params })).toEqual({ id: 'mine' });
    const status = () => node.request({ method: 'wallet_getCallsStatus', params: ['mine'] });
    const head = { version: '2.0.0', id: 'mine', chainId: CHAIN, atomic: false };
    expect(await status()).toEqual({ ...head, status: 100, receipts: [] });
    await ask('evm_mine');
    const done = await status();
    expect(done).toMatchObject({ ...head, status: 200 });
    for (const [i, { transactionHash, ...receipt }] of done.receipts.entries()) {
      const { blockHash, blockNumber, gasUsed } = (await node.request({
        method: 'eth_getTransactionReceipt',
        params: [transactionHash],
      }))!;
      expect(receipt).toEqual({ blockHash, blockNumber, gasUsed, logs: [], status: '0x1' });
      const sent = await node.request({ method: 'eth_getTransactionByHash', params: [transactionHash] });
      expect(sent).toMatchObject({ from: ALL[2], value: calls[i]!.value, nonce: `0x${i}` });
    }
    await expect(node.request({ method: 'wallet_sendCalls', params })).rejects.toMatchObject({ code: 5720 });
  });

  test('tells what failed: nothing was sent, it was dropped, or it ended in part', async () => {
    const { ask, node } = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
    const tooMuch = { to: TEST_TOKEN, data: transferCalldata(to, 2n ** 200n) };
    const request = (id: string, calls: BatchJson['calls']) =>
      node.request({ method: 'wallet_sendCalls', params: [batch({ id, calls })] });
    const status = async (id: string) => (await node.request({ method: 'wallet_getCallsStatus', params: [id] })).status;
    await expect(request('none', [tooMuch])).rejects.toMatchObject({ code: 3 });
    await expect(status('none')).rejects.toMatchObject({ code: 5730 });

    await request('dropped', [{ to }]);
    await ask('anvil_dropAllTransactions');
    expect(await status('dropped')).toBe(400);

    await request('part', [{ to }, tooMuch, { to }]);
    expect(await status('part')).toBe(100);
    await ask('evm_mine');
    expect(await status('part')).toBe(600);
  });

  test('a batch of which all calls revert in their blocks is 500', async () => {
    const { ask, node } = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
    await node.request({ method: 'wallet_sendCalls', params: [batch({ id: 'late', calls: [{ to }] })] });
    // What was estimated for a plain account meets code that reverts: PUSH1 0, DUP1, REVERT.
    await ask('anvil_setCode', to, '0x600080fd');
    await ask('evm_mine');
    const late = await node.request({ method: 'wallet_getCallsStatus', params: ['late'] });
    expect(late).toMatchObject({ status: 500, receipts: [{ status: '0x0' }] });
  });

  test.each<[object, number, RegExp]>([
    [{ version: '1.0' }, -32602, /version: must be 2.0.0/],
    [{ chainId: '0x1' }, 5710, /one chain, 0xe703/],
    [{ atomicRequired: true }, 5760, /atomicRequired: false/],
    [{ atomicRequired: undefined }, -32602, /atomicRequired: must be true or false/],
    [{ calls: [] }, -32602, /calls: is empty/],
    [{ calls: Array.from({ length: 33 }, () => ({ to })) }, 5740, /at most 32 calls/],
    [{ capabilities: { paymasterService: { url: 'x' } } }, 5700, /capabilities.paymasterService is not supported/],
    [{ calls: [{ to, capabilities: { flow: {} } }] }, 5700, /calls\[0\].capabilities.flow is not supported/],
    [{ id: 'x'.repeat(8195) }, -32602, /id: is longer than 4096 bytes/],
    [{ from: stranger('11') }, 4100, /no key is held/],
  ])('refuses %j', async (more, code, message) => {
    const { ask } = await devNode();
    const refused = ask('wallet_sendCalls', { ...batch(), ...more });
    const reason = code < 0 ? 'INVALID_PARAMETER' : 'WALLET_REFUSED';
    await expect(refused).rejects.toMatchObject({ code, reason, message: expect.stringMatching(message) });
    expect(await ask('eth_getTransactionCount', ALL[0], 'pending')).toBe('0x0');
  });

  test('optional capabilities are left out, and 1024 batches are remembered', async () => {
    const { node } = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
    const ask = (id: string) =>
      node.request({
        method: 'wallet_sendCalls',
        params: [batch({ id, capabilities: { flow: { optional: true } }, calls: [{ to }] })],
      });
    for (let i = 0; i <= 1024; i++) {
      await ask(`batch ${i}`);
      if (i % 64 === 0) await node.request({ method: 'evm_mine' });
    }
    const status = (id: string) => node.request({ method: 'wallet_getCallsStatus', params: [id] });
    await expect(status('batch 0')).rejects.toMatchObject({ code: 5730 });
    expect((await status('batch 1')).status).toBe(200);
  });
});
