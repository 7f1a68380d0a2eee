import type { TraceLeave } from '../../kernel/evm.js';
import { fixedGasOf, opcodeOf } from './opcodes.js';

const MAX_STACK = 1024;
const [OUT_OF_GAS, STATIC_STATE_CHANGE] = [2, 7];
const [SSTORE, TSTORE, LOG0, LOG4] = [0x55, 0x5d, 0xa0, 0xa4];

type FailedFrame = Pick<TraceLeave, 'exception' | 'op' | 'stackItems' | 'rest' | 'immediate'>;

/** geth's texts, by the codes in assembly/evm/exceptions.ts; those that depend on the instruction are left out. */
const TEXTS: Readonly<Record<number, string>> = {
  1: 'execution reverted',
  2: 'out of gas',
  5: 'invalid jump destination',
  7: 'write protection',
  8: 'insufficient balance for transfer',
  9: 'max call depth exceeded',
  10: 'contract address collision',
  11: 'contract creation code storage out of gas',
  12: 'max code size exceeded',
  13: 'invalid code: must not begin with 0xef',
  14: 'max initcode size exceeded',
  15: 'nonce uint64 overflow',
  16: 'precompile failed',
  17: 'return data out of bounds',
};

/**
 * Why a frame failed, in the words of geth; undefined if it did not.
 *
 * @source docs/spec/preview.md 2.3
 */
export function failureText(frame: FailedFrame): string | undefined {
  const { exception, op, stackItems, rest, immediate } = frame;
  if (exception === 0) return undefined;
  // Gas is left, but SSTORE asks for more than it costs (EIP-2200).
  if (exception === OUT_OF_GAS && op === SSTORE && rest >= 0n)
    return `${TEXTS[OUT_OF_GAS]}: not enough gas for reentrancy sentry`;
  const opcode = opcodeOf(op);
  // geth looks for a static call as it computes the gas, once the fixed gas is paid; but for these two it looks after that.
  if (exception === STATIC_STATE_CHANGE && op !== TSTORE && (op < LOG0 || op > LOG4))
    return rest < BigInt(fixedGasOf(op, immediate !== undefined))
      ? TEXTS[OUT_OF_GAS]
      : `${TEXTS[OUT_OF_GAS]}: ${TEXTS[exception]}`;
  switch (exception) {
    case 3:
      return `stack underflow (${stackItems} <=> ${neededItems(frame)})`;
    case 4:
      return `stack limit reached ${stackItems} (${MAX_STACK + (opcode?.takes ?? 0) - (opcode?.puts ?? 0)})`;
    case 6:
      return `invalid opcode: ${opcode?.name ?? `opcode 0x${op.toString(16)} not defined`}${operandText(frame)}`;
    default:
      return TEXTS[exception] ?? 'internal error';
  }
}

/** Whether an instruction failed for lack of words that its immediate names, which is seen only as it is executed. */
export function lacksNamedItems({ exception, op, stackItems, immediate }: FailedFrame): boolean {
  return exception === 3 && immediate !== undefined && hasImmediate(op) && stackItems >= (opcodeOf(op)?.takes ?? 0);
}

/** Instructions that take the byte after them, from Amsterdam on (EIP-8024). */
const [DUPN, SWAPN, EXCHANGE] = [0xe6, 0xe7, 0xe8];
const hasImmediate = (op: number) => op >= DUPN && op <= EXCHANGE;

function operandText({ op, immediate }: FailedFrame): string {
  if (immediate === undefined || !hasImmediate(op)) return '';
  return ` (operand: 0x${immediate.toString(16).padStart(2, '0')})`;
}

/** Words that an instruction which failed for lack of them needs. Without the fewest that it may need, its immediate is not looked at. */
function neededItems(frame: FailedFrame): number {
  const { op, immediate = 0 } = frame;
  if (!lacksNamedItems(frame)) return opcodeOf(op)?.takes ?? 0;
  if (op === EXCHANGE) return deepestOfPair(immediate);
  return ((immediate + 145) % 256) + (op === SWAPN ? 1 : 0);
}

/** @source docs/spec/amsterdam.md 10 */
function deepestOfPair(immediate: number): number {
  const k = immediate ^ 143;
  const [q, r] = [k >> 4, k & 15];
  return 1 + (q < r ? r + 1 : Math.max(r + 1, 29 - q));
}
