import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { VerifiedConsensus } from '../../src/consensus/consensus-request.js';
import { judgeConsensus } from '../../src/consensus/judge-consensus.js';
import { periodAt, slotAtTime } from '../../src/consensus/networks/beacon-network.js';
import { SIMULATED_BEACON } from '../../src/consensus/networks/simulated-network.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { type RunningServer, serve } from '../../src/hosts/server/serve.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { toQuantity } from '../../src/primitives/quantity.js';

const ORIGIN = 'https://wallet.example';
let node: PlumblineNode;
let server: RunningServer;

beforeAll(async () => {
  // The clock stands, so that a slow machine does not move the chain between two requests.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-06-01T12:00:00Z') });
  node = await createInlineNode({ http: { allowedOrigins: [ORIGIN] } });
  server = await serve(node, { port: 0 });
});
afterAll(async () => {
  await server.close();
  await node.close();
  vi.useRealTimers();
});

const address = (path: string) => `http://127.0.0.1:${server.port}/l1/eth/v1/beacon/${path}`;
const get = (path: string, init?: RequestInit) => fetch(address(path), init);
const json = async (path: string) => {
  const response = await get(path);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  return response.json();
};

test('a client goes from a checkpoint to the newest layer-1 block, which the execution API has by its hash', async () => {
  await node.request({ method: 'anvil_mine', params: ['0x5'] });
  const { finalized, data } = await json('headers/finalized');
  expect(finalized).toBe(true);
  const { root, header } = data as { root: Hex; header: { message: { slot: string } } };
  const period = periodAt(SIMULATED_BEACON, Number(header.message.slot));
  const bootstrap = await json(`light_client/bootstrap/${root}`);
  const updates = await json(`light_client/updates?start_period=${period}&count=2`);
  const answers = [
    { kind: 'updates', answer: updates },
    { kind: 'finality_update', answer: await json('light_client/finality_update') },
    { kind: 'optimistic_update', answer: await json('light_client/optimistic_update') },
  ] as const;
  const verdict = await judgeConsensus({
    network: SIMULATED_BEACON,
    from: { root: hexToBytes(root), bootstrap },
    answers,
  });
  expect(verdict).toMatchObject({ verified: true, finalized: { number: 3 } });
  const { blockHash, stateRoot, number } = (verdict as VerifiedConsensus).finalized;
  const block = await node.l1.request({ method: 'eth_getBlockByHash', params: [bytesToHex(blockHash), false] });
  expect(block).toMatchObject({ number: '0x3', hash: bytesToHex(blockHash), stateRoot: bytesToHex(stateRoot!) });
  expect(await node.l1.request({ method: 'eth_getBlockByNumber', params: [toQuantity(number!), false] })).toEqual(
    block,
  );
  expect(await node.l1.request({ method: 'eth_getBlockByHash', params: [root, false] })).toBeNull();
});

test('genesis and headers by slot, root and name, as beacon nodes answer', async () => {
  const { genesisTime, genesisValidatorsRoot, forks } = SIMULATED_BEACON;
  expect(await json('genesis')).toEqual({
    data: {
      genesis_time: String(genesisTime),
      genesis_validators_root: genesisValidatorsRoot,
      genesis_fork_version: forks[0]!.version,
    },
  });
  const finalized = await json('headers/finalized');
  const { root, header } = finalized.data;
  expect(await json(`headers/${root}`)).toEqual(finalized);
  expect(await json(`headers/${header.message.slot}`)).toEqual(finalized);
  expect(Number((await json('headers/head')).data.header.message.slot)).toBeGreaterThan(Number(header.message.slot));
});

test.each([
  [400, 'headers/0x12'],
  [404, `headers/0x${'12'.repeat(32)}`],
  [404, 'headers/7'],
  [400, 'light_client/bootstrap/finalized'],
  [404, `light_client/bootstrap/0x${'12'.repeat(32)}`],
  [400, 'light_client/updates'],
  [400, 'light_client/updates?start_period=-1&count=1'],
  [400, 'light_client/updates?start_period=1&count=0'],
  [404, 'states/head/root'],
])('%i for %s, with code and message', async (status, path) => {
  const response = await get(path);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ code: status, message: expect.any(String) });
});

test('no updates for periods to come', async () => {
  const period = periodAt(SIMULATED_BEACON, slotAtTime(SIMULATED_BEACON, Date.now()));
  expect(await json(`light_client/updates?start_period=${period + 10}&count=4`)).toEqual([]);
});

test('origins are checked and answered as for JSON-RPC', async () => {
  const allowed = await get('genesis', { headers: { origin: ORIGIN } });
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN]);
  const preflight = await get('genesis', { method: 'OPTIONS', headers: { origin: ORIGIN } });
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'POST, GET, OPTIONS',
  ]);
  expect((await get('genesis', { headers: { origin: 'https://other.example' } })).status).toBe(403);
  expect((await get('genesis', { method: 'DELETE' })).status).toBe(404);
});

test('only layer 1 has the beacon API, and any other GET is answered as before', async () => {
  const path = 'http://127.0.0.1/prefix/eth/v1/beacon/genesis';
  expect((await node.handleL1(new Request(path))).status).toBe(200);
  expect((await node.handle(new Request(path))).status).toBe(201);
  expect((await node.handleL1(new Request('http://127.0.0.1/l1'))).status).toBe(201);
});
