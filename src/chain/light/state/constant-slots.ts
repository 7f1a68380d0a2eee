import { padStart } from '../../../primitives/bytes.js';

const PUSH0 = 0x5f;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;
const DUP1 = 0x80;
const SLOAD = 0x54;
/** Most slots of one contract. */
const MAX_SLOTS = 24;

/**
 * Slots that code reads at a constant position: a push right before SLOAD. Compilers write fixed variables so, and the
 * slots of proxies.
 *
 * @returns 32 bytes each, at most 24
 */
export function constantSlots(code: Uint8Array): Uint8Array[] {
  const slots = new Map<string, Uint8Array>();
  for (let at = 0; at < code.length && slots.size < MAX_SLOTS; at++) {
    const opcode = code[at]!;
    if (opcode < PUSH0 || opcode > PUSH32) continue;
    const length = opcode === PUSH0 ? 0 : opcode - PUSH1 + 1;
    const end = at + length + 1;
    const next = code[end] === DUP1 ? code[end + 1] : code[end];
    if (next === SLOAD) {
      const slot = padStart(code.subarray(at + 1, end), 32);
      slots.set(String.fromCharCode(...slot), slot);
    }
    at += length;
  }
  return [...slots.values()];
}
