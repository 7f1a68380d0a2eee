import { expect, type Page, test } from '@playwright/test';
import { privateKeyToAccount } from 'viem/accounts';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import {
  type Answer,
  call,
  openProxyScene,
  type ProxyScene,
  post,
  register,
  TOKEN,
  TRANSFER,
  update,
} from '../support/proxy-scene.js';
import type { SiteLibrary } from '../support/proxy-site.js';
import { signTransaction } from '../support/sign.js';
import { stopWorkers } from '../support/stop-workers.js';

let scene: ProxyScene;
test.beforeEach(async () => {
  scene = await openProxyScene();
});
test.afterEach(() => scene.close());

/** As a dapp does with viem: an estimate, the chain id, and a method that no light node has. */
function askByViem(page: Page, url: string): Promise<{ gasLimit: string; chainId: number; echo: unknown }> {
  return page.evaluate(
    async ([address, request]) => {
      const { viem, viemLinea } = (globalThis as unknown as { lib: SiteLibrary }).lib;
      const client = viem.createPublicClient({ transport: viem.http(address) });
      const { from, to, data } = request as unknown as Record<'from' | 'to' | 'data', `0x${string}`>;
      const estimate = await viemLinea.estimateGas(client as never, { account: from, to, data } as never);
      const echo = await client.request({ method: 'debug_echo', params: ['a', 1] } as never);
      return { gasLimit: String(estimate.gasLimit), chainId: await client.getChainId(), echo };
    },
    [url, TRANSFER] as const,
  );
}

const expected = async () =>
  BigInt(
    ((await scene.dev.request({ method: 'linea_estimateGas', params: [TRANSFER] })) as { gasLimit: string }).gasLimit,
  ).toString();

test('a page with viem and an unchanged URL estimates locally and forwards, after stops and updates, in every tab', async ({
  context,
}) => {
  const origins = new Set<string>();
  context.on('request', (request) => origins.add(new URL(request.url()).origin));
  const page = await scene.openPage(context);
  await register(page, await scene.lightOptions());
  scene.upstream.seen.length = 0;
  await post(page, scene.upstream.url, call('linea_getProof', [TOKEN, [], 'latest']));
  const want = { gasLimit: await expected(), chainId: scene.dev.info.chainId, echo: ['a', 1] };
  expect(await askByViem(page, scene.upstream.url)).toEqual(want);
  expect(scene.seenMethods()).toContain('debug_echo');
  expect(scene.seenMethods()).toContain('eth_getProof');

  await stopWorkers(context, page);
  expect(await askByViem(page, scene.upstream.url)).toEqual(want);
  // A tab that was never told anything of the proxy.
  const second = await scene.openPage(context, '/second');
  await stopWorkers(context, page);
  expect(await askByViem(second, scene.upstream.url)).toEqual(want);
  expect(await askByViem(page, scene.upstream.url)).toEqual(want);
  // Another version of the worker.
  await update(page, scene.site, '\n// changed');
  expect(await askByViem(page, scene.upstream.url)).toEqual(want);
  expect(await askByViem(second, scene.upstream.url)).toEqual(want);

  expect(scene.seenMethods().filter((method) => /estimateGas/i.test(method))).toEqual([]);
  const configured = [scene.site.origin, new URL(scene.upstream.url).origin, new URL(scene.layerOne.url).origin];
  expect([...origins].sort()).toEqual(configured.sort());
});

