import { describe, expect, onTestFinished, test } from 'vitest';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Network } from '../../src/networks/network.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, KeptStore, stranger, word } from '../support/dev-node.js';
import { isCurrentCall, isRootCall, otherValue, PROOF, settled } from '../support/finality-scene.js';
import { type MockEndpoint, type SeenCall, serveMock } from '../support/mock-chain.js';

/** The devnet by another profile. */
function otherRollup(): Network {
  const network = devnet();
  return { ...network, rollup: { ...network.rollup, address: stranger('77') } };
}

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
    expect(await node.request<UntypedMethod>(request)).toEqual(await scene.dev.ask(...PROOF));
    await node.close();
    expect(await kept(store)).not.toContain(String(far));
  });

  test('roots are read again, and given as they were only while layer 1 is away', async () => {
    const store = new KeptStore();
    const finality = { batchBlocks: 2, delayBlocks: 0 };
    const scene = await settled({ dev: { chain: { kind: 'devnet', finality } }, more: { store } });
    const older = { method: 'linea_getProof', params: [PROOF[1], [], '0x2'] };
    const answer = await scene.light.request<UntypedMethod>(older);
    await scene.light.close();
    const again = await scene.open({}, { store });
    scene.layerOne.seen.length = 0;
    scene.layerOne.options.tamper = ({ params }, result) =>
      isRootCall(params) && (params[0] as { data: Hex }).data.endsWith('02') ? word(1n) : result;
    await expect(again.request<UntypedMethod>(older)).rejects.toThrow(/zk proof of/);
    delete scene.layerOne.options.tamper;
    expect(await again.request<UntypedMethod>(older)).toEqual(answer);
    await again.close();
    for (const mock of [...scene.endpoints, scene.layerOne]) cut(mock);
    expect(await (await scene.open({}, { store })).request<UntypedMethod>(older)).toEqual(answer);
  });

  test('a root that led to a refusal is not kept', async () => {
    const store = new KeptStore();
    const scene = await settled({ more: { store } });
    scene.layerOne.options.tamper = ({ params }, result) => (isRootCall(params) ? word(1n) : result);
    await expect(scene.light.request<UntypedMethod>(request)).rejects.toThrow(/zk proof of/);
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
    await expect(
      (await scene.open({ layerOne, ...chain }, { store })).request<UntypedMethod>(request),
    ).rejects.toThrow();
    expect(await (await scene.open({ layerOne }, { store })).request<UntypedMethod>(request)).toEqual(
      await scene.dev.ask(...PROOF),
    );
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
