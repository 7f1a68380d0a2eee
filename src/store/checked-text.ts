/** Encodes text for the store, after a checksum. The checksum detects damage, not manipulation. */
export function encodeChecked(text: string): Uint8Array {
  return new TextEncoder().encode(`${checksum(text)} ${text}`);
}

/** @returns undefined when the checksum does not match */
export function decodeChecked(bytes: Uint8Array): string | undefined {
  const stored = new TextDecoder().decode(bytes);
  const at = stored.indexOf(' ');
  const text = stored.slice(at + 1);
  return stored.slice(0, at) === checksum(text) ? text : undefined;
}

/** FNV-1a, 32 bits. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16);
}