test('a devnet on a path answers 200 calls at once, and keeps its blocks after stops', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, {});
  const answers = await page.evaluate(async () => {
    const calls = Array.from({ length: 200 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      ...(id % 2 === 0
        ? { method: 'web3_clientVersion', params: [] }
        : { method: 'eth_getStorageAt', params: [`0x${id.toString(16).padStart(40, '0')}`, '0x0', 'latest'] }),
    }));
    const one = async (body: object) => (await fetch('/rpc', { method: 'POST', body: JSON.stringify(body) })).json();
    return Promise.all(calls.map(one)) as Promise<{ id: number; result: string }[]>;
  });
  expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, id) => id));
  expect(answers.every(({ id, result }) => /plumbline/.test(result) === (id % 2 === 0))).toBe(true);

  for (let block = 1; block <= 3; block++) {
    await post(page, '/rpc', call('evm_mine'));
    await stopWorkers(context, page);
    expect((await post(page, '/rpc', call('eth_blockNumber'))).json.result).toBe(`0x${block}`);
  }
  expect((await post(page, '/rpc', call('linea_getProof', [TOKEN, ['0x2'], 'latest']))).json.result).toMatchObject({
    accountProof: { key: TOKEN },
    storageProofs: [{ key: `0x${'2'.padStart(64, '0')}` }],
  });
  expect((await post(page, '/rpc', call('linea_getProof', [TOKEN, [], '0x63']))).json.error?.code).toBe(-32600);
  expect(scene.site.posts).toEqual([]);
  await context.setOffline(true);
  await stopWorkers(context, page);
  expect((await post(page, '/rpc', call('eth_blockNumber'))).json.result).toBe('0x3');
  await context.setOffline(false);
  // No server answers behind the path, so the node's own error is the answer.
  expect((await post(page, '/rpc', call('nope'))).json.error).toMatchObject({ code: -32601 });
  expect(scene.site.posts.map(({ path }) => path)).toEqual(['/rpc']);
});

test('a devnet signs, recovers who signed, and runs the precompile that does, with nothing but its installed scripts', async ({
  context,
}) => {
  const page = await scene.openPage(context);
  await register(page, {});
  await context.setOffline(true);
  await stopWorkers(context, page);
  const ask = async (method: string, ...params: unknown[]) => (await post(page, '/rpc', call(method, params))).json;
  const chainId = Number((await ask('eth_chainId')).result);
  const [from, , to] = (await ask('eth_accounts')).result as string[];
  const sent = await ask('eth_sendTransaction', { from, to, value: '0x1' });
  expect(await ask('eth_getTransactionReceipt', sent.result)).toMatchObject({ result: { from, to, status: '0x1' } });
  // Signed by viem with the same key.
  const signature = await privateKeyToAccount(DEV_ACCOUNTS[0]!.privateKey).signMessage({ message: 'hello' });
  expect(await ask('personal_sign', '0x68656c6c6f', from)).toMatchObject({ result: signature });
  expect(await ask('wallet_getPermissions')).toMatchObject({ result: [{ invoker: scene.site.origin }] });
  const fields = { nonce: 0, gasLimit: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n, chainId };
  const raw = signTransaction(1, { ...fields, to: TOKEN as Hex });
  const known = await ask('eth_sendRawTransaction', raw);
  const sender = DEV_ACCOUNTS[1]!.address;
  expect(await ask('eth_getTransactionByHash', known.result)).toMatchObject({ result: { from: sender, nonce: '0x0' } });
  // ethereum/go-ethereum core/vm/testdata/precompiles/ecRecover.json, `ValidKey`.
  const data = `0x18c547e4f7b0f325ad1e56f57e26c745b09a3e503d86e00e5255ff7f715d3d1c${'1c'.padStart(64, '0')}73b1693892219d736caba55bdb67216e485557ea6b6af75f37096c9aa6a5a75feeb940b1d03b21e36b0e47e79769f095fe2ab855bd91e3a38756b7d75a9c4549`;
  const answer = await ask('eth_call', { to: '0x0000000000000000000000000000000000000001', data }, 'latest');
  expect(answer.result).toBe(`0x${'a94f5374fce5edbc8e2a8697c15331677e6ebf0b'.padStart(64, '0')}`);
  await context.setOffline(false);
});

