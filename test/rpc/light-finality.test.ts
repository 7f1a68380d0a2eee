import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { LayerOneFinality } from '../../src/chain/light/settlement/finality.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { systemClock } from '../../src/scheduling/clock.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { isCurrentCall, isRootCall, PROOF, settled } from '../support/finality-scene.js';
import { type SeenCall, serveMock } from '../support/mock-chain.js';

interface Log {
  readonly address: Hex;
  readonly topics: readonly Hex[];
}

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
    expect(await light.request<UntypedMethod>(request)).toEqual(await scene.dev.ask(...PROOF));
    other.options.tamper = ({ params }, result) => (isCurrentCall(params) ? word(3n) : result);
    await expect((await scene.open(chain)).request<UntypedMethod>(request)).rejects.toMatchObject({
      message: /endpoints disagree/,
    });
  });

  test('those that have to agree may learn of what is final at different times', async () => {
    const scene = await settled();
    const { l1 } = scene.dev.node;
    const others = [await serveMock(l1), await serveMock(l1)] as const;
    for (const other of others) onTestFinished(() => other.close());
    const layerOne = [scene.layerOne, ...others].map(({ url }) => url);
    const blockAt = (block: string) =>
      l1.request<UntypedMethod>({ method: 'eth_getBlockByNumber', params: [block, false] });
    const finalized = Number(((await blockAt('finalized')) as { number: Hex }).number);
    /** Blocks of layer 1 that the endpoints call final, and what is then finalized of layer 2. */
    const heard = async (agreeing: number, ...behind: number[]) => {
      for (const [i, { options }] of [scene.layerOne, ...others].entries()) {
        const own = await blockAt(`0x${(finalized - behind[i]!).toString(16)}`);
        options.tamper = ({ method, params }, result) =>
          method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? own : result;
      }
      const light = await scene.open({ layerOne, layerOneAgreeing: agreeing });
      const answer = await light.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] });
      return Number((answer as { number: Hex }).number);
    };
    expect(await heard(2, 0, 0, 2)).toBe(4);
    expect(await heard(2, 0, 1, 2)).toBe(3);
    expect(await heard(3, 0, 1, 2)).toBe(2);
    expect(await heard(2, 2, 0, 1)).toBe(3);
    // Another block of the same number is no question of time.
    const forged = { ...((await blockAt('finalized')) as object), number: '0x1' };
    others[0].options.tamper = ({ method }, result) => (method === 'eth_getBlockByNumber' ? forged : result);
    others[1].options.tamper = others[0].options.tamper;
    const light = await scene.open({ layerOne, layerOneAgreeing: 2 });
    await expect(light.request<UntypedMethod>({ method: PROOF[0], params: PROOF.slice(1) })).rejects.toMatchObject({
      code: -32000,
    });
  });

  test('finalizations by their events', async () => {
    const finality = { batchBlocks: 2, delayBlocks: 0 };
    const { layerOne } = await settled({ dev: { chain: { kind: 'devnet', finality } } });
    const group = new EndpointGroup({ role: 'l1', endpoints: [layerOne.url] });
    onTestFinished(() => group.close());
    const { rollup } = devnet();
    const events = await new LayerOneFinality(group, { rollup, maxAgeMs: 0, prove: false, clock: systemClock }).events(
      0,
      3,
    );
    expect(events.map(({ first, last }) => [first, last])).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
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
    await expect(new LayerOneFinality(group, options).events(0, 3)).rejects.toMatchObject({
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
