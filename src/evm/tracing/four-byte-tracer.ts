import { FLAGS, type TraceRecord } from '../../kernel/evm.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { Tracer } from './tracer.js';

const CALLS: readonly number[] = [0xf1, 0xf2, 0xf4, 0xfa];

/**
 * How often each function was called, by its selector and the number of bytes after it.
 *
 * @param isPrecompile - of an address of 20 bytes
 * @source docs/spec/preview.md 4
 */
export function fourByteTracer(isPrecompile: (address: Uint8Array) => boolean): Tracer {
  const counts: Record<string, number> = {};
  return {
    flags: FLAGS.calls,
    take(record: TraceRecord) {
      if (record.kind !== 'enter' || !CALLS.includes(record.op) || record.inputLength < 4) return;
      if (isPrecompile(record.callee)) return;
      const { bytes, inputAt, inputLength } = record;
      const key = `${bytesToHex(bytes.subarray(inputAt, inputAt + 4))}-${inputLength - 4}`;
      counts[key] = (counts[key] ?? 0) + 1;
    },
    result: () => counts,
  };
}

/** Follows nothing. */
export function noopTracer(): Tracer {
  return { flags: 0, take() {}, result: () => ({}) };
}
