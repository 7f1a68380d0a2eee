import type { Hex } from 'plumbline-l2';

/** Bytes as 0x and hex. */
export function hexOf(bytes: Uint8Array): Hex {
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
