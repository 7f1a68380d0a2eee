import { isPlumblineError } from '../../errors.js';
import { hexToBytes } from '../../primitives/hex.js';
import type { EndpointGroup } from '../../upstream/group.js';

/** State roots of a state manager. They are only compared with computed roots; a match proves nothing. */
export interface StateManagerRoots {
  /** State root after `block`, 32 bytes; undefined if it is not available. */
  rootOf(block: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/**
 * State roots of Shomei, by `rollup_getZkEVMStateMerkleProofV0` of single blocks. The traces are not used.
 *
 * @source docs/spec/state-trie.md 10
 */
export function shomeiRoots(group: EndpointGroup): StateManagerRoots {
  const method = 'rollup_getZkEVMStateMerkleProofV0';
  return {
    async rootOf(block, signal) {
      if (group.lacksMethod(method)) return undefined;
      try {
        return await group.request(method, [{ startBlockNumber: block, endBlockNumber: block }], {
          signal,
          accept: endRoot,
        });
      } catch (error) {
        // The block is missing, the method is switched off, or the endpoint is down.
        if (isPlumblineError(error) && error.code.startsWith('UPSTREAM_')) return undefined;
        if (isPlumblineError(error, 'REQUEST_TIMED_OUT')) return undefined;
        throw error;
      }
    },
  };
}

function endRoot(answer: unknown): Uint8Array | undefined {
  const root = (answer as { zkEndStateRootHash?: unknown } | null)?.zkEndStateRootHash;
  return typeof root === 'string' && /^0x[\da-f]{64}$/i.test(root) ? hexToBytes(root) : undefined;
}
