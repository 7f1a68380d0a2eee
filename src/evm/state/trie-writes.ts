import type { TrieWrite } from '../../ethereum/state-trie.js';
import type { AccountChange } from './state-overlay.js';

/** Changes by execution, as writes of the Merkle-Patricia trie. */
export function trieWrites(changes: readonly AccountChange[]): TrieWrite[] {
  return changes.map(({ address, after, destroyed, slots }) => {
    return { address, account: after, clearStorage: destroyed, slots };
  });
}
