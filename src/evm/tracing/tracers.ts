import { FLAGS, type TraceRecord } from '../../kernel/evm.js';
import { bigIntToBytes, bytesToKey } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import type { Rules } from '../common.js';
import { activePrecompiles } from '../precompile-ids.js';
import { type CallTracerOptions, callTracer, type FlatCallTracerOptions, flatCallTracer } from './call-tracer.js';
import { type PrestateTracerOptions, prestateTracer } from './prestate-tracer.js';
import { type StructLogOptions, structLogger } from './struct-logger.js';
import type { Tracer } from './tracer.js';

/** Names of the tracers. */
export const TRACERS = [
  'callTracer',
  'flatCallTracer',
  'prestateTracer',
  '4byteTracer',
  'muxTracer',
  'noopTracer',
] as const;

/** A tracer and its options; without a name it lists the instructions. */
export type TracerChoice =
  | { readonly tracer: ''; readonly options: StructLogOptions }
  | { readonly tracer: 'callTracer'; readonly options: CallTracerOptions }
  | { readonly tracer: 'prestateTracer'; readonly options: PrestateTracerOptions }
  | { readonly tracer: 'flatCallTracer'; readonly options: FlatCallTracerOptions }
  | { readonly tracer: '4byteTracer' | 'noopTracer' }
  /** Several at once, each with its own result by its name. */
  | { readonly tracer: 'muxTracer'; readonly tracers: readonly NamedTracerChoice[] };

export type NamedTracerChoice = Exclude<TracerChoice, { readonly tracer: '' }>;

/** A tracer for one transaction. */
export function createTracer(choice: TracerChoice, rules: Rules): Tracer {
  switch (choice.tracer) {
    case '':
      return structLogger(choice.options);
    case 'callTracer':
      return callTracer(choice.options);
    case 'prestateTracer':
      return prestateTracer(choice.options);
    case '4byteTracer':
      return fourByteTracer(isPrecompileOf(rules));
    case 'noopTracer':
      return noopTracer();
    case 'flatCallTracer': {
      const isPrecompile = isPrecompileOf(rules);
      return flatCallTracer((address) => isPrecompile(hexToBytes(address)), choice.options);
    }
    case 'muxTracer':
      return muxTracer(choice.tracers.map((one) => [one.tracer, createTracer(one, rules)]));
  }
}

/** Several tracers of one run. */
function muxTracer(tracers: readonly (readonly [name: string, tracer: Tracer])[]): Tracer {
  return {
    flags: tracers.reduce((flags, [, tracer]) => flags | tracer.flags, 0),
    take(record, grow) {
      for (const [, tracer] of tracers) tracer.take(record, grow);
    },
    async changed(...change) {
      for (const [, tracer] of tracers) await tracer.changed?.(...change);
    },
    result: (traced, grow) => Object.fromEntries(tracers.map(([name, tracer]) => [name, tracer.result(traced, grow)])),
  };
}

function isPrecompileOf(rules: Rules): (address: Uint8Array) => boolean {
  const addresses = new Set(activePrecompiles(rules).map((id) => bytesToKey(bigIntToBytes(BigInt(id), 20))));
  return (address) => addresses.has(bytesToKey(address));
}

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
