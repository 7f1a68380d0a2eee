import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/test-token.js';
import { Finality } from '../../src/chain/light/finality.js';
import { ZkProofs } from '../../src/chain/light/zk-proofs.js';
import type { LightChainOptions } from '../../src/hosts/light-options.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Network } from '../../src/networks/network.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { systemClock } from '../../src/upstream/clock.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { withBlocksByHash } from '../support/blocks-by-hash.js';
import { accountAt, KeptStore, PRICE, stranger, word } from '../support/dev-node.js';
import { type LightScene, type LightSceneOptions, lightScene } from '../support/light-node.js';
import { type MockEndpoint, type SeenCall, serveMock } from '../support/mock-chain.js';
import { signTransaction } from '../support/sign.js';

interface Log {
  readonly address: Hex;
  readonly topics: readonly Hex[];
}

/** A chain of six blocks of which layer 1 holds the first four. */
async function settled(options: LightSceneOptions = {}): Promise<LightScene> {
  const scene = await lightScene(options);
  for (let nonce = 0; nonce < 6; nonce++) await scene.dev.transfer(0, { nonce });
  return scene;
}

const PROOF = ['linea_getProof', accountAt(0), [], 'latest'] as const;

describe('what layer 1 holds', () => {
  test.each([false, true])('finalized and safe, layer 1 proved: %s', async (proveLayerOne) => {
    const { ask, dev, layerOne } = await settled({ chain: { proveLayerOne } });
    for (const tag of ['finalized', 'safe']) {
      expect(await ask('eth_getBlockByNumber', tag, true)).toEqual(await dev.ask('eth_getBlockByNumber', '0x4', true));
    }
    expect(await ask(...PROOF)).toEqual(await dev.ask(...PROOF));
    const methods = new Set(layerOne.seen.flat().map(({ method }) => method));
    expect(methods.has('eth_call')).toBe(!proveLayerOne);
    expect(methods.has('eth_getProof')).toBe(proveLayerOne);
  });

  test('older blocks with a root are provable; blocks without one are not', async () => {
    const finality = { batchBlocks: 2, delayBlocks: 0 };
    const { ask, dev } = await settled({ dev: { chain: { kind: 'devnet', finality } } });
    for (const block of ['0x2', '0x4', '0x6', 'latest', 'finalized', 'earliest']) {
      expect(await ask('linea_getProof', TEST_TOKEN, [word(2n)], block), block).toEqual(
        await dev.ask('linea_getProof', TEST_TOKEN, [word(2n)], block),
      );
    }
    for (const block of ['0x1', '0x3', '0x7']) {
      await expect(ask('linea_getProof', TEST_TOKEN, [], block), block).rejects.toMatchObject({
        code: -32600,
        message: 'BLOCK_MISSING_IN_CHAIN - block is missing',
      });
    }
  });

  test('both values are read at one layer-1 block', async () => {
    const scene = await settled();
    await scene.ask(...PROOF);
    const calls = scene.layerOne.seen.flat().filter(({ method }) => method === 'eth_call');
    expect(calls).toHaveLength(2);
    expect(calls[0]!.params[1]).toEqual(calls[1]!.params[1]);
    expect(calls[0]!.params[1]).toHaveProperty('blockHash');
  });

  const lies: [string, (call: SeenCall, result: unknown) => unknown, RegExp][] = [
    ['another root', ({ params }, result) => (isRootCall(params) ? word(1n) : result), /zk proof of/],
    ['no root', ({ params }, result) => (isRootCall(params) ? word(0n) : result), /rollup contract.*ROOT_MISSING/],
    [
      'a newer block',
      ({ params }, result) => (isCurrentCall(params) ? word(5n) : result),
      /rollup contract.*ROOT_MISSING/,
    ],
    [
      'a header that does not have its hash',
      ({ method }, result) =>
        method === 'eth_getBlockByNumber' ? { ...(result as object), stateRoot: word(1n) } : result,
      /layer-1 header.*HASH_MISMATCH/,
    ],
  ];
  test.each(lies)('a lie of layer 1 is refused: %s', async (_, tamper, message) => {
    const scene = await settled();
    scene.layerOne.options.tamper = tamper;
    await expect(scene.ask(...PROOF)).rejects.toMatchObject({ message });
  });

  test('two endpoints of layer 1 have to agree where that is asked', async () => {
    const scene = await settled();
    const other = await serveMock(scene.dev.node.l1);
    onTestFinished(() => other.close());
    const chain = { layerOne: [scene.layerOne.url, other.url], layerOneAgreeing: 2 };
    const light = await scene.open(chain);
    const request = { method: PROOF[0], params: PROOF.slice(1) };
    expect(await light.request(request)).toEqual(await scene.dev.ask(...PROOF));
    other.options.tamper = ({ params }, result) => (isCurrentCall(params) ? word(3n) : result);
    await expect((await scene.open(chain)).request(request)).rejects.toMatchObject({ message: /endpoints disagree/ });
  });

  test('finalizations by their events, with the roots that the contract holds', async () => {
    const finality = { batchBlocks: 2, delayBlocks: 0 };
    const { dev, layerOne } = await settled({ dev: { chain: { kind: 'devnet', finality } } });
    const group = new EndpointGroup({ role: 'l1', endpoints: [layerOne.url] });
    onTestFinished(() => group.close());
    const { rollup } = devnet();
    const events = await new Finality(group, { rollup, maxAgeMs: 0, prove: false, clock: systemClock }).events(0, 3);
    const rootOf = (block: number) =>
      dev.node.l1.request({
        method: 'eth_call',
        params: [{ to: rollup.address, data: `0x8be745d1${word(BigInt(block)).slice(2)}` }, 'latest'],
      });
    expect(events.map(({ first, last }) => [first, last])).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    for (const { last, root } of events) expect(bytesToHex(root)).toBe(await rootOf(last));
  });

  test.each([
    ['another contract', (log: Log) => ({ ...log, address: stranger('66') })],
    ['another event', (log: Log) => ({ ...log, topics: [word(1n), ...log.topics.slice(1)] })],
    ['a topic too few', (log: Log) => ({ ...log, topics: log.topics.slice(0, 2) })],
  ])('events of another kind are refused: %s', async (_, change) => {
    const { layerOne } = await settled();
    layerOne.options.tamper = ({ method }, result) =>
      method === 'eth_getLogs' ? (result as Log[]).map((log, i) => (i === 1 ? change(log) : log)) : result;
    const group = new EndpointGroup({ role: 'l1', endpoints: [layerOne.url] });
    onTestFinished(() => group.close());
    const options = { rollup: devnet().rollup, maxAgeMs: 0, prove: false, clock: systemClock };
    await expect(new Finality(group, options).events(0, 3)).rejects.toMatchObject({
      code: 'ANSWER_REFUSED',
      details: { what: 'finalization event', check: 'OTHER_EVENT', at: '[1]' },
    });
  });

  test('a clock that is set back does not make an old reading a fresh one', async () => {
    const scene = await settled();
    expect(await scene.ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x4' });
    await scene.dev.transfer(0, { nonce: 6 });
    scene.clock.advance(-3_600_000);
    expect(await scene.ask('eth_getBlockByNumber', 'finalized', false)).toMatchObject({ number: '0x5' });
  });

  test('of a block above what is finalized layer 1 is not asked', async () => {
    const scene = await settled();
    await scene.ask(...PROOF);
    const asked = scene.layerOne.seen.length;
    await expect(scene.ask('linea_getProof', accountAt(0), [], '0x6')).rejects.toMatchObject({ code: -32600 });
    expect(scene.layerOne.seen).toHaveLength(asked);
  });

  test('an older block than before is refused', async () => {
    const scene = await settled({ chain: { finalityMaxAgeMs: 1_000 } });
    await scene.ask(...PROOF);
    scene.layerOne.options.tamper = ({ params }, result) => (isCurrentCall(params) ? word(3n) : result);
    scene.clock.advance(5_000);
    await expect(scene.ask(...PROOF)).rejects.toMatchObject({ message: /finalized block.*WENT_BACK/ });
  });
});

describe('what an earlier session has seen of layer 1', () => {
  const request = { method: PROOF[0], params: PROOF.slice(1) };
  const far = 10 ** 9;
  /** A layer 1 that is a billion blocks ahead. */
  const ahead = ({ params }: SeenCall, result: unknown) =>
    isCurrentCall(params) ? word(BigInt(far)) : isRootCall(params) ? word(1n) : result;
  const cut = (mock: MockEndpoint) => {
    mock.options.intercept = (response) => Boolean(response.destroy());
  };

  test('a lie that was kept does not lock the node', async () => {
    const store = new KeptStore();
    const scene = await settled({ more: { store } });
    scene.layerOne.options.tamper = ahead;
    await scene.ask('eth_getBlockByNumber', 'finalized', false).catch(() => {});
    await scene.light.close();
    expect(await kept(store)).toContain(String(far));
    delete scene.layerOne.options.tamper;
    const node = await scene.open({}, { store });
    expect(await node.request(request)).toEqual(await scene.dev.ask(...PROOF));
    await node.close();
    expect(await kept(store)).not.toContain(String(far));
  });

  test('roots are read again, and given as they were only while layer 1 is away', async () => {
    const store = new KeptStore();
    const finality = { batchBlocks: 2, delayBlocks: 0 };
    const scene = await settled({ dev: { chain: { kind: 'devnet', finality } }, more: { store } });
    const older = { method: 'linea_getProof', params: [PROOF[1], [], '0x2'] };
    const answer = await scene.light.request(older);
    await scene.light.close();
    const again = await scene.open({}, { store });
    scene.layerOne.seen.length = 0;
    scene.layerOne.options.tamper = ({ params }, result) =>
      isRootCall(params) && (params[0] as { data: Hex }).data.endsWith('02') ? word(1n) : result;
    await expect(again.request(older)).rejects.toThrow(/zk proof of/);
    delete scene.layerOne.options.tamper;
    expect(await again.request(older)).toEqual(answer);
    await again.close();
    for (const mock of [...scene.endpoints, scene.layerOne]) cut(mock);
    expect(await (await scene.open({}, { store })).request(older)).toEqual(answer);
  });

  test('a root that led to a refusal is not kept', async () => {
    const store = new KeptStore();
    const scene = await settled({ more: { store } });
    scene.layerOne.options.tamper = ({ params }, result) => (isRootCall(params) ? word(1n) : result);
    await expect(scene.light.request(request)).rejects.toThrow(/zk proof of/);
    await scene.light.close();
    expect(await kept(store)).not.toContain(word(1n));
  });

  test.each<[string, Partial<LightChainOptions>]>([
    ['proofs of layer 1', { proveLayerOne: true }],
    ['a trusted block of layer 1', { layerOneHeader: { hash: word(1n) } }],
    ['two origins of layer 1', { layerOneAgreeing: 2 }],
    ['another rollup contract', { network: otherRollup() }],
  ])('nothing of it reaches a session with %s', async (_, chain) => {
    const store = new KeptStore();
    const scene = await settled({ more: { store } });
    await scene.ask(...PROOF);
    await scene.light.close();
    const other = await serveMock(scene.dev.node.l1);
    onTestFinished(() => other.close());
    for (const mock of [...scene.endpoints, scene.layerOne, other]) cut(mock);
    const layerOne = [scene.layerOne.url, other.url];
    await expect((await scene.open({ layerOne, ...chain }, { store })).request(request)).rejects.toThrow();
    expect(await (await scene.open({ layerOne }, { store })).request(request)).toEqual(await scene.dev.ask(...PROOF));
  });

  test('a lie of layer 2 does not let layer 1 go back', async () => {
    const scene = await settled({ chain: { finalityMaxAgeMs: 1_000 } });
    await scene.ask(...PROOF);
    for (const { options } of scene.endpoints)
      options.tamper = ({ method }, result) => (method === 'linea_getProof' ? otherValue(result) : result);
    await expect(scene.ask('linea_getProof', accountAt(1), [], 'latest')).rejects.toThrow(/zk proof of/);
    for (const { options } of scene.endpoints) delete options.tamper;
    scene.layerOne.options.tamper = ({ params }, result) => (isCurrentCall(params) ? word(3n) : result);
    await expect(scene.ask(...PROOF)).rejects.toMatchObject({ message: /finalized block.*WENT_BACK/ });
    cut(scene.layerOne);
    expect(await scene.ask(...PROOF)).toEqual(await scene.dev.ask(...PROOF));
  });

  async function kept(store: KeptStore): Promise<string> {
    const values = await store.getMany('finalizations', await store.keys('finalizations'));
    return values.map((value) => new TextDecoder().decode(value)).join();
  }
});

/** The devnet by another profile. */
function otherRollup(): Network {
  const network = devnet();
  return { ...network, rollup: { ...network.rollup, address: stranger('77') } };
}

describe('a trusted block of layer 1', () => {
  async function layerOneOf({ dev }: LightScene): Promise<MockEndpoint> {
    const mock = await serveMock(withBlocksByHash(dev.node.l1));
    onTestFinished(() => mock.close());
    return mock;
  }
  const newest = (scene: LightScene) =>
    scene.dev.node.l1.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] }) as Promise<{
      hash: Hex;
      stateRoot: Hex;
    }>;

  test('is what everything is proved against', async () => {
    const scene = await settled();
    const { hash } = await newest(scene);
    const answer = await scene.dev.ask(...PROOF);
    await scene.dev.transfer(0, { nonce: 6 });
    const request = { method: PROOF[0], params: PROOF.slice(1) };
    const layerOne = await layerOneOf(scene);
    const node = await scene.open({ layerOneHeader: { hash }, layerOne: [layerOne.url] });
    expect(await node.request(request)).toEqual(answer);
    const asked = layerOne.seen.flat().map(({ method }) => method);
    expect([...new Set(asked)].sort()).toEqual(['eth_getBlockByHash', 'eth_getProof']);
    scene.clock.advance(1e9);
    expect(await node.request(request)).toEqual(answer);
    expect(layerOne.seen.flat()).toHaveLength(asked.length);
  });

  test('another header is refused, however well it is made', async () => {
    const scene = await settled();
    const { hash } = await newest(scene);
    await scene.dev.transfer(0, { nonce: 6 });
    const other = await newest(scene);
    expect(other.hash).not.toBe(hash);
    const request = { method: PROOF[0], params: PROOF.slice(1) };
    const layerOne = await layerOneOf(scene);
    for (const said of [other, { ...other, hash }, null]) {
      layerOne.options.tamper = ({ method }, result) => (method === 'eth_getBlockByHash' ? said : result);
      const node = await scene.open({ layerOneHeader: { hash }, layerOne: [layerOne.url] });
      await expect(node.request(request)).rejects.toMatchObject({
        message: said === null ? /malformed/ : /layer-1 header.*(OTHER_BLOCK|HASH_MISMATCH)/,
      });
    }
  });

  test('a hash that is none', async () => {
    const scene = await settled();
    await expect(scene.open({ layerOneHeader: { hash: '0x12' } })).rejects.toMatchObject({ code: 'INVALID_LENGTH' });
  });
});

