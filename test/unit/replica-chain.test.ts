import { describe, expect, it } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import type { Chain } from '../../src/chain/chain.js';
import { openReplicaChain } from '../../src/chain/replica/zk-follower.js';
import { devnet } from '../../src/networks/devnet.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { generatedChains } from '../support/mock-shomei.js';
import { sceneOf } from '../support/replica-scenes.js';

const chains = generatedChains('poseidon2');

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

describe('a replica as a chain', () => {
  it('builds proofs itself, and is the light chain in all else', async () => {
    const chain = chains[7]!;
    const scene = await sceneOf(chain, { ends: [0, 2, 7] });
    const follower = await scene.open();
    const closed: string[] = [];
    const light = new LightStandIn(closed) as unknown as Chain;
    const replica = openReplicaChain(light, follower, async () => void closed.push('following'));
    expect([replica.kind, replica.network]).toEqual(['replica', light.network]);
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
