import 'fake-indexeddb/auto';
import { afterEach, describe, expect, it } from 'vitest';
import { hexToBytes } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { openIdbStore } from '../../src/store/idb-store.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { PageStore } from '../../src/store/page-store.js';
import { type GeneratedChain, generatedChains } from '../support/mock-shomei.js';
import { dump, hasherOf, MortalStore, openShomeiScene, type ShomeiScene } from '../support/mock-shomei-scene.js';
import { failureOf } from '../support/mock-upstream-scene.js';
import { seededRandom } from '../support/random.js';

const RUNS = 24;

const scenes: ShomeiScene[] = [];

async function sceneOf(chain: GeneratedChain, ends: Iterable<number>, store?: PageStore): Promise<ShomeiScene> {
  const scene = await openShomeiScene(chain, { ends, ...(store && { store }) });
  scenes.push(scene);
  return scene;
}

afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()));
});

/** The first proof that is recorded of a chain, for the state after any block that is confirmed. */
async function checkConfirmed(scene: ShomeiScene): Promise<number | undefined> {
  const follower = await scene.open();
  await follower.ready();
  const { confirmed } = follower;
  if (confirmed === undefined) return undefined;
  const { address, storageKeys } = scene.chain.queries[0]!;
  const request = {
    address: hexToBytes(address, 20),
    storageKeys: storageKeys.map((key) => hexToBytes(key, 32)),
    stateRoot: hexToBytes(scene.chain.blocks[confirmed]!.root, 32),
  };
  const proof = await follower.prove(confirmed, request.address, request.storageKeys);
  expect(verifyLineaProof(await hasherOf(scene.chain.scheme), request, proof).verified).toBe(true);
  return confirmed;
}

let databases = 0;

describe.each<[string, () => Promise<PageStore>]>([
  ['memory', async () => new MemoryStore()],
  ['IndexedDB', () => openIdbStore(`replica-${Date.now()}-${databases++}`)],
])('%s: a replica that is stopped', (_name, openStore) => {
  const chains = [...generatedChains('poseidon2'), ...generatedChains('mimc')];

  it('goes on from any moment to the same pages and proofs', async () => {
    const random = seededRandom(20_261_121);
    const moments = new Set<string>();
    for (let run = 0; run < RUNS; run++) {
      const chain = chains[(run + 12 * random(2)) % chains.length]!;
      const last = chain.blocks.length - 1;
      const ends = new Set([last, ...Array.from({ length: random(3) }, () => random(last))]);
      const settings = { rangeBlocks: 1 + random(4), commitBlocks: 1 + random(3), heldBlocks: random(9) };
      const whole = await sceneOf(chain, ends);
      await (await whole.open(settings)).follow();

      const scene = await sceneOf(chain, ends, await openStore());
      for (let kills = 1 + random(2); kills > 0; kills--) {
        if (random(3) === 0) {
          // Stopped politely: what was applied is there.
          const stop = new AbortController();
          const at = random(last + 1);
          const follower = await scene.open({
            ...settings,
            onProgress: ({ block }) => void (block >= at && stop.abort()),
          });
          await follower.follow(stop.signal).catch((error) => expect(error).toMatchObject({ code: 'ABORTED' }));
          moments.add(`stopped at ${follower.head}`);
        } else {
          const death = { commit: random(last + 2), done: random(2) === 0 };
          const store = new MortalStore(scene.store, death);
          const died = await scene
            .open({ ...settings, store })
            .then((follower) => follower.follow())
            .catch((error: Error) => error.message);
          expect([undefined, 'the machine died']).toContain(died);
          if (died !== undefined) moments.add(`died ${death.done ? 'after' : 'at'} commit ${death.commit}`);
        }
        const confirmed = await checkConfirmed(scene);
        expect(confirmed === undefined || ends.has(confirmed)).toBe(true);
      }
      const follower = await scene.open(settings);
      await follower.follow();
      expect(follower.confirmed).toBe(last);
      for (const { address, storageKeys, result } of chain.queries) {
        const keys = storageKeys.map((key) => hexToBytes(key, 32));
        expect(await follower.prove(last, hexToBytes(address, 20), keys)).toEqual(result);
      }
      expect(await dump(scene.store)).toEqual(await dump(whole.store));
      await scene.store.close();
    }
    expect(moments.size).toBeGreaterThan(10);
  });

  it('gives up what layer 1 refutes, also when it dies at that', async () => {
    const chain = chains[7]!;
    const ends = [2, 7];
    const good = await sceneOf(chain, [2]);
    await (await good.open()).follow();
    const kept = await dump(good.store);
    for (let commit = 0; commit < 11; commit++) {
      for (const done of [false, true]) {
        const scene = await sceneOf(chain, ends, await openStore());
        scene.layerOne.roots.set(7, hexToBytes(chain.blocks[6]!.root));
        const store = new MortalStore(scene.store, { commit, done });
        const error = await failureOf(scene.open({ store, commitBlocks: 1 }).then((follower) => follower.follow()));
        if (store.dead) expect(error).toMatchObject({ message: 'the machine died' });
        else expect(error).toMatchObject({ code: 'REPLICA_DIVERGED', details: { block: 7, kept: 2 } });
        await checkConfirmed(scene);
        const again = await scene.open({ commitBlocks: 1 });
        await expect(again.follow()).rejects.toMatchObject({
          code: 'REPLICA_DIVERGED',
          details: { block: 7, kept: 2 },
        });
        expect(await dump(scene.store)).toEqual(kept);
        expect(await checkConfirmed(scene)).toBe(2);
        await scene.store.close();
      }
    }
  });
});
