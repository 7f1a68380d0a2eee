import { createWalletClient, custom, SwitchChainError } from 'viem';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import { serve } from '../../src/hosts/cli/server.js';
import { type Clock, createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import { openInline } from '../../src/hosts/opening/open-inline.js';
import { devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, KeptStore, PRICE, stranger } from '../support/dev-node.js';
import type { Json } from '../support/lie-edits.js';
import { askIn, sharingOf } from '../support/stub-node.js';
import { TestBrowser } from '../support/tabs.js';
import { twoLayers } from '../support/two-layers.js';

const ROLLUP = devnet().chainId;
const LAYER_ONE = 1337;
const hex = (id: number): Hex => `0x${id.toString(16)}`;

async function openBoth({ l1, chains }: { l1: { clock: Clock }; chains: readonly LightChainOptions[] }) {
  const node = await createInlineNode({ clock: l1.clock, chains });
  onTestFinished(() => node.close());
  return node;
}

const ask = (node: { request(args: never): Promise<unknown> }, method: string, ...params: unknown[]) =>
  node.request({ method, params } as never) as Promise<Json>;

test('each chain answers as its own endpoints do, over one follower of the consensus', async () => {
  const scene = await twoLayers();
  const node = await openBoth(scene);
  const [rollup, layerOne] = [node.chain(ROLLUP), node.chain(LAYER_ONE)];
  expect(node.info.chains?.map(({ chainId, networkName }) => [chainId, networkName])).toEqual([
    [ROLLUP, 'own rollup'],
    [LAYER_ONE, 'own layer 1'],
  ]);
  expect(layerOne.info).toMatchObject({ chainId: LAYER_ONE, networkName: 'own layer 1' });
  const account = accountAt(2);
  // The node itself is the first chain.
  for (const one of [node, rollup]) {
    expect(await ask(one, 'eth_chainId')).toBe(hex(ROLLUP));
    expect(await ask(one, 'eth_getBalance', account, 'latest')).toBe(
      await scene.l2.ask('eth_getBalance', account, 'latest'),
    );
  }
  expect(await ask(layerOne, 'eth_chainId')).toBe(hex(LAYER_ONE));
  expect(await ask(layerOne, 'eth_getBalance', account, 'latest')).toBe(
    await scene.l1.dev.ask('eth_getBalance', account, '0x5'),
  );
  // The two have other balances: the rollup's account has sent a transaction.
  expect(await ask(layerOne, 'eth_getBalance', account, 'latest')).not.toBe(
    await ask(rollup, 'eth_getBalance', account, 'latest'),
  );
  const reports: Json[] = [];
  rollup.on('answer', (report) => void reports.push(report));
  expect((await ask(rollup, 'eth_getBlockByNumber', 'finalized', false)).number).toBe('0x2');
  expect(reports.at(-1)).toMatchObject({ level: 'settled' });
  expect((await ask(layerOne, 'eth_getBlockByNumber', 'finalized', false)).number).toBe('0x3');
  const paths = scene.l1.servers[0]!.beacon.seen;
  expect(paths.filter((path) => path.includes('/bootstrap/'))).toHaveLength(1);
  expect(paths.filter((path) => path.endsWith('/finality_update'))).toHaveLength(1);
  await expect(ask(layerOne, 'linea_estimateGas', { from: account, to: account })).rejects.toMatchObject({
    code: 4200,
  });
  expect(await ask(rollup, 'linea_estimateGas', { from: account, to: account })).toHaveProperty('gasLimit');
  expect(
    (await layerOne.previewTransaction({ from: account, to: stranger('bb'), value: '0x1' })).calls[0],
  ).toMatchObject({ status: 'success' });
});

test('a rollup reads its contract at the finalized block of layer 1, and never at an attested one', async () => {
  const scene = await twoLayers();
  const { l1, l2 } = scene;
  const [above, below] = scene.chains;
  // Asked each time.
  const node = await openBoth({ ...scene, chains: [{ ...above, finalityMaxAgeMs: 0 }, below] });
  const [rollup, layerOne] = [node.chain(ROLLUP), node.chain(LAYER_ONE)];
  const finalized = async () => [
    await ask(rollup, 'eth_getBlockByNumber', 'finalized', false),
    await ask(rollup, 'linea_getProof', accountAt(0), [], 'finalized'),
    await ask(layerOne, 'eth_getBlockByNumber', 'finalized', false),
  ];
  const before = await finalized();
  expect(before[0]).toEqual(await l2.ask('eth_getBlockByNumber', '0x2', false));
  const attest = async (number: number) => {
    l1.clock.advance(15_000);
    l1.servers[0]!.attested = { block: await l1.carry(l1.slotNow() - 1, number, l1.finalized) };
    return ask(layerOne, 'eth_getBlockByNumber', 'latest', false);
  };
  // The attested block says that block 4 of the rollup is final.
  await scene.finalize(l1.dev, 4);
  await l1.dev.ask('anvil_mine', 1);
  expect((await attest(7)).number).toBe('0x7');
  expect(await finalized()).toEqual(before);
  // It is replaced by one that says nothing of it, and of another state.
  const replaced = await ask(layerOne, 'eth_getBlockByNumber', 'latest', false);
  await l1.dev.ask('anvil_rollback', 2);
  await l1.dev.transfer(0, { nonce: 0, chainId: LAYER_ONE, to: stranger('aa'), value: 5n, ...PRICE });
  await l1.dev.ask('anvil_mine', 1);
  const head = await attest(7);
  expect(head.hash).not.toBe(replaced.hash);
  expect(head).toEqual(await l1.dev.ask('eth_getBlockByNumber', '0x7', false));
  expect(await finalized()).toEqual(before);
});

describe('wallet_switchEthereumChain', () => {
  const switchTo = (chainId: number) => ({ method: 'wallet_switchEthereumChain', params: [{ chainId: hex(chainId) }] });

  test('changes the chain of its provider, with one event, and of no other session', async () => {
    const node = await openBoth(await twoLayers());
    const seen: Hex[] = [];
    node.on('chainChanged', (id) => seen.push(id));
    const other = node.openSession(() => {});
    const idOf = async () =>
      ((await other.dispatch({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })).body as Json).result;
    expect(await node.request(switchTo(LAYER_ONE) as never)).toBeNull();
    expect(await node.request(switchTo(LAYER_ONE) as never)).toBeNull();
    expect(seen).toEqual([hex(LAYER_ONE)]);
    expect(await ask(node, 'eth_chainId')).toBe(hex(LAYER_ONE));
    expect(await idOf()).toBe(hex(ROLLUP));
    // What the library adds follows the provider.
    await expect(node.explainEstimate([{ from: accountAt(0), to: accountAt(1) }])).rejects.toThrow(/own layer 1/);
    const batch = [switchTo(LAYER_ONE), { method: 'eth_chainId', params: [] }].map((one, id) => ({
      jsonrpc: '2.0',
      id,
      ...one,
    }));
    await other.dispatch(batch);
    expect(await idOf()).toBe(hex(LAYER_ONE));
    await node.request(switchTo(ROLLUP) as never);
    expect(seen).toEqual([hex(LAYER_ONE), hex(ROLLUP)]);
    expect(await idOf()).toBe(hex(LAYER_ONE));
    other.close();
  });

  test('is refused for an unknown chain, for one chain of a node, and where there is no session', async () => {
    const node = await openBoth(await twoLayers());
    await expect(node.request(switchTo(5) as never)).rejects.toMatchObject({ code: 4902 });
    await expect(node.chain(ROLLUP).request(switchTo(LAYER_ONE) as never)).rejects.toMatchObject({ code: 4902 });
    expect(await node.chain(ROLLUP).request(switchTo(ROLLUP) as never)).toBeNull();
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...switchTo(LAYER_ONE) });
    const answer = await node.handle(new Request('http://127.0.0.1/', { method: 'POST', headers, body }));
    expect((await answer.json()) as Json).toMatchObject({ error: { code: 4902 } });
    expect(() => node.chain(5)).toThrow(/^chainId: must be the id of a chain of this node: \d+, 1337$/);
  });

  test('viem switches with it', async () => {
    const node = await openBoth(await twoLayers());
    const client = createWalletClient({ transport: custom(node) });
    expect(await client.getChainId()).toBe(ROLLUP);
    await client.switchChain({ id: LAYER_ONE });
    expect(await client.getChainId()).toBe(LAYER_ONE);
    await expect(client.switchChain({ id: 5 })).rejects.toThrow(SwitchChainError);
  });

  test('ends the subscriptions of the chain that is left', async () => {
    const scene = await twoLayers();
    const node = await openBoth(scene);
    const [left, stayed]: [unknown[], unknown[]] = [[], []];
    node.on('message', ({ data }) => void left.push(data));
    const rollup = node.chain(ROLLUP);
    rollup.on('message', ({ data }) => void stayed.push(data));
    for (const one of [node, rollup]) await ask(one, 'eth_subscribe', 'newHeads');
    await scene.l2.ask('evm_mine');
    await expect.poll(() => [left.length, stayed.length], { timeout: 30_000 }).toEqual([1, 1]);
    await node.request(switchTo(LAYER_ONE) as never);
    await scene.l2.ask('evm_mine');
    await expect.poll(() => stayed.length, { timeout: 30_000 }).toBe(2);
    expect(left).toHaveLength(1);
  });

  test('a subscription of the chain that is left is unknown to the other', async () => {
    const scene = await twoLayers();
    const node = await openBoth(scene);
    const id = await ask(node, 'eth_subscribe', 'newHeads');
    await node.request(switchTo(LAYER_ONE) as never);
    await expect(ask(node, 'eth_unsubscribe', id)).rejects.toThrow(/Subscription not found/);
  });
});

