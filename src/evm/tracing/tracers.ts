import { bigIntToBytes, bytesToKey } from '../../primitives/bytes.js';
import type { Rules } from '../common.js';
import { activePrecompiles } from '../precompiles/active-precompiles.js';
import { type CallTracerOptions, callTracer } from './call-tracer.js';
import { fourByteTracer, noopTracer } from './four-byte-tracer.js';
import { type PrestateTracerOptions, prestateTracer } from './prestate-tracer.js';
import { type StructLogOptions, structLogger } from './struct-logger.js';
import type { Tracer } from './tracer.js';

/** Names of the tracers. */
export const TRACERS = ['callTracer', 'prestateTracer', '4byteTracer', 'noopTracer'] as const;

/** A tracer and its options; without a name it lists the instructions. */
export type TracerChoice =
  | { readonly tracer: ''; readonly options: StructLogOptions }
  | { readonly tracer: 'callTracer'; readonly options: CallTracerOptions }
  | { readonly tracer: 'prestateTracer'; readonly options: PrestateTracerOptions }
  | { readonly tracer: '4byteTracer' | 'noopTracer' };

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
  }
}

function isPrecompileOf(rules: Rules): (address: Uint8Array) => boolean {
  const addresses = new Set(activePrecompiles(rules).map((id) => bytesToKey(bigIntToBytes(BigInt(id), 20))));
  return (address) => addresses.has(bytesToKey(address));
}
