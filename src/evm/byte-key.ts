/**
 * Bytes as text of as many characters: a key for maps that costs a third of hex. Execution looks up accounts and slots all
 * the time, and the text showed in its time.
 */
export function byteKey(bytes: Uint8Array): string {
  // `apply` takes whatever is like an array; its type does not say so.
  return String.fromCharCode.apply(undefined, bytes as unknown as number[]);
}

/** The bytes of a key. */
export function keyBytes(key: string): Uint8Array {
  return Uint8Array.from(key, (character) => character.charCodeAt(0));
}
