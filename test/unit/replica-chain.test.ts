import { afterEach, describe, expect, it } from 'vitest';
import type { Block, Chain } from '../../src/chain/chain.js';
import { keepFollowing } from '../../src/chain/replica/keep-following.js';
import type { LayerOneRoots } from '../../src/chain/replica/layer-one-roots.js';
import { openReplicaChain } from '../../src/chain/replica/replica-chain.js';
import type { FollowerSettings } from '../../src/chain/replica/settings.js';
import type { ZkFollower } from '../../src/chain/replica/zk-follower.js';
import { PlumblineError } from '../../src/errors.js';
import { devnet } from '../../src/networks/devnet.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Commit, PageStore } from '../../src/store/page-store.js';
import { fixturesPresent } from '../support/fixtures.js';
import { type GeneratedChain, generatedChains } from '../support/mock-shomei.js';
import {
  dump,
  hasherOf,
  openShomeiScene,
  type ShomeiScene,
  type ShomeiSceneOptions,
} from '../support/mock-shomei-scene.js';
import { createManualClock } from '../support/mock-upstream-clock.js';
import { turns, until } from '../support/mock-upstream-scene.js';

const scenes: ShomeiScene[] = [];

async function sceneOf(chain: GeneratedChain, options?: ShomeiSceneOptions): Promise<ShomeiScene> {
  const scene = await openShomeiScene(chain, options);
  scenes.push(scene);
  return scene;
}

afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()));
});

const chains = fixturesPresent ? generatedChains('poseidon2') : [];

/** A light chain of which only the blocks are there; it knows who asks it. */
class LightStandIn {
  readonly kind = 'light';
  readonly network = devnet();
  readonly #closed: string[];

  constructor(closed: string[]) {
    this.#closed = closed;
  }

  async block(reference: { hash: Uint8Array }): Promise<Block | undefined> {
    const number = reference.hash[0]!;
    return number === 99 ? undefined : ({ header: { number } } as Block);
  }

  async zkProof(): Promise<never> {
    throw new Error('the light chain was asked');
  }

  async close(): Promise<void> {
    this.#closed.push('light');
  }
}

describe.skipIf(!fixturesPresent)('a replica as a chain', () => {
  it('builds proofs itself, and is the light chain in all else', async () => {
    const chain = chains[7]!;
    const scene = await sceneOf(chain, { ends: [0, 2, 7] });
    const follower = await scene.open();
    const closed: string[] = [];
    const light = new LightStandIn(closed) as unknown as Chain;
    const replica = openReplicaChain(light, follower, async () => void closed.push('following'));
    expect([replica.kind, replica.network, 'trust' in replica]).toEqual(['replica', light.network, false]);
    expect((await replica.block({ hash: new Uint8Array(32).fill(5) }))?.header.number).toBe(5);

    const { address, storageKeys, result } = chain.queries[0]!;
    const ask = (reference: Parameters<Chain['zkProof']>[2]) =>
      replica.zkProof(
        hexToBytes(address, 20),
        storageKeys.map((key) => hexToBytes(key, 32)),
        reference,
      );
    await expect(ask({ tag: 'latest' })).rejects.toMatchObject({
      code: 'BLOCK_NOT_PROVABLE',
      details: { block: 'latest' },
    });
    await follower.follow();
    for (const tag of ['latest', 'pending', 'safe', 'finalized'] as const) expect(await ask({ tag })).toEqual(result);
    expect(await ask({ number: 7 })).toEqual(result);
    expect(await ask({ hash: new Uint8Array(32).fill(7) })).toEqual(result);
    const top = async (reference: Parameters<typeof ask>[0]) => {
      const { accountProof } = await ask(reference);
      return ('proof' in accountProof ? accountProof.proof : accountProof.leftProof).proofRelatedNodes[0];
    };
    expect(await top({ tag: 'earliest' })).toBe(await top({ number: 0 }));
    expect(await top({ number: 2 })).not.toBe(await top({ number: 0 }));
    for (const [reference, block] of [
      [{ number: 1 }, '1'],
      [{ number: 8 }, '8'],
      [{ hash: new Uint8Array(32).fill(1) }, 'hash'],
      [{ hash: new Uint8Array(32).fill(99) }, 'hash'],
    ] as const) {
      await expect(ask(reference)).rejects.toMatchObject({ code: 'BLOCK_NOT_PROVABLE', details: { block } });
    }
    await replica.close();
    expect(closed).toEqual(['following', 'light']);
  });
});

describe.skipIf(!fixturesPresent)('a follower', () => {
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

  it('proves nothing that is stored before layer 1 has confirmed it', async () => {
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

  it('proves what is stored while layer 1 cannot be reached, until it can', async () => {
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

  it('lets a call meanwhile wait for the one that runs', async () => {
    const scene = await sceneOf(chains[3]!);
    const follower = await scene.open({ rangeBlocks: 100 });
    await Promise.all([follower.follow(), follower.follow()]);
    expect(scene.content.asked).toEqual([[0, 8]]);
  });

  it('goes on after a commit that failed, whether or not it was done', async () => {
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

describe('keeping at it', () => {
  it('looks again, after what passes as well, until it is ended', async () => {
    const clock = createManualClock();
    const errors: unknown[] = [];
    const outcomes: (unknown | undefined)[] = [undefined, new Error('later'), undefined];
    let calls = 0;
    const follower = {
      follow: async () => {
        const outcome = outcomes[calls++];
        if (outcome !== undefined) throw outcome;
      },
    } as unknown as ZkFollower;
    const end = keepFollowing(follower, { clock, pollMs: 1000, onError: (error) => void errors.push(error) });
    await until(() => clock.open === 1);
    expect(calls).toBe(1);
    await clock.advance(999);
    expect(calls).toBe(1);
    await clock.advance(1);
    await until(() => clock.open === 1);
    expect([calls, errors]).toEqual([2, [outcomes[1]]]);
    await clock.advance(1000);
    await until(() => clock.open === 1);
    expect(calls).toBe(3);
    await end();
    expect([clock.open, calls]).toEqual([0, 3]);
  });

  it('ends at a divergence, and stops what runs', async () => {
    const clock = createManualClock();
    const errors: unknown[] = [];
    const details = { block: 1, what: 'layer-one-root', expected: '0x1', actual: '0x2' } as const;
    const diverged = new PlumblineError('REPLICA_DIVERGED', 'no', details);
    const failing = { follow: () => Promise.reject(diverged) } as unknown as ZkFollower;
    const end = keepFollowing(failing, { clock, onError: (error) => void errors.push(error) });
    await turns(3);
    expect([errors, clock.open]).toEqual([[diverged], 0]);
    await end();

    let stopped = false;
    const follow = (signal: AbortSignal) =>
      new Promise<void>((_, reject) =>
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(signal.reason);
        }),
      );
    await keepFollowing({ follow } as unknown as ZkFollower, { clock, onError: (error) => void errors.push(error) })();
    expect([stopped, errors.length, clock.open]).toEqual([true, 1, 0]);
  });
});