test('a server has a path for each chain', async () => {
  const scene = await twoLayers();
  const node = await openBoth(scene);
  const server = await serve(node, { port: 0 });
  onTestFinished(() => server.close());
  const post = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
    });
    return response.status === 200 ? ((await response.json()) as Json).result : response.status;
  };
  expect(await post('/')).toBe(hex(ROLLUP));
  expect(await post('/v3/key')).toBe(hex(ROLLUP));
  expect(await post(`/chain/${ROLLUP}`)).toBe(hex(ROLLUP));
  expect(await post(`/chain/${LAYER_ONE}`)).toBe(hex(LAYER_ONE));
  expect(await post('/chain/5')).toBe(404);
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/chain/${LAYER_ONE}`);
  onTestFinished(() => socket.close());
  await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: reject }));
  const answered = new Promise<MessageEvent>((resolve) => Object.assign(socket, { onmessage: resolve }));
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }));
  expect(JSON.parse(String((await answered).data)).result).toBe(hex(LAYER_ONE));
});

test('the store holds both, and a second session asks less', async () => {
  const scene = await twoLayers();
  const store = new KeptStore();
  const read = async () => {
    const node = await createInlineNode({ clock: scene.l1.clock, store, chains: scene.chains });
    const answers = [
      await ask(node.chain(ROLLUP), 'linea_getProof', accountAt(0), [], 'finalized'),
      await ask(node.chain(LAYER_ONE), 'eth_getBalance', accountAt(0), 'finalized'),
    ];
    await node.close();
    return answers;
  };
  const first = await read();
  const [before, bootstraps] = [
    scene.endpoint.seen.length,
    () => scene.l1.servers[0]!.beacon.seen.filter((path) => path.includes('/bootstrap/')).length,
  ];
  expect(bootstraps()).toBe(1);
  expect(await read()).toEqual(first);
  expect(bootstraps()).toBe(1);
  expect(scene.endpoint.seen.length - before).toBeLessThan(before);
});

test('tabs share one node: a switch is of one session, and outlives the writer', async () => {
  const scene = await twoLayers();
  const { clock } = scene.l1;
  const browser = new TestBrowser();
  const [first, second] = [browser.tab(), browser.tab()];
  const more = { options: { chains: scene.chains }, extras: { clock } };
  const one = await browser.open(first, openInline, more);
  const other = await browser.open(second, openInline, more);
  const [session, still, fixed] = [
    other.openSession(() => {}),
    other.openSession(() => {}),
    other.openSession(() => {}, undefined, LAYER_ONE),
  ];
  const ids = async () => [
    await askIn(session, 'eth_chainId', []),
    await askIn(still, 'eth_chainId', []),
    await askIn(fixed, 'eth_chainId', []),
    await ask1(other),
  ];
  const ask1 = async (node: typeof other) => {
    const payload = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
    const { body } = await node.dispatch('l2', payload, undefined, { chain: LAYER_ONE });
    return (body as Json).result;
  };
  await askIn(session, 'wallet_switchEthereumChain', [{ chainId: hex(LAYER_ONE) }]);
  // One that stays with its chain keeps its subscriptions, where it is asked to switch to that chain.
  const heads: unknown[] = [];
  const own = other.openSession(({ result }) => heads.push(result), undefined, ROLLUP);
  const atStart = other.openSession(({ result }) => heads.push(result));
  for (const one of [own, atStart]) {
    await askIn(one, 'eth_subscribe', ['newHeads']);
    await askIn(one, 'wallet_switchEthereumChain', [{ chainId: hex(ROLLUP) }]);
  }
  await scene.l2.ask('evm_mine');
  await expect.poll(() => heads.length, { timeout: 30_000 }).toBe(2);
  const layerOneOwn = other.openSession(({ result }) => heads.push(result), undefined, LAYER_ONE);
  await askIn(layerOneOwn, 'eth_subscribe', ['newHeads']);
  await askIn(layerOneOwn, 'wallet_switchEthereumChain', [{ chainId: hex(LAYER_ONE) }]);
  scene.l1.clock.advance(3_000);
  scene.l1.servers[0]!.attested = { block: await scene.l1.carry(scene.l1.slotNow() - 1, 6, scene.l1.finalized) };
  await expect.poll(() => heads.length, { timeout: 30_000 }).toBe(3);
  const expected = [hex(LAYER_ONE), hex(ROLLUP), hex(LAYER_ONE), hex(LAYER_ONE)];
  expect(await ids()).toEqual(expected);
  expect(
    await askIn(
      one.openSession(() => {}),
      'eth_chainId',
      [],
    ),
  ).toBe(hex(ROLLUP));
  first.kill();
  expect(await ids()).toEqual(expected);
  expect(await sharingOf(other)).toMatchObject({ role: 'writer' });
});

test('options that cannot be used are refused by name', async () => {
  const light = { kind: 'light', network: linea, endpoints: ['http://127.0.0.1:1'] } as const;
  const scene = await twoLayers();
  const [rollup, layerOne] = scene.chains;
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ chains: [] }, /^chains: must be a list of light chains/],
    [{ chains: [{ kind: 'devnet', network: devnet() }] }, /^chains\[0\]/],
    [{ chains: [light, light] }, /^chains\[1\]\.network: has chain id 59144/],
    [{ chains: [light], chain: light }, /^chain: must be left out/],
    [{ chains: [{ ...light, endpoint: [] }] }, /^chains\[0\]\.endpoint/],
    [
      { chains: [layerOne, { ...rollup, layerOne: ['http://127.0.0.1:1'] }] },
      /^chains\[1\]\.layerOne: must be left out: chains\[0\]/,
    ],
  ];
  for (const [options, message] of wrong)
    await expect(createInlineNode(options as InlineOptions)).rejects.toThrow(message);
});
