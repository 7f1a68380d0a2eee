import type { Common } from '@ethereumjs/common';
import { type EVMOpts, type EVMResult, getOpcodesForHF, paramsEVM } from '@ethereumjs/evm';
import { bytesToBigInt } from '../../../src/primitives/bytes.js';

type CustomOpcode = Extract<NonNullable<EVMOpts['customOpcodes']>[number], { logicFunction: unknown }>;
type RunState = Parameters<CustomOpcode['logicFunction']>[0];

const OPCODES = {
  BALANCE: 0x31,
  SSTORE: 0x55,
  GAS: 0x5a,
  CREATE: 0xf0,
  CALL: 0xf1,
  CALLCODE: 0xf2,
  DELEGATECALL: 0xf4,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
} as const;
/** Opcodes that take the requested gas from the top of the stack. */
const CALLS: readonly number[] = [OPCODES.CALL, OPCODES.CALLCODE, OPCODES.DELEGATECALL, OPCODES.STATICCALL];

/** SSTORE fails unless more than this gas is left (EIP-2200). */
const STORE_SENTRY = 2_300n;

/** A call or a creation. */
interface Call {
  /** Gas the caller had used at this point, including the price of the call. */
  readonly spent: bigint;
  /** Gas passed on, without the stipend of a call with value. */
  readonly passedOn: bigint;
}

interface Frame {
  /** Gas at its start. */
  readonly gas: bigint;
  /** Minimum gas at its start to execute in the same way. */
  need: bigint;
  /** The call that started it; undefined for the outermost frame. */
  readonly from: Call | undefined;
}

/**
 * Watches one run, and finds the smallest gas limit with which it would execute in exactly the same way. This is
 * possible if nothing that the run reads depends on its gas limit. The gas used up to each point is then the same with
 * every limit, and these conditions must hold:
 *
 * - a frame starts with at least the gas that it uses up to each point (a frame that fails without a revert uses all of
 * it);
 * - more than 2 300 gas is left at each SSTORE (EIP-2200);
 * - each call or creation gets what its frame needs: with `left` at that point, at most `left - left / 64` (EIP-150). A
 * call that requests a fixed amount got enough in this run, so that amount is enough.
 *
 * A run can read two values that depend on its limit: the gas left, and the balance of the sender, who has paid for the
 * limit in advance. If a run reads one of them, there is no result. One use of GAS is allowed: directly before a call
 * that takes it as the requested gas, because that is always more than can be passed on.
 */
export class GasPath {
  private readonly frames: Frame[] = [];
  private call: Call | undefined;
  private isConclusive = true;
  private result: bigint | undefined;

  /** How much less gas would give the same execution; undefined if not known. Valid after the run. */
  get spareGas(): bigint | undefined {
    return this.isConclusive ? this.result : undefined;
  }

  enter({ gasLimit }: { readonly gasLimit: bigint }): void {
    this.frames.push({ gas: gasLimit, need: 0n, from: this.call });
    this.call = undefined;
  }

  leave({ execResult }: EVMResult): void {
    const frame = this.frames.pop()!;
    require(frame, execResult.executionGasUsed);
    // A frame with too little gas failed because of it, and fails again with the same gas.
    if (frame.need > frame.gas) frame.need = frame.gas;
    const caller = this.frames[this.frames.length - 1];
    if (caller === undefined || frame.from === undefined) this.result = frame.gas - frame.need;
    else {
      const { spent, passedOn } = frame.from;
      const stipend = frame.gas - passedOn;
      require(caller, spent + leftFor(frame.need - stipend));
    }
  }

  beforeStore({ gasLeft }: RunState): void {
    const frame = this.frame;
    require(frame, frame.gas - gasLeft + STORE_SENTRY + 1n);
  }

  /** @param price - cost of the call or creation, without the gas it passes on */
  beforeCall({ gasLeft, messageGasLimit = 0n }: RunState, price: bigint): void {
    const frame = this.frame;
    this.call = { spent: frame.gas - gasLeft + price, passedOn: messageGasLimit };
    // A call that cannot be paid makes no frame, and its stipend comes back. Later reports do not show this.
    require(frame, this.call.spent);
  }

  /** Called after GAS itself was charged. */
  atGas({ code, programCounter }: RunState): void {
    if (!CALLS.includes(code[programCounter]!)) this.isConclusive = false;
  }

  atBalance({ stack, env }: RunState): void {
    if (BigInt.asUintN(160, stack.peek(1)[0]!) === bytesToBigInt(env.origin.bytes)) this.isConclusive = false;
  }

  private get frame(): Frame {
    return this.frames[this.frames.length - 1]!;
  }
}

function require(frame: Frame, gas: bigint): void {
  if (gas > frame.need) frame.need = gas;
}

/** The smallest `left` for which `left - left / 64` is at least `gas`. */
function leftFor(gas: bigint): bigint {
  return gas <= 0n ? 0n : gas + (gas - 1n) / 63n;
}

/**
 * The opcodes that `GasPath` watches, extended to report to the path of the current run; none before London.
 *
 * @param current - returns that path, if there is one
 */
export function reportingOpcodes(common: Common, current: () => GasPath | undefined): CustomOpcode[] {
  if (!common.gteHardfork('london')) return [];
  // A new interpreter does the same; it sets the gas prices.
  common.updateParams(paramsEVM);
  const { opcodes, handlers, dynamicGasHandlers } = getOpcodesForHF(common);
  return Object.values(OPCODES).map((opcode): CustomOpcode => {
    const { name, fee } = opcodes.get(opcode)!;
    const logic = handlers.get(opcode)!;
    const custom = { opcode, opcodeName: name, baseFee: fee, logicFunction: logic };
    if (opcode === OPCODES.GAS) {
      const logicFunction: typeof logic = (state, rules) => {
        current()?.atGas(state);
        return logic(state, rules);
      };
      return { ...custom, logicFunction };
    }
    const priceOf = dynamicGasHandlers.get(opcode)!;
    const gasFunction: typeof priceOf = async (state, base, rules) => {
      const path = current();
      if (opcode === OPCODES.SSTORE) path?.beforeStore(state);
      else if (opcode === OPCODES.BALANCE) path?.atBalance(state);
      const price = await priceOf(state, base, rules);
      if (opcode >= OPCODES.CREATE) path?.beforeCall(state, price);
      return price;
    };
    return { ...custom, gasFunction };
  });
}