test('batches are split and merged in order, each answer with its id', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, { urls: [scene.upstream.url] });
  scene.upstream.seen.length = 0;
  const batch = [
    call('debug_echo', ['first'], 'x'),
    call('eth_chainId', [], 7),
    { jsonrpc: '2.0', method: 'debug_echo', params: ['told'] },
    'no request',
    call('debug_echo', ['second'], 7),
    call('debug_missing', [], null),
    { jsonrpc: '2.0', method: 'evm_mine', params: [] },
    call('eth_blockNumber', [], 'x'),
    call('eth_getBalance', ['no address', 'latest'], 8),
  ];
  const { json, classes, status } = await post<Answer[]>(page, scene.upstream.url, batch);
  expect(status).toBe(200);
  expect(json).toEqual([
    { jsonrpc: '2.0', id: 'x', result: ['first'] },
    { jsonrpc: '2.0', id: 7, result: `0x${scene.dev.info.chainId.toString(16)}` },
    {
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32600,
        message: 'Invalid Request',
        data: { reason: 'REQUEST_MALFORMED', details: { reason: 'is not a request' } },
      },
    },
    { jsonrpc: '2.0', id: 7, result: ['second'] },
    {
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32601,
        message: 'Method not found (debug_missing)',
        data: { reason: 'UPSTREAM_ERROR', details: expect.objectContaining({ forwarded: true }) },
      },
    },
    { jsonrpc: '2.0', id: 'x', result: '0x1' },
    { jsonrpc: '2.0', id: 8, error: expect.objectContaining({ code: -32602 }) },
  ]);
  expect(classes).toBe('forwarded, held, error, forwarded, forwarded, held, error');
  expect(scene.seenMethods()).toEqual(['debug_echo', 'debug_echo', 'debug_echo', 'debug_missing']);
  expect(scene.upstream.seen).toHaveLength(1);

  expect(await post(page, scene.upstream.url, [])).toMatchObject({ status: 400, json: { error: { code: -32600 } } });
  expect(await post(page, scene.upstream.url, 'text')).toMatchObject({
    status: 400,
    json: { error: { code: -32700 } },
  });
  const estimate = await post(page, scene.upstream.url, call('linea_estimateGas', [TRANSFER]));
  expect(estimate).toMatchObject({ classes: 'computed', json: { result: { baseFeePerGas: '0x7' } } });
});

test('a response of an endpoint is passed on only if it is a JSON-RPC answer', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, { urls: [scene.upstream.url] });
  const said = async (body: string, status = 200, headers = {}) => {
    scene.upstream.options.intercept = (response) => {
      response.writeHead(status, headers).end(body);
      return true;
    };
    return (await post(page, scene.upstream.url, call('debug_echo', [], 5))).json;
  };
  const failed = (reason: string) => ({
    jsonrpc: '2.0',
    id: 5,
    error: {
      code: -32000,
      message: `${new URL(scene.upstream.url).origin}: ${reason}`,
      data: expect.objectContaining({ reason: expect.stringMatching(/^UPSTREAM_(?:MALFORMED|UNAVAILABLE)$/) }),
    },
  });
  expect(await said('<html>')).toEqual(failed('status 200: the answer is not JSON'));
  expect(await said('{"jsonrpc":"2.0","id":1')).toEqual(failed('status 200: the answer is not JSON'));
  expect(await said('{"jsonrpc":"2.0","id":9,"result":1}')).toEqual(failed('the answer to this call is missing'));
  expect(await said('{"jsonrpc":"2.0","id":null,"result":1}')).toEqual(failed('the answer to this call is missing'));
  expect(await said('{"jsonrpc":"2.0","id":1,"result":1,"more":2}')).toEqual({ jsonrpc: '2.0', id: 5, result: 1 });
  expect(await said('{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"slow down"}}', 429)).toEqual({
    jsonrpc: '2.0',
    id: 5,
    error: { code: -32005, message: 'slow down', data: expect.objectContaining({ reason: 'UPSTREAM_ERROR' }) },
  });
  const elsewhere = { location: `${scene.site.origin}/elsewhere` };
  expect(await said('', 307, elsewhere)).toEqual(
    failed('it redirects, which is not followed; use the URL it redirects to'),
  );
  expect(scene.site.posts).toEqual([]);
  scene.upstream.options.intercept = (response) => {
    response.destroy();
    return true;
  };
  const broken = await post(page, scene.upstream.url, call('debug_echo', [], 5));
  expect(broken.json).toEqual(
    failed('no connection: down, or no CORS headers for this page, which a browser does not tell apart; check both'),
  );
});
