import { describe, expect, onTestFinished, test } from 'vitest';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { withBlocksByHash } from '../support/blocks-by-hash.js';
import { PROOF, settled } from '../support/finality-scene.js';
import type { LightScene } from '../support/light-node.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';

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
    expect(await node.request<UntypedMethod>(request)).toEqual(answer);
    const asked = layerOne.seen.flat().map(({ method }) => method);
    expect([...new Set(asked)].sort()).toEqual(['eth_getBlockByHash', 'eth_getProof']);
    scene.clock.advance(1e9);
    expect(await node.request<UntypedMethod>(request)).toEqual(answer);
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
      await expect(node.request<UntypedMethod>(request)).rejects.toMatchObject({
        message: said === null ? /malformed/ : /layer-1 header.*(OTHER_BLOCK|HASH_MISMATCH)/,
      });
    }
  });

  test('a hash of another length is refused', async () => {
    const scene = await settled();
    await expect(scene.open({ layerOneHeader: { hash: '0x12' } })).rejects.toMatchObject({ code: 'INVALID_LENGTH' });
  });
});
