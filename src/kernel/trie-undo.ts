import type { TrieLeaf } from './trie-contract.js';
import { ENTRY, NONE } from './trie-exports.js';

/** One entry of a record of `TrieKernel.takeUndo`. */
export type UndoneChange =
  /** Content of the position before; undefined if it was unused. */
  | { readonly trie: number; readonly position: number; readonly leaf: TrieLeaf | undefined }
  | { readonly trie: number; readonly nextFreeNode: number };

/** Decodes a record of `TrieKernel.takeUndo`, without undoing it. */
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