const selectorOf = ([call]: readonly unknown[]) => (call as { data?: Hex } | undefined)?.data?.slice(0, 10);
const isRootCall = (params: readonly unknown[]) => selectorOf(params) === '0x8be745d1';
const isCurrentCall = (params: readonly unknown[]) => selectorOf(params) === '0x695378f5';

describe('linea_getProof', () => {
  test('a proof that does not hold is not passed on; that of another endpoint is', async () => {
    const wrong = {
      tamper: ({ method }: SeenCall, result: unknown) => (method === 'linea_getProof' ? otherValue(result) : result),
    };
    const scene = await settled({ endpoints: [wrong, {}] });
    expect(await scene.ask(...PROOF)).toEqual(await scene.dev.ask(...PROOF));
    const alone = await settled({ endpoints: [wrong] });
    await expect(alone.ask(...PROOF)).rejects.toMatchObject({ code: -32603, message: /zk proof of/ });
  });

  test('a network whose profile names the other scheme: found once, and remembered', async () => {
    const scene = await settled({ dev: { chain: { kind: 'devnet', scheme: 'mimc' } } });
    // The light node's profile says poseidon2.
    expect(await scene.ask(...PROOF)).toEqual(await scene.dev.ask(...PROOF));
    expect(await scene.ask('linea_getProof', stranger('31'), [], '0x2')).toEqual(
      await scene.dev.ask('linea_getProof', stranger('31'), [], '0x2'),
    );
    const group = new EndpointGroup({ role: 'l2', endpoints: [scene.endpoints[0]!.url] });
    onTestFinished(() => group.close());
    const tried: HashScheme[] = [];
    const proofs = new ZkProofs({
      network: devnet(),
      upstream: group,
      table: undefined,
      loadHasher: (scheme) => {
        tried.push(scheme);
        return loadHasher(scheme);
      },
    });
    const data = `0x8be745d1${word(4n).slice(2)}`;
    const call = { method: 'eth_call', params: [{ to: devnet().rollup.address, data }, 'latest'] };
    const at = { number: 4, root: hexToBytes((await scene.dev.node.l1.request(call)) as Hex, 32) };
    for (const account of [accountAt(0), accountAt(1)])
      await proofs.prove({ address: hexToBytes(account), storageKeys: [] }, at);
    expect(tried).toEqual(['poseidon2', 'mimc', 'mimc']);
  });

  test("is the caller's own: what it does to an answer changes no other", async () => {
    const scene = await settled({ more: { store: new KeptStore() } });
    const truth = await scene.dev.ask(...PROOF);
    const together = await Promise.all([scene.ask<Changeable>(...PROOF), scene.ask<Changeable>(...PROOF)]);
    for (const answer of together) {
      expect(answer).toEqual(truth);
      answer.accountProof.key = '0x00';
      answer.accountProof.proof.proofRelatedNodes.length = 0;
    }
    expect(await scene.ask(...PROOF)).toEqual(truth);
  });

  test('what held against one root is not given for another', async () => {
    const scene = await settled({ chain: { finalityMaxAgeMs: 1_000 } });
    await scene.ask(...PROOF);
    scene.clock.advance(5_000);
    scene.layerOne.options.tamper = ({ params }, result) => (isRootCall(params) ? word(1n) : result);
    await expect(scene.ask(...PROOF)).rejects.toThrow(/zk proof of/);
  });

  test('kept, and given again without any endpoint', async () => {
    const store = new KeptStore();
    const scene = await settled({ more: { store } });
    const answer = await scene.ask(...PROOF);
    await scene.light.close();
    for (const mock of [...scene.endpoints, scene.layerOne])
      mock.options.intercept = (response) => Boolean(response.destroy());
    const offline = await scene.open({}, { store });
    expect(await offline.request({ method: PROOF[0], params: PROOF.slice(1) })).toEqual(answer);
    expect(await offline.request({ method: PROOF[0], params: [PROOF[1], [], '0x4'] })).toEqual(answer);
    await expect(offline.request({ method: PROOF[0], params: [accountAt(1), [], 'latest'] })).rejects.toThrow();
  });
});

