/** Block tags of JSON-RPC. */
export const BLOCK_TAGS = ['latest', 'pending', 'earliest', 'safe', 'finalized'] as const;

/** A block tag of JSON-RPC. */
export type BlockTag = (typeof BLOCK_TAGS)[number];

/**
 * How a caller names a block: by tag, by number, or by hash.
 *
 * @source EIP-1898 for the object forms; docs/spec/json-rpc.md 2.2 for the tags
 */
export type BlockReference =
  | { readonly tag: BlockTag }
  /** A safe integer, zero or above. */
  | { readonly number: number }
  /** 32 bytes. `requireCanonical`: the block must be on the chain. */
  | { readonly hash: Uint8Array; readonly requireCanonical?: boolean };

/** Whether a reference names the pending block. */
export function isPending(reference: BlockReference): boolean {
  return 'tag' in reference && reference.tag === 'pending';
}

/** Whether a reference names the newest block or the pending one. */
export function isHead(reference: BlockReference): boolean {
  return 'tag' in reference && (reference.tag === 'latest' || reference.tag === 'pending');
}
