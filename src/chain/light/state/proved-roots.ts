import { nibblesOf } from '../../../ethereum/ordered-trie.js';
import { UnknownNodeError } from '../../../ethereum/patricia-trie.js';
import { partialTrie } from '../../../ethereum/state-trie.js';
import { trieWrites } from '../../../evm/state-overlay.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { bigIntToBytes, equalBytes } from '../../../primitives/bytes.js';
import type { ImaginedRoots } from '../../chain.js';
import { AccessSet } from './access-set.js';

/** Half-bytes down to a node for which a key is searched. On average as many keys are tried as there are such paths. */
const MAX_PATH = 4;
/** Keys that are tried for one node. None of so many has the path once in 3 000 searches of the longest kind. */
const MAX_TRIES = 8 * 16 ** MAX_PATH;
/** Keys between two pauses. */
const TRIES_AT_ONCE = 1_000;
/** Most nodes that are fetched for the roots of one simulation. */
export const MAX_FETCHED = 16;
const ADDRESS_BYTES = 20;
const SLOT_BYTES = 32;

/** Where the nodes of proofs come from. */
export interface ProofNodes {
  /** Those that are known, by `bytesToKey` of their hash. */
  readonly nodes: ReadonlyMap<string, Uint8Array>;
  /** Adds those of proofs of these accounts and slots. */
  fetch(accesses: AccessSet): Promise<void>;
  /** As `RunBudget.pause`. */
  pause(): Promise<void> | undefined;
}

/**
 * State roots of simulated blocks, rebuilt from the nodes of proofs. All that a block writes was read before, so the proofs show
 * each path that is written. Where a value is deleted and one child is left beside it, that child is needed too: it is fetched by
 * a proof of some key below it, if its path is so short that such a key is found.
 *
 * @param root - of the state before the first block, 32 bytes
 */
export function provedRoots(proofs: ProofNodes, root: Uint8Array): ImaginedRoots {
  const write = partialTrie(proofs.nodes, root);
  let isKnown = true;
  let fetched = 0;
  return async (changes) => {
    const writes = trieWrites(changes);
    while (isKnown) {
      try {
        return write(writes);
      } catch (error) {
        if (!(error instanceof UnknownNodeError)) throw error;
        const below = fetched++ < MAX_FETCHED ? await keyBelow(error, proofs) : undefined;
        if (below === undefined) isKnown = false;
        else await proofs.fetch(below);
      }
    }
    return undefined;
  };
}

/** An account or a slot whose path goes through a node. @returns undefined if none is found */
export async function keyBelow(
  { path, account }: UnknownNodeError,
  proofs: Pick<ProofNodes, 'pause'>,
): Promise<AccessSet | undefined> {
  if (path === undefined || path.length > MAX_PATH) return undefined;
  const bytes = account === undefined ? ADDRESS_BYTES : SLOT_BYTES;
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if (tried % TRIES_AT_ONCE === 0) await proofs.pause();
    const key = bigIntToBytes(BigInt(tried), bytes);
    if (!equalBytes(nibblesOf(keccak256(key).subarray(0, MAX_PATH)).subarray(0, path.length), path)) continue;
    return account === undefined ? new AccessSet().addAccount(key) : new AccessSet().addSlot(account, key);
  }
  return undefined;
}
