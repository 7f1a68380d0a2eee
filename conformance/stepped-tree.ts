import { hashWord } from '../src/accumulator/keys.js';
import type { Hasher } from '../src/kernel/contracts.js';
import { hexToBytes } from '../src/primitives/hex.js';
import { commitDrafts, emptyTree, type Tree, TreeDraft } from '../test/support/plain-tree/tree.js';

/** A tree that is changed step by step. */
export class SteppedTree {
  tree: Tree;

  constructor(readonly hasher: Hasher) {
    this.tree = emptyTree(hasher);
  }

  step<T>(change: (draft: TreeDraft) => T): T {
    const draft = new TreeDraft(this.tree);
    const result = change(draft);
    this.tree = commitDrafts(this.hasher, [draft])[0]!;
    return result;
  }

  putWord(key: string, value: string) {
    const [keyBytes, valueBytes] = [hexToBytes(key, 32), hexToBytes(value, 32)];
    const [hkey, hval] = [hashWord(this.hasher, keyBytes), hashWord(this.hasher, valueBytes)];
    return this.step((draft) => draft.put({ hkey, hval, value: valueBytes }));
  }

  removeWord(key: string) {
    return this.step((draft) => draft.remove(hashWord(this.hasher, hexToBytes(key, 32))));
  }
}
