import { describe, expect, it } from 'vitest';
import type { FollowerSettings } from '../../src/chain/replica/settings.js';
import { besuTrieLogs, type LayerOneRoots } from '../../src/chain/replica/sources.js';
import { PlumblineError } from '../../src/errors.js';
import { devnet } from '../../src/networks/devnet.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Commit, PageStore } from '../../src/store/page-store.js';
import { generatedChains } from '../support/mock-shomei.js';
import { dump, hasherOf } from '../support/mock-shomei-scene.js';
import { sceneOf } from '../support/replica-scenes.js';

const chains = generatedChains('poseidon2');

describe('a follower', () => {
  it('has layer 1 say nothing about blocks of the hash before', async () => {
    const chain = chains[3]!;
    const scene = await sceneOf(chain);
    const network = {
      ...devnet(),
      hashSchemes: [
        { fromBlock: 0, scheme: 'mimc' as const },
        { fromBlock: 5, scheme: 'poseidon2' as const },
      ],
    };
    for (let block = 0; block < 5; block++) scene.layerOne.roots.set(block, new Uint8Array(32).fill(block + 1));
    const follower = await scene.open({ network });
    await follower.follow();
    expect(chain.blocks.map((_, block) => follower.isProvable(block))).toEqual([
      ...Array.from({ length: 5 }, () => false),
      ...Array.from({ length: 3 }, () => true),
    ]);
  });

  it('does not prove a stored state before layer 1 confirmed it', async () => {
    const chain = chains[7]!;
    const scene = await sceneOf(chain, { ends: [4] });
    await (await scene.open()).follow();
    const root = scene.layerOne.roots.get(4)!;
    const provable = async (settings: Partial<FollowerSettings> = {}) => {
      const follower = await scene.open(settings);
      expect(follower.confirmed).toBeUndefined();
      await follower.ready();
      return follower.confirmed;
    };
    expect(await provable()).toBe(4);
    // Layer 1 of another chain, one that has no root there, and one that has not come as far.
    scene.layerOne.roots.set(4, hexToBytes(chain.blocks[3]!.root));
    expect(await provable()).toBeUndefined();
    scene.layerOne.roots.delete(4);
    scene.layerOne.roots.set(7, root);
    expect(await provable()).toBeUndefined();
    scene.layerOne.roots.delete(7);
    scene.layerOne.roots.set(2, root);
    expect(await provable()).toBeUndefined();
    // The last one may still come as far.
    const follower = await scene.open();
    await follower.follow();
    expect(follower.confirmed).toBeUndefined();
    scene.layerOne.roots.set(4, root);
    await follower.follow();
    expect(follower.confirmed).toBe(4);
  });

  it('proves the stored state while layer 1 cannot be reached', async () => {
    const chain = chains[7]!;
    const scene = await sceneOf(chain, { ends: [4] });
    await (await scene.open()).follow();
    let down = true;
    const gone = new PlumblineError('UPSTREAM_UNAVAILABLE', 'gone', { endpoints: [] });
    const layerOne: LayerOneRoots = {
      newestFinalized: async () => (down ? Promise.reject(gone) : 4),
      rootOnLayerOne: async () => hexToBytes(chain.blocks[3]!.root),
    };
    const follower = await scene.open({ layerOne });
    await follower.ready();
    expect(follower.confirmed).toBe(4);
    await expect(follower.follow()).rejects.toBe(gone);
    expect(follower.confirmed).toBe(4);
    down = false;
    await expect(follower.follow()).rejects.toMatchObject({ code: 'REPLICA_DIVERGED', details: { block: 4 } });
    await follower.ready();
    expect(follower.confirmed).toBeUndefined();

    const lying = new PlumblineError('PROOF_MALFORMED', 'no', { path: '', reason: 'no' });
    const refused = await scene.open({
      layerOne: { ...layerOne, newestFinalized: () => Promise.reject(lying) },
    });
    await expect(refused.ready()).rejects.toBe(lying);
    expect(refused.confirmed).toBeUndefined();
  });

  it.each([
    ['a root on layer 1', 'layer-one-root', ['only'], ['only']],
    ['a root on layer 1, after logs of two endpoints', 'layer-one-root', ['first', 'second'], []],
    ['the word of a state manager', 'state-manager-root', ['only'], []],
  ] as const)('an endpoint is reported only if it alone is false, by %s', async (_, what, endpoints, reported) => {
    const scene = await sceneOf(chains[3]!, { ends: [7] });
    const logs = besuTrieLogs(scene.group);
    const refuted: string[] = [];
    let ranges = 0;
    const other = new Uint8Array(32).fill(1);
    if (what === 'layer-one-root') scene.layerOne.roots.set(7, other);
    const follower = await scene.open({
      ...{ rangeBlocks: 4, intermediateRoots: false },
      logs: {
        async range(...args) {
          return { ...(await logs.range(...args)), endpoint: endpoints[ranges++ % endpoints.length]! };
        },
        refute: (endpoint) => void refuted.push(endpoint),
      },
      ...(what === 'state-manager-root' && { stateManager: { rootOf: async () => other } }),
    });
    await expect(follower.follow()).rejects.toMatchObject({ code: 'REPLICA_DIVERGED', details: { what } });
    expect(refuted).toEqual(reported);
  });

  it('can leave out the roots on the way', async () => {
    const scene = await sceneOf(chains[3]!);
    const asking: Partial<FollowerSettings> = { intermediateRoots: false, rangeBlocks: 3 };
    const follower = await scene.open(asking);
    await follower.follow();
    expect([scene.layerOne.asked, follower.confirmed, follower.isProvable(6)]).toEqual([1, 7, false]);
  });

  it.each([
    { rangeBlocks: 0 },
    { rangeBlocks: 1001 },
    { rangeBlocks: 1.5 },
    { rangeBlocks: Number.NaN },
    { commitBlocks: 0 },
    { heldBlocks: -1 },
  ])('does not open with %o', async (settings) => {
    const scene = await sceneOf(chains[3]!);
    await expect(scene.open(settings)).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
  });

  it('lets a second call wait for the first', async () => {
    const scene = await sceneOf(chains[3]!);
    const follower = await scene.open({ rangeBlocks: 100 });
    await Promise.all([follower.follow(), follower.follow()]);
    expect(scene.content.asked).toEqual([[0, 8]]);
  });

  it('goes on after a commit that failed, even if it was done', async () => {
    const chain = chains[7]!;
    const whole = await sceneOf(chain, { ends: [1, 4, 7] });
    await (await whole.open()).follow();
    let failed = 0;
    for (let commit = 0; commit < 9; commit++) {
      for (const done of [false, true]) {
        const memory = new MemoryStore();
        let left = commit;
        const commitOnce = async (target: PageStore, changes: Commit) => {
          if (left-- !== 0) return target.commit(changes);
          if (done) await target.commit(changes);
          failed++;
          throw new PlumblineError('STORE_QUOTA_EXCEEDED', 'full', {});
        };
        const store = new Proxy<PageStore>(memory, {
          get(target, name) {
            if (name === 'commit') return (changes: Commit) => commitOnce(target, changes);
            const value: unknown = Reflect.get(target, name);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        });
        const scene = await sceneOf(chain, { ends: [1, 4, 7], store });
        const opened = await scene.open({ commitBlocks: 1 }).catch(() => undefined);
        const follower = opened ?? (await scene.open({ commitBlocks: 1 }));
        if (opened !== undefined) {
          await expect(follower.follow()).rejects.toMatchObject({ code: 'STORE_QUOTA_EXCEEDED' });
          const { address } = chain.queries[0]!;
          const { confirmed } = follower;
          // The state that the commit was about may be the stored one by now: then the one before it is gone.
          if (confirmed !== undefined) {
            const stateRoot = hexToBytes(chain.blocks[confirmed]!.root, 32);
            const request = { address: hexToBytes(address, 20), storageKeys: [], stateRoot };
            const proved = await follower.prove(confirmed, request.address, []).catch((error) => error.code);
            if (proved === 'BLOCK_NOT_PROVABLE') expect(done).toBe(true);
            else expect(verifyLineaProof(await hasherOf('poseidon2'), request, proved).verified).toBe(true);
          }
        }
        await follower.follow();
        expect(follower.confirmed).toBe(7);
        expect(await dump(memory)).toEqual(await dump(whole.store));
      }
    }
    expect(failed).toBe(18);
  });
});
