import type { BlockReference } from '../block-reference.js';
import type { Chain } from '../chain.js';
import { notProvable } from './replica-state.js';
import type { ZkFollower } from './zk-follower.js';

/**
 * A light chain that builds its own zk proofs. Everything else is as the light chain has it.
 *
 * Provable are the blocks whose root layer 1 confirmed and whose states are held; a tag other than `earliest` names the
 * newest of them (docs/decisions.md 6).
 *
 * @param light - closed with the replica
 * @param close - ends following, and releases what it uses; called first
 */
export function openReplicaChain(light: Chain, follower: ZkFollower, close: () => Promise<void>): Chain {
  const own: Pick<Chain, 'kind' | 'zkProof' | 'close'> = {
    kind: 'replica',

    async zkProof(address, storageKeys, reference, onBlock) {
      await follower.ready();
      const block = await numberOf(reference);
      if (block === undefined || !follower.isProvable(block)) throw notProvable(nameOf(reference));
      const proof = await follower.prove(block, address, storageKeys);
      onBlock?.(block);
      return proof;
    },

    async close() {
      try {
        await close();
      } finally {
        await light.close();
      }
    },
  };

  async function numberOf(reference: BlockReference): Promise<number | undefined> {
    if ('number' in reference) return reference.number;
    if ('hash' in reference) return (await light.block(reference))?.header.number;
    return reference.tag === 'earliest' ? 0 : follower.confirmed;
  }

  return new Proxy(light, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof typeof own];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function nameOf(reference: BlockReference): string {
  if ('number' in reference) return String(reference.number);
  return 'tag' in reference ? reference.tag : 'hash';
}
