import type { PlacedPrecompile } from '../evm/interpreter/machine.js';
import { hasCode, type StateReader } from '../evm/state/state-reader.js';
import { authorityOf } from '../evm/transactions/authority.js';
import type { TransactionMessage } from '../evm/transactions/transaction-message.js';
import { equalBytes } from '../primitives/bytes.js';

/** Length of a function's selector, bytes. */
const SELECTOR_BYTES = 4;

/**
 * Whether a call has data for a contract, and there is none.
 *
 * @param state - before it
 * @source docs/spec/preview.md 8.7
 */
export async function findsNoCode(
  { to, data, authorizationList = [] }: TransactionMessage,
  state: StateReader,
  precompiles: readonly PlacedPrecompile[],
): Promise<boolean> {
  if (to === undefined || data.length < SELECTOR_BYTES || (await hasCode(state, to))) return false;
  if (precompiles.some(([address]) => equalBytes(address, to))) return false;
  // An authorization may give it code before it is called (EIP-7702).
  for (const authorization of authorizationList) {
    const authority = await authorityOf(authorization);
    if (authority !== undefined && equalBytes(authority, to)) return false;
  }
  return true;
}
