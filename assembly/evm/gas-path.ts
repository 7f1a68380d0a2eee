import { FRAME_NEED, FRAME_START_GAS } from './frames';

/**
 * The smallest gas limit with which a run would go exactly the same way. This is known if nothing that the run reads
 * depends on its limit. The gas used up to each point is then the same with every limit, and these conditions must hold:
 *
 * - a frame starts with at least the gas that it uses up to each point; one that fails without a revert uses all of it;
 * - more than 2 300 gas is left at each SSTORE (EIP-2200);
 * - each call or creation gets what its frame needs: with `left` at that point, at most `left - left / 64` (EIP-150). A
 *   call that asks for a fixed amount got enough in this run, so that amount is enough.
 *
 * State gas that comes out of the gas of a frame counts as used until it comes back (state-gas.ts). A run that is charged for state and
 * has a reservoir has no result: with a lower limit the reservoir is smaller.
 *
 * A run can read two values that depend on its limit: the gas left, and the balance of the sender, who has paid for the
 * limit in advance. If it reads one of them, there is no result. One use of GAS is allowed: directly before a call that
 * takes it as the gas to pass on, because that is always more than can be passed on.
 */
export let conclusive: bool = true;

export function beginPath(): void {
  conclusive = true;
}

export function loseConclusion(): void {
  conclusive = false;
}

/** The frame must start with at least this gas. */
export function requireGas(frame: usize, gas: i64): void {
  if (gas > load<i64>(frame, FRAME_NEED)) store<i64>(frame, gas, FRAME_NEED);
}

/** Gas that a frame used when it has this much left. */
export function usedWith(frame: usize, left: i64): i64 {
  return load<i64>(frame, FRAME_START_GAS) - left;
}

/** The smallest `left` for which `left - left / 64` is at least `gas`. */
export function leftFor(gas: i64): i64 {
  return gas <= 0 ? 0 : gas + (gas - 1) / 63;
}
