import type { TrieLeaf } from './trie-contract.js';
import { ENTRY, NONE } from './trie-exports.js';

/** What a record of `TrieKernel.takeUndo` says of one trie. */
export type UndoneChange =
  /** What the position held before; undefined when it was not in use. */
  | { readonly trie: number; readonly position: number; readonly leaf: TrieLeaf | undefined }
  | { readonly trie: number; readonly nextFreeNode: number };

/** Reads a record of `TrieKernel.takeUndo`, for those who look back without going back. */
export function readUndo(record: Uint8Array): UndoneChange[] {
  const words = new DataView(record.buffer, record.byteOffset, record.length);
  const changes: UndoneChange[] = [];
  for (let at = 0; at < record.length; at += ENTRY.bytes) {
    const word = (field: number) => words.getUint32(at + field, true);
    const trie = word(ENTRY.trie);
    const position = word(ENTRY.position);
    const prevLeaf = word(ENTRY.prevLeaf);
    if (position === NONE) changes.push({ trie, nextFreeNode: prevLeaf });
    else if (prevLeaf === NONE) changes.push({ trie, position, leaf: undefined });
    else {
      const hash = (field: number) => record.slice(at + field, at + field + 32);
      const leaf = { prevLeaf, nextLeaf: word(ENTRY.nextLeaf), hkey: hash(ENTRY.hkey), hval: hash(ENTRY.hval) };
      changes.push({ trie, position, leaf });
    }
  }
  return changes;
}
