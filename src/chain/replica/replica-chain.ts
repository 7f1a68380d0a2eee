import type { BlockReference } from '../block.js';
import { type Chain, type ChainCall, forwardingChain } from '../chain.js';
import { notProvable } from './replica-state.js';
import type { ZkFollower } from './zk-follower.js';

/**
 * A light chain with zk proofs from its own state. Everything else is done by the light chain.
 *
 * A block can be proved if layer 1 confirmed its root and its state is held. A tag other than `earliest` names the newest such
 * block (docs/decisions.md 6).
 *
 * @param light - closed with the replica
 * @param close - stops following and releases its resources; called before `light` is closed
 */
export function openReplicaChain(light: Chain, follower: ZkFollower, close: () => Promise<void>): Chain {
  const own: Pick<Chain, 'kind' | 'zkProof' | 'close'> = {
    kind: 'replica',

    async zkProof(address, storageKeys, reference, call = {}) {
      await follower.ready();
      const block = await numberOf(reference, call);
      if (block === undefined || !follower.isProvable(block)) throw notProvable(nameOf(reference));
      const proof = await follower.prove(block, address, storageKeys);
      call.note?.zk(block, 'finalized');
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

  async function numberOf(reference: BlockReference, { signal }: ChainCall): Promise<number | undefined> {
    if ('number' in reference) return reference.number;
    if ('hash' in reference) return (await light.block(reference, { signal }))?.header.number;
    return reference.tag === 'earliest' ? 0 : follower.confirmed;
  }

  return { ...forwardingChain(() => light), ...own };
}

function nameOf(reference: BlockReference): string {
  if ('number' in reference) return String(reference.number);
  return 'tag' in reference ? reference.tag : 'hash';
}
