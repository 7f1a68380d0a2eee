import type { Common } from '@ethereumjs/common';
import { type EVMOpts, type EVMResult, getOpcodesForHF, paramsEVM } from '@ethereumjs/evm';
import { bytesToBigInt } from '../../primitives/bytes.js';

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
/** Those that take the gas they ask for from the top of the stack. */
const CALLS: readonly number[] = [OPCODES.CALL, OPCODES.CALLCODE, OPCODES.DELEGATECALL, OPCODES.STATICCALL];

/** SSTORE is refused with no more gas left than this (EIP-2200). */
const STORE_SENTRY = 2_300n;

/** A call or a creation. */
interface Call {
  /** Gas the caller had used when it began, its own price included. */
  readonly spent: bigint;
  /** Gas handed on, without the stipend that comes with a value. */
  readonly handedOn: bigint;
}

interface Frame {
  /** Gas at its start. */
  readonly gas: bigint;
  /** Gas at its start without which it could not have gone the way it went. */
  need: bigint;
  /** The call that made it; undefined for the outermost. */
  readonly from: Call | undefined;
}

/**
 * Watches one run, and finds the smallest gas limit with which it would go exactly the same way. This is possible where
 * nothing that the run sees depends on the gas it was given; then the gas used up to each point is the same with every
 * limit, and what has to hold is:
 *
 * - a frame has at its start the gas that it uses up to each point (one that fails without a revert uses all of it);
 * - more than 2 300 is left at each SSTORE (EIP-2200);
 * - each call or creation is handed what its own frame needs: with `left` at that point, no more than `left - left / 64`
 *   (EIP-150). A call that asks for a fixed amount was handed enough in this run, so that amount is enough.
 *
 * What a run can see of its limit is the gas left, and the balance of the sender, who has paid for the limit in advance. A
 * run that looks at one of them tells nothing. It may look at the gas left for a call that comes right behind and takes
 * the number as the gas it asks for: that is more than can be handed on, whatever the limit.
 */
export class GasPath {
  private readonly frames: Frame[] = [];
  private call: Call | undefined;
  private tells = true;
  private result: bigint | undefined;

  /**
   * Gas less than the run was given with which it goes the same way, or undefined where that is not known. To be asked
   * after the run.
   */
  get spare(): bigint | undefined {
    return this.tells ? this.result : undefined;
  }

  enter({ gasLimit }: { readonly gasLimit: bigint }): void {
    this.frames.push({ gas: gasLimit, need: 0n, from: this.call });
    this.call = undefined;
  }

  leave({ execResult }: EVMResult): void {
    const frame = this.frames.pop()!;
    require(frame, execResult.executionGasUsed);
    // One that had too little failed for that, and with as much fails again.
    if (frame.need > frame.gas) frame.need = frame.gas;
    const caller = this.frames[this.frames.length - 1];
    if (caller === undefined || frame.from === undefined) this.result = frame.gas - frame.need;
    else {
      const { spent, handedOn } = frame.from;
      const stipend = frame.gas - handedOn;
      require(caller, spent + leftFor(frame.need - stipend));
    }
  }

  beforeStore({ gasLeft }: RunState): void {
    const frame = this.frame;
    require(frame, frame.gas - gasLeft + STORE_SENTRY + 1n);
  }

  /** @param price - what the call or creation costs, without the gas it hands on */
  beforeCall({ gasLeft, messageGasLimit = 0n }: RunState, price: bigint): void {
    const frame = this.frame;
    this.call = { spent: frame.gas - gasLeft + price, handedOn: messageGasLimit };
    // A call that cannot be paid makes no frame, and its stipend comes back: nothing after it shows this.
    require(frame, this.call.spent);
  }

  /** After GAS itself was charged. */
  atGas({ code, programCounter }: RunState): void {
    if (!CALLS.includes(code[programCounter]!)) this.tells = false;
  }

  atBalance({ stack, env }: RunState): void {
    if (BigInt.asUintN(160, stack.peek(1)[0]!) === bytesToBigInt(env.origin.bytes)) this.tells = false;
  }

  private get frame(): Frame {
    return this.frames[this.frames.length - 1]!;
  }
}

function require(frame: Frame, gas: bigint): void {
  if (gas > frame.need) frame.need = gas;
}

/** Least `left` of which `left - left / 64` is `gas` or more. */
function leftFor(gas: bigint): bigint {
  return gas <= 0n ? 0n : gas + (gas - 1n) / 63n;
}

/**
 * The instructions that paths are made of, as they are but reporting to the path of the present run;
 * none before London.
 *
 * @param current - that path, if there is one
 */
export function reportingOpcodes(common: Common, current: () => GasPath | undefined): CustomOpcode[] {
  if (!common.gteHardfork('london')) return [];
  // An interpreter does the same when it is made; the prices are among these.
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
