import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/test-token.js';
import { Finality } from '../../src/chain/light/finality.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { systemClock } from '../../src/upstream/clock.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { accountAt, KeptStore, PRICE, stranger, word } from '../support/dev-node.js';
import { type LightScene, type LightSceneOptions, lightScene } from '../support/light-node.js';
import { type SeenCall, serveMock } from '../support/mock-chain.js';
import { signTransaction } from '../support/sign.js';

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

  test('an older block than before is refused', async () => {
    const scene = await settled({ chain: { finalityMaxAgeMs: 1_000 } });
    await scene.ask(...PROOF);
    scene.layerOne.options.tamper = ({ params }, result) => (isCurrentCall(params) ? word(3n) : result);
    scene.clock.advance(5_000);
    await expect(scene.ask(...PROOF)).rejects.toMatchObject({ message: /finalized block.*WENT_BACK/ });
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
