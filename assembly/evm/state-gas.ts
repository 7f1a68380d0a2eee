import { FRAME_SPILLED } from './frames';
import { loseConclusion } from './gas-path';
import { passSlice } from './progress';

/**
 * State gas (EIP-8037). The innermost frame has the whole reservoir. What the reservoir lacks comes out of the gas of the frame that
 * is charged, which keeps how much of it was spilled. A frame keeps what both values were at its start.
 */
export let reservoir: i64 = 0;
/** Charged since the start of the transaction, less what was refilled. */
export let stateUsed: i64 = 0;
/** The reservoir at the start of the transaction. */
export let stateGranted: i64 = 0;

/** What the last charge that could not be paid would have taken out of the gas. */
let refused: i64 = 0;

/** @returns it, once */
export function takeRefused(): i64 {
  const amount = refused;
  refused = 0;
  return amount;
}

export function beginStateGas(granted: i64): void {
  stateGranted = granted;
  setStateGas(granted, 0);
}

export function setStateGas(left: i64, used: i64): void {
  reservoir = left;
  stateUsed = used;
}

/** @returns the gas that is left; below zero if it is too little, and nothing was charged */
export function chargeState(frame: usize, gas: i64, amount: i64): i64 {
  const spill = max<i64>(amount - reservoir, 0);
  const left = gas - spill;
  if (left < 0) {
    refused = spill;
    return left;
  }
  // With another reservoir, frames would have another part of their gas for instructions.
  if (stateGranted > 0 && amount > 0) loseConclusion();
  reservoir -= amount - spill;
  stateUsed += amount;
  store<i64>(frame, load<i64>(frame, FRAME_SPILLED) + spill, FRAME_SPILLED);
  passSlice(gas, left);
  return left;
}

/** Gives a charge back: first what was spilled, to the gas. @returns the gas afterwards */
export function refillState(frame: usize, gas: i64, amount: i64): i64 {
  const spilled = load<i64>(frame, FRAME_SPILLED);
  const back = min(amount, spilled);
  store<i64>(frame, spilled - back, FRAME_SPILLED);
  reservoir += amount - back;
  stateUsed -= amount;
  passSlice(gas, gas + back);
  return gas + back;
}

/**
 * A frame that did not fail hands over to its caller what it spilled. The reservoir that it leaves pays for what was spilled.
 *
 * @param gas - of the caller, with what the frame left @returns the gas afterwards
 */
export function joinState(caller: usize, child: usize, gas: i64): i64 {
  const spilled = load<i64>(caller, FRAME_SPILLED) + load<i64>(child, FRAME_SPILLED);
  const back = min(reservoir, spilled);
  store<i64>(caller, spilled - back, FRAME_SPILLED);
  reservoir -= back;
  passSlice(gas, gas + back);
  return gas + back;
}
