import type { AccountOverride, StateOverrides } from '../../primitives/call-request.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { StateOverlay } from '../state/state-overlay.js';
import { NO_ACCOUNT } from '../state/state-reader.js';
import { simulationRefused } from './simulate-plan.js';

/**
 * Writes overrides into a state, so that they become changes of the simulated block.
 *
 * @throws PlumblineError `SIMULATION_REFUSED` for an account with both storage forms
 */
export async function writeOverrides(state: StateOverlay, overrides: StateOverrides): Promise<void> {
  for (const override of overrides) await writeOverride(state, override);
}

async function writeOverride(state: StateOverlay, override: AccountOverride): Promise<void> {
  const { address, balance, nonce, code, state: whole, stateDiff } = override;
  if (whole !== undefined && stateDiff !== undefined) {
    throw simulationRefused('override', `account ${bytesToHex(address)} has both 'state' and 'stateDiff'`);
  }
  if ([balance, nonce, code, whole, stateDiff].every((member) => member === undefined)) return;
  const account = (await state.account(address)) ?? NO_ACCOUNT;
  if (whole !== undefined) state.destroy(address);
  state.setAccount(address, {
    nonce: nonce ?? account.nonce,
    balance: balance ?? account.balance,
    codeHash: code === undefined ? account.codeHash : state.addCode(code),
  });
  for (const [key, value] of whole ?? stateDiff ?? []) state.setSlot(address, key, value);
}
