import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';

/** Root of the trie that maps the RLP of an index to an item: the transactions root and the receipts root of a block. */
export async function orderedTrieRoot(items: readonly Uint8Array[]): Promise<Uint8Array> {
  const trie = await createMPT();
  for (const [index, item] of items.entries()) await trie.put(RLP.encode(index), item);
  return trie.root();
}
