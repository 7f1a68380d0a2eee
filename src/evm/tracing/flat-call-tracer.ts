import type { Hex } from '../../primitives/hex.js';
import type { CallFrame } from './call-frame.js';
import { callTracer } from './call-tracer.js';
import type { Grow, TracedInclusion, TracedTransaction, Tracer } from './tracer.js';

/** Options of `flatCallTracer`. */
export interface FlatCallTracerOptions {
  /** Errors in the words of Parity. */
  readonly convertParityErrors?: boolean;
  /** Also calls of precompiles from inside. */
  readonly includePrecompiles?: boolean;
}

/** One frame, as Parity's traces have it. */
interface FlatFrame {
  readonly action: Readonly<Record<string, Hex | string | undefined>>;
  readonly blockHash: Hex | null;
  readonly blockNumber: number;
  readonly error?: string;
  readonly result?: Readonly<Record<string, Hex | undefined>>;
  readonly subtraces: number;
  readonly traceAddress: readonly number[];
  readonly transactionHash: Hex | null;
  readonly transactionPosition: number;
  readonly type: 'call' | 'create' | 'suicide';
}

/** JSON of an entry beside the frame that it shows. */
const ENTRY_CHARACTERS = 400;
/** Of a call that no block includes. */
const NOWHERE: TracedInclusion = { blockHash: null, blockNumber: 0, transactionHash: null, index: 0 };
const REVERTED = 'execution reverted';

const PARITY_ERRORS: Readonly<Record<string, string>> = {
  'contract creation code storage out of gas': 'Out of gas',
  'out of gas': 'Out of gas',
  'gas uint64 overflow': 'Out of gas',
  'max code size exceeded': 'Out of gas',
  'invalid jump destination': 'Bad jump destination',
  [REVERTED]: 'Reverted',
  'return data out of bounds': 'Out of bounds',
  'stack limit reached 1024 (1023)': 'Out of stack',
  'precompile failed': 'Built-in failed',
};
const PARITY_BEGINNINGS: readonly (readonly [beginning: string, error: string])[] = [
  ['out of gas:', 'Out of gas'],
  ['invalid opcode:', 'Bad instruction'],
  ['stack underflow', 'Stack underflow'],
];

/**
 * The tree of calls as a list, depth first.
 *
 * @param isPrecompile - of an address in lower case
 * @source ethereum/go-ethereum@02b73d4ea7 eth/tracers/native/call_flat.go
 */
export function flatCallTracer(isPrecompile: (address: Hex) => boolean, options: FlatCallTracerOptions = {}): Tracer {
  const inner = callTracer();
  return {
    ...inner,
    result(traced: TracedTransaction, grow) {
      const flat: FlatFrame[] = [];
      const tree = inner.result(traced, grow) as CallFrame;
      addFrames(flat, tree, [], { ...options, isPrecompile, grow, on: traced.included ?? NOWHERE });
      return flat;
    },
  };
}

interface Flattening extends FlatCallTracerOptions {
  readonly isPrecompile: (address: Hex) => boolean;
  readonly on: TracedInclusion;
  readonly grow: Grow;
}

/** Adds a frame and those below it, without recursion: frames may be 1024 deep. */
function addFrames(flat: FlatFrame[], root: CallFrame, at: readonly number[], how: Flattening): void {
  const { isPrecompile, includePrecompiles, grow } = how;
  const waiting: [frame: CallFrame, at: readonly number[]][] = [[root, at]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [frame, place] = next;
    const calls = (frame.calls ?? []).filter(
      ({ type, to }) =>
        includePrecompiles === true ||
        (type !== 'CALL' && type !== 'STATICCALL') ||
        to === undefined ||
        !isPrecompile(to),
    );
    grow(ENTRY_CHARACTERS + 4 * place.length);
    flat.push(flatFrame(frame, calls.length, place, how));
    for (let i = calls.length - 1; i >= 0; i--) waiting.push([calls[i]!, [...place, i]]);
  }
}

function flatFrame(
  frame: CallFrame,
  subtraces: number,
  traceAddress: readonly number[],
  { on, convertParityErrors }: Flattening,
): FlatFrame {
  const { error } = frame;
  // What a revert returns has its reason; of other failures there is no result.
  const hasResult = frame.type !== 'SELFDESTRUCT' && (error === undefined || error === REVERTED);
  return {
    action: actionOf(frame),
    blockHash: on.blockHash,
    blockNumber: on.blockNumber,
    ...(error !== undefined && { error: convertParityErrors === true ? inParitysWords(error) : error }),
    ...(hasResult && { result: resultOf(frame) }),
    subtraces,
    traceAddress,
    transactionHash: on.transactionHash,
    transactionPosition: on.index,
    type: frame.type === 'SELFDESTRUCT' ? 'suicide' : isCreation(frame) ? 'create' : 'call',
  };
}

const isCreation = ({ type }: CallFrame) => type === 'CREATE' || type === 'CREATE2';

function actionOf(frame: CallFrame): FlatFrame['action'] {
  const { type, from, to, gas, input } = frame;
  // A static call has no value, and this tracer shows zero.
  const { value = '0x0' } = frame;
  if (type === 'SELFDESTRUCT') return { address: from, balance: frame.value, refundAddress: to };
  if (isCreation(frame)) return { creationMethod: type.toLowerCase(), from, gas, init: input, value };
  return { callType: type.toLowerCase(), from, gas, input, to, value };
}

function resultOf(frame: CallFrame): NonNullable<FlatFrame['result']> {
  const { to, gasUsed, output = '0x' } = frame;
  if (!isCreation(frame)) return { gasUsed, output };
  return { ...(to !== undefined && { address: to }), code: output, gasUsed };
}

function inParitysWords(error: string): string {
  return PARITY_ERRORS[error] ?? PARITY_BEGINNINGS.find(([beginning]) => error.startsWith(beginning))?.[1] ?? error;
}
