import { expect, onTestFinished, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { METHOD_INFO } from '../../src/rpc/method-info.js';
import { accountAt, devNode, PRICE } from '../support/dev-node.js';
import { serveMock } from '../support/mock-chain.js';
import { signTransaction } from '../support/sign.js';

// A request of a light node that is aborted ends its requests to endpoints: the connection is closed, not only the waiting ended.

const TRANSACTION = `0x${'11'.repeat(32)}`;
const BLOCK = `0x${'22'.repeat(32)}`;
const DEPTHS = [0, 1, 2, 3, 4, 5, 6];
const CALL = { from: accountAt(0), to: accountAt(1), value: '0x1' };
const RAW = signTransaction(1, { nonce: 0, to: accountAt(0), value: 1n, gasLimit: 21_000n, ...PRICE });

/** Parameters of the methods that need some. */
const PARAMS: Readonly<Record<string, readonly unknown[]>> = {
  debug_getRawBlock: ['0x1'],
  debug_getRawHeader: ['0x1'],
  debug_getRawReceipts: ['0x1'],
  debug_getRawTransaction: [TRANSACTION],
  debug_traceBlockByHash: [BLOCK],
  debug_traceBlockByNumber: ['0x1'],
  debug_traceCall: [CALL, 'latest'],
  debug_traceTransaction: [TRANSACTION],
  eth_call: [CALL, 'latest'],
  eth_createAccessList: [CALL],
  eth_estimateGas: [CALL],
  eth_feeHistory: ['0x2', 'latest', [50]],
  eth_fillTransaction: [CALL],
  eth_getAccount: [accountAt(0), 'latest'],
  eth_getAccountInfo: [accountAt(0), 'latest'],
  eth_getBalance: [accountAt(0), 'finalized'],
  eth_getBlockByHash: [BLOCK, true],
  eth_getBlockByNumber: ['0x1', true],
  eth_getBlockAccessList: ['latest'],
  eth_getBlockReceipts: ['0x1'],
  eth_getBlockTransactionCountByHash: [BLOCK],
  eth_getBlockTransactionCountByNumber: ['0x1'],
  eth_getCode: [accountAt(0), 'latest'],
  infura_simulateTransactions: [{ transactions: [CALL] }],
  eth_getHeaderByHash: [BLOCK],
  eth_getHeaderByNumber: ['finalized'],
  eth_getLogs: [{ fromBlock: '0x0', toBlock: 'latest' }],
  eth_getProof: [accountAt(0), [], 'latest'],
  eth_getRawTransactionByBlockHashAndIndex: [BLOCK, '0x0'],
  eth_getRawTransactionByBlockNumberAndIndex: ['0x1', '0x0'],
  eth_getRawTransactionByHash: [TRANSACTION],
  eth_getStorageAt: [accountAt(0), '0x0', 'latest'],
  eth_getStorageValues: [{ [accountAt(0)]: ['0x0'] }, 'latest'],
  eth_getTransactionByBlockHashAndIndex: [BLOCK, '0x0'],
  eth_getTransactionByBlockNumberAndIndex: ['0x1', '0x0'],
  eth_getTransactionByHash: [TRANSACTION],
  eth_getTransactionCount: [accountAt(0), 'latest'],
  eth_getTransactionReceipt: [TRANSACTION],
  eth_getUncleByBlockHashAndIndex: [BLOCK, '0x0'],
  eth_getUncleByBlockNumberAndIndex: ['0x1', '0x0'],
  eth_getUncleCountByBlockHash: [BLOCK],
  eth_getUncleCountByBlockNumber: ['0x1'],
  eth_sendRawTransaction: [RAW],
  eth_sendRawTransactionSync: [RAW],
  eth_simulateV1: [{ blockStateCalls: [{ calls: [CALL] }] }, 'latest'],
  linea_estimateGas: [CALL],
  linea_getForcedTransactionInclusionStatus: ['0x1'],
  linea_getProof: [accountAt(0), [], 'latest'],
  linea_getTransactionExclusionStatusV1: [TRANSACTION],
  linea_sendForcedRawTransaction: [[]],
  plumbline_previewSignature: [{ calls: [{ to: accountAt(1), value: '0x1' }] }, { account: accountAt(0) }],
};

/** Methods that ask no endpoint by themselves. */
const ASKS_NOTHING: readonly string[] = [
  'eth_accounts',
  'eth_chainId',
  'eth_coinbase',
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_hashrate',
  'eth_mining',
  'eth_newPendingTransactionFilter',
  'eth_pendingTransactions',
  'eth_protocolVersion',
  'eth_subscribe',
  'eth_syncing',
  'eth_uninstallFilter',
  'eth_unsubscribe',
  'linea_getMessageProof',
  'net_listening',
  'net_peerCount',
  'net_version',
  'plumbline_lookupAddress',
  'plumbline_resolveName',
  'rpc.discover',
  'rpc_modules',
  'wallet_addEthereumChain',
  'wallet_switchEthereumChain',
  'web3_clientVersion',
  'web3_sha3',
];

const METHODS = Object.entries(METHOD_INFO.l2)
  .filter(([, { answers }]) => answers.light !== 'off')
  .map(([name]) => name);

/** Two endpoints, of layer 2 and of layer 1, that hang after some requests. */
async function hanging() {
  const dev = await devNode();
  const transaction = await dev.transfer(0, { nonce: 0 });
  const { hash: block } = await dev.ask<{ hash: string }>('eth_getBlockByNumber', '0x1', false);
  await dev.ask('anvil_mine', '0x8');
  const open = new Set<object>();
  const rest = { requests: 0 };
  const intercept: NonNullable<Parameters<typeof serveMock>[1]>['intercept'] = (response) => {
    if (rest.requests-- > 0) return false;
    open.add(response);
    response.on('close', () => open.delete(response));
    return true;
  };
  const [endpoint, layerOne] = [await serveMock(dev.node, { intercept }), await serveMock(dev.node.l1, { intercept })];
  onTestFinished(async () => void (await Promise.all([endpoint.close(), layerOne.close()])));
  return { dev, open, endpoint, layerOne, rest, transaction, block };
}

async function lightOver({ endpoint, layerOne }: Pick<Awaited<ReturnType<typeof hanging>>, 'endpoint' | 'layerOne'>) {
  const chain = { kind: 'light', network: devnet(), endpoints: [endpoint.url], layerOne: [layerOne.url] } as const;
  const node = await createInlineNode({ chain });
  onTestFinished(() => node.close());
  return node;
}

test('every method that is aborted closes its connections to endpoints', async () => {
  const scene = await hanging();
  const silent: string[] = [];
  const left: string[] = [];
  /** How deep into its requests a method was aborted. */
  const depths: Record<string, number> = {};
  for (const [method, passed] of METHODS.flatMap((name) => DEPTHS.map((depth) => [name, depth] as const))) {
    if (depths[method] !== undefined && depths[method] < passed - 1) continue;
    // A node of its own: what another request has read is not asked for again.
    const node = await lightOver(scene);
    const stop = new AbortController();
    scene.rest.requests = passed;
    const named = JSON.stringify(PARAMS[method] ?? [])
      .replaceAll(TRANSACTION, scene.transaction)
      .replaceAll(BLOCK, scene.block);
    const ended = node
      .request<UntypedMethod>({ method, params: JSON.parse(named) }, { signal: stop.signal })
      .then(() => 'answered', String);
    const asked = expect.poll(() => scene.open.size, { interval: 2, timeout: 2_000 }).toBeGreaterThan(0);
    const outcome = await Promise.race([
      ended,
      asked.then(
        () => undefined,
        () => 'asks nothing',
      ),
    ]);
    if (outcome === undefined) depths[method] = passed;
    else if (passed === 0) silent.push(method);
    stop.abort();
    await ended;
    await expect
      .poll(() => scene.open.size, { interval: 2, timeout: 500 })
      .toBe(0)
      .catch(() => left.push(`${method} after ${passed}`));
    scene.open.clear();
    await node.close();
  }
  expect(left).toEqual([]);
  expect(silent).toEqual(ASKS_NOTHING);
  // Those that need several round trips were aborted in each of them.
  expect(depths).toMatchObject({ linea_getProof: 3, eth_getTransactionReceipt: 4 });
});

test('a read that two requests share goes on for the one that stays', async () => {
  const scene = await hanging();
  const node = await lightOver(scene);
  const stop = new AbortController();
  const leaves = node.request({ method: 'eth_blockNumber' }, { signal: stop.signal }).catch(() => 'left');
  const stays = node.request({ method: 'eth_blockNumber' });
  await expect.poll(() => scene.open.size).toBe(1);
  stop.abort();
  expect(await leaves).toBe('left');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(scene.open.size).toBe(1);
  stays.catch(() => {});
});
