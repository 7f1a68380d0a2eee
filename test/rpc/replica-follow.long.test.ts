import { afterEach, describe, expect, it } from 'vitest';
import type { ReplicaProgress } from '../../src/chain/replica/settings.js';
import { shomeiRoots } from '../../src/chain/replica/sources.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { devnet } from '../../src/networks/devnet.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { type GeneratedChain, generatedChains } from '../support/mock-shomei.js';
import {
  dump,
  hasherOf,
  openShomeiScene,
  type ShomeiScene,
  type ShomeiSceneOptions,
} from '../support/mock-shomei-scene.js';
import { failureOf } from '../support/mock-upstream-scene.js';

const scenes: ShomeiScene[] = [];

async function sceneOf(chain: GeneratedChain, options?: ShomeiSceneOptions): Promise<ShomeiScene> {
  const scene = await openShomeiScene(chain, options);
  scenes.push(scene);
  return scene;
}

afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()));
});

describe.each<[HashScheme]>([['poseidon2'], ['mimc']])('%s: a replica', (scheme) => {
  const chains = generatedChains(scheme);

  it('builds the roots and the proofs of the generated chains', async () => {
    let proofs = 0;
    for (const chain of chains) {
      const scene = await sceneOf(chain);
      const progress: ReplicaProgress[] = [];
      const follower = await scene.open({
        rangeBlocks: 3,
        stateManager: shomeiRoots(scene.group),
        onProgress: (step) => void progress.push(step),
      });
      await follower.follow();
      const last = chain.blocks.length - 1;
      // Each block was confirmed, which means its root was the one that was recorded.
      expect(progress).toEqual(chain.blocks.map((_, block) => ({ block, target: last, confirmed: block })));
      for (const { address, storageKeys, result } of chain.queries) {
        const keys = storageKeys.map((key) => hexToBytes(key, 32));
        expect(await follower.prove(last, hexToBytes(address, 20), keys)).toEqual(result);
        proofs++;
        for (const [block, { root }] of chain.blocks.entries()) {
          const proof = await follower.prove(block, hexToBytes(address, 20), keys);
          const request = { address: hexToBytes(address, 20), storageKeys: keys, stateRoot: hexToBytes(root, 32) };
          expect(verifyLineaProof(await hasherOf(scheme), request, proof).verified).toBe(true);
        }
      }
    }
    expect([chains.length, proofs]).toEqual([12, 36]);
  });

  it('asks for ranges with an open upper end, the next one while it works, and no block twice', async () => {
    const scene = await sceneOf(chains[3]!);
    const follower = await scene.open({ rangeBlocks: 3 });
    await follower.follow();
    expect(scene.content.asked).toEqual([
      [0, 3],
      [3, 6],
      [6, 8],
    ]);
    await follower.follow();
    expect(scene.content.asked.length).toBe(3);
  });

  it('waits for layer 1, and goes on as it finalizes more', async () => {
    const scene = await sceneOf(chains[3]!, { ends: [] });
    const follower = await scene.open();
    await follower.follow();
    expect([follower.confirmed, scene.content.asked]).toEqual([undefined, []]);
    for (const [end, provable] of [
      [2, [2]],
      [3, [2, 3]],
      [7, [2, 3, 7]],
    ] as const) {
      scene.layerOne.roots.set(end, hexToBytes(scene.chain.blocks[end]!.root));
      await follower.follow();
      const all = scene.chain.blocks.map((_, block) => block).filter((block) => follower.isProvable(block));
      expect([follower.head, follower.confirmed, all]).toEqual([end, end, provable]);
    }
  });

  it('proves the newest confirmed state while it is far beyond it, and when opened again', async () => {
    const chain = chains[7]!;
    const scene = await sceneOf(chain, { ends: [1, 7] });
    const { address, storageKeys } = chain.queries[0]!;
    const keys = storageKeys.map((key) => hexToBytes(key, 32));
    const request = {
      address: hexToBytes(address, 20),
      storageKeys: keys,
      stateRoot: hexToBytes(chain.blocks[1]!.root),
    };
    const hasher = await hasherOf(scheme);
    const stop = new AbortController();
    const proved: Promise<boolean>[] = [];
    const prove = async () =>
      verifyLineaProof(hasher, request, await follower.prove(1, request.address, keys)).verified;
    const follower = await scene.open({
      commitBlocks: 1,
      heldBlocks: 1,
      rangeBlocks: 2,
      onProgress: ({ block }) => {
        if (block >= 1 && block < 6) proved.push(prove());
        if (block === 5) stop.abort();
      },
    });
    expect(await failureOf(follower.follow(stop.signal))).toMatchObject({ code: 'ABORTED' });
    expect([follower.head, follower.confirmed]).toEqual([5, 1]);
    expect(await Promise.all(proved)).toEqual([true, true, true, true, true]);
    const again = await scene.open({ heldBlocks: 1 });
    expect([again.confirmed, again.isProvable(1)]).toEqual([undefined, false]);
    await again.ready();
    expect([again.confirmed, again.isProvable(5)]).toEqual([1, false]);
    const proof = await again.prove(1, request.address, keys);
    expect(verifyLineaProof(hasher, request, proof).verified).toBe(true);
    await again.follow();
    expect(scene.content.asked.at(-1)).toEqual([6, 8]);
    expect([again.confirmed, again.isProvable(1)]).toEqual([7, false]);
    await expect(again.prove(1, request.address, keys)).rejects.toMatchObject({ code: 'BLOCK_NOT_PROVABLE' });
    for (const query of chain.queries) {
      const slots = query.storageKeys.map((key) => hexToBytes(key, 32));
      expect(await again.prove(7, hexToBytes(query.address, 20), slots)).toEqual(query.result);
    }
  });

  it('stores what it has applied when it is stopped', async () => {
    const scene = await sceneOf(chains[7]!, { ends: [7] });
    const stop = new AbortController();
    const follower = await scene.open({ onProgress: ({ block }) => void (block === 4 && stop.abort()) });
    expect(await failureOf(follower.follow(stop.signal))).toMatchObject({ code: 'ABORTED' });
    await (await scene.open()).follow();
    expect(scene.content.asked).toEqual([
      [0, 8],
      [5, 8],
    ]);
  });

  it('stores the same pages whatever the ranges and commits, and nothing else', async () => {
    const chain = chains[6]!;
    const dumps = [];
    for (const [rangeBlocks, commitBlocks, ends] of [
      [64, 32, [6]],
      [2, 1, [6]],
      [1, 2, [0, 3, 6]],
    ] as const) {
      const scene = await sceneOf(chain, { ends });
      const follower = await scene.open({ rangeBlocks, commitBlocks });
      await follower.follow();
      dumps.push(await dump(scene.store));
    }
    expect(dumps[1]).toEqual(dumps[0]);
    expect(dumps[2]).toEqual(dumps[0]);
    expect(dumps[0]!.filter(([table]) => table === 'meta').length).toBe(1);
  });

  it('halves ranges that are too large for an answer', async () => {
    const chain = chains[7]!;
    const longest = Math.max(...chain.blocks.map(({ trieLog }) => trieLog.length));
    const scene = await sceneOf(chain, {
      endpoints: (url) => [{ url, maxResponseBytes: longest + 300 }],
    });
    const follower = await scene.open();
    await follower.follow();
    expect(follower.confirmed).toBe(7);
    expect(scene.content.asked[0]).toEqual([0, 8]);
  });

  it('takes the store of one chain for no other', async () => {
    const scene = await sceneOf(chains[0]!);
    await (await scene.open()).follow();
    const network = { ...devnet({ scheme }), chainId: 4711 };
    await expect(scene.open({ network })).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });
});
