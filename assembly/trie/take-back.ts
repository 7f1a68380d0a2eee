import { commit, enlist } from './commit';
import { clearJournal, LEAF_ENTRY, NODE_JOURNAL, NONE, pauseJournals, popLeafEntry } from './journal';
import { operands, setLeaf, setNextFree } from './leaves';
import { refuseNothing } from './pages';

/**
 * Undoes every change since the journal of leaves was emptied, committed or not, and rehashes the tries. No changed
 * trie may have been dropped since. This works without more memory: chunks stay when leaves are removed, and the pages
 * of the journals, freed on the way, are more than the ordered index can need.
 */
export function takeBack(): void {
  pauseJournals(true);
  refuseNothing(true);
  clearJournal(NODE_JOURNAL);
  for (let entry = popLeafEntry(); entry !== 0; entry = popLeafEntry()) {
    memory.copy(operands, entry, LEAF_ENTRY);
    const trie: usize = load<u32>(operands);
    const position = load<u32>(operands, 4);
    const first = load<u32>(operands, 8);
    if (position === NONE) setNextFree(trie, first);
    else setLeaf(trie, position, first !== NONE);
    enlist(trie);
  }
  commit(true);
  refuseNothing(false);
  pauseJournals(false);
}
