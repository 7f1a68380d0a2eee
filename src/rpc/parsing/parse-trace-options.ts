import { type NamedTracerChoice, TRACERS, type TracerChoice } from '../../evm/tracing/tracers.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { optional, parseBoolean, parseIndex, requireObject, requireText } from './parse-params.js';

const SUBJECT = 'tracer options params';
/** Milliseconds of the units of a duration. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Options of a trace: the tracer, how long one transaction may take in milliseconds, and where in its block a call runs. */
export interface TraceOptions {
  readonly choice: TracerChoice;
  readonly timeoutMs: number | undefined;
  readonly txIndex: number | undefined;
}

/**
 * Options of the `debug_trace…` methods. Members that are not known are ignored.
 *
 * @throws RpcError -32602 that names the member
 * @source docs/spec/preview.md 1 and 5
 */
export function parseTraceOptions(value: unknown): TraceOptions {
  const object = optional(value, (present) => requireObject(present, 'options', SUBJECT)) ?? {};
  const config = optional(object.tracerConfig, (present) => requireObject(present, 'tracerConfig', SUBJECT)) ?? {};
  return {
    choice: choiceOf(object, config),
    timeoutMs: optional(object.timeout, parseDuration),
    txIndex: optional(object.txIndex, (present) => parseIndex(present, 'txIndex', SUBJECT)),
  };
}

type Members = Readonly<Record<string, unknown>>;

function choiceOf(object: Members, config: Members): TracerChoice {
  const named = optional(object.tracer, (present) => requireText(present, 'tracer', SUBJECT)) ?? '';
  if (named === '') {
    const limit = optional(object.limit, parseLimit);
    const flags = flagsOf(object, '', 'disableStack', 'disableStorage', 'enableMemory', 'enableReturnData');
    return { tracer: '', options: { ...flags, ...(limit !== undefined && { limit }) } };
  }
  const tracer = TRACERS.find((name) => name === named);
  if (tracer === undefined) {
    const reason = `has no tracer of this name: ${named.slice(0, 40)}; there are ${TRACERS.join(', ')}`;
    throw invalidParams('tracer', reason, SUBJECT);
  }
  const flags = <Name extends string>(...names: readonly Name[]) => flagsOf(config, 'tracerConfig.', ...names);
  if (tracer === 'callTracer') return { tracer, options: flags('onlyTopCall', 'withLog') };
  if (tracer === 'flatCallTracer') return { tracer, options: flags('convertParityErrors', 'includePrecompiles') };
  if (tracer === 'muxTracer') return { tracer, tracers: Object.entries(config).map(choiceOfMux) };
  if (tracer !== 'prestateTracer') return { tracer };
  const options = flags('diffMode', 'disableCode', 'disableStorage', 'includeEmpty');
  if (options.diffMode && options.includeEmpty)
    throw invalidParams('tracerConfig', 'cannot have diffMode with includeEmpty', SUBJECT);
  return { tracer, options };
}

/** One of several tracers: its name, and its options or null. */
function choiceOfMux([tracer, value]: [string, unknown]): NamedTracerChoice {
  const name = `tracerConfig.${tracer.slice(0, 40)}`;
  const choice = choiceOf({ tracer }, optional(value, (present) => requireObject(present, name, SUBJECT)) ?? {});
  if (choice.tracer === '') throw invalidParams(name, 'is not the name of a tracer', SUBJECT);
  return choice;
}

/** Those of the flags that are set. */
function flagsOf<Name extends string>(
  object: Members,
  path: string,
  ...names: readonly Name[]
): { readonly [N in Name]?: boolean } {
  const set = names.filter((name) => optional(object[name], (flag) => parseBoolean(flag, path + name, SUBJECT)));
  return Object.fromEntries(set.map((name) => [name, true])) as { readonly [N in Name]?: boolean };
}

/** @returns undefined for 0, which is no limit */
function parseLimit(value: unknown): number | undefined {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw invalidParams('limit', 'is not a number of steps', SUBJECT);
  return value === 0 ? undefined : (value as number);
}

/** @returns milliseconds */
function parseDuration(value: unknown): number {
  const text = requireText(value, 'timeout', SUBJECT);
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text)
    throw invalidParams('timeout', 'is not a duration such as 300ms, 5s or 2m', SUBJECT);
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
}