interface Changeable {
  accountProof: { key: Hex; proof: { proofRelatedNodes: Hex[] } };
}

/** The answer with one bit of the proved account turned. */
function otherValue(result: unknown): unknown {
  const text = JSON.stringify(result);
  const at = text.indexOf('"value":"0x') + '"value":"0x'.length + 60;
  const digit = (Number.parseInt(text[at]!, 16) ^ 1).toString(16);
  return JSON.parse(text.slice(0, at) + digit + text.slice(at + 1));
}

describe('eth_sendRawTransaction', () => {
  const transfer = (fields: object) =>
    signTransaction(0, { to: stranger('11'), value: 1n, gasLimit: 21_000n, nonce: 0, ...PRICE, ...fields });

  test.each([
    ['is mined meanwhile', 'auto'],
    ['waits in the pool', 'manual'],
  ] as const)('whose answer was lost, and that %s, has been sent', async (_, mining) => {
    const scene = await lightScene({ dev: { chain: { kind: 'devnet', mining } } });
    let lost = 0;
    scene.endpoints[0]!.options.intercept = (response, body) => {
      const isSending = (body as { method?: string }).method === 'eth_sendRawTransaction' && lost++ === 0;
      if (isSending) response.destroy();
      return isSending;
    };
    const raw = transfer({});
    const hash = await scene.ask<Hex>('eth_sendRawTransaction', raw);
    expect(lost).toBe(1);
    expect(await scene.dev.ask('eth_getTransactionByHash', hash)).toMatchObject({ hash });
    // Sent again by the caller, it is refused as before.
    scene.clock.advance(5_000);
    await expect(scene.ask('eth_sendRawTransaction', raw)).rejects.toMatchObject({
      code: mining === 'auto' ? -32001 : -32000,
    });
  });

  test('is handed on, and its hash compared', async () => {
    const scene = await lightScene();
    const hash = await scene.ask<Hex>('eth_sendRawTransaction', transfer({}));
    expect(await scene.dev.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' });
    scene.endpoints[0]!.options.tamper = ({ method }, result) =>
      method === 'eth_sendRawTransaction' ? word(1n) : result;
    scene.clock.advance(5_000);
    await expect(scene.ask('eth_sendRawTransaction', transfer({ nonce: 1 }))).rejects.toThrow();
  });

  test.each([
    ['a nonce that was used', { nonce: 0 }, -32001, 1],
    ['too little gas', { gasLimit: 20_000n }, -32003, 0],
    ['more than the sender has', { value: 10n ** 30n }, -32000, 0],
    ['a price below what the operator asks', { maxFeePerGas: 8n, maxPriorityFeePerGas: 1n }, -32000, 0],
  ] as const)('%s is refused before anything is sent', async (_, fields, code, sent) => {
    const scene = await lightScene();
    for (let nonce = 0; nonce < sent; nonce++) await scene.dev.transfer(0, { nonce });
    await expect(scene.ask('eth_sendRawTransaction', transfer(fields))).rejects.toMatchObject({ code });
    expect(scene.endpoints.flatMap(({ seen }) => seen.flat()).map(({ method }) => method)).not.toContain(
      'eth_sendRawTransaction',
    );
  });
});
