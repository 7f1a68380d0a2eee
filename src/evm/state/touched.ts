import type { EVM } from '@ethereumjs/evm';
import type { AccessListEntry } from '../../primitives/call-request.js';
import { hexToBytes } from '../../primitives/hex.js';

/**
 * Accounts and slots that a run touched and that were not warm from the start, in ascending order. The journal has to
 * have reported since the run began, and must not have been cleaned up.
 *
 * @param created - addresses of contracts made in the run; they are left out unless one of their slots was touched
 */
export function touchedBy(evm: EVM, created: ReadonlySet<string>): AccessListEntry[] {
  const entries = [...(evm.journal.accessList ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  return entries
    .filter(([address, slots]) => slots.size > 0 || !created.has(`0x${address}`))
    .map(([address, slots]) => ({
      address: hexToBytes(`0x${address}`, 20),
      storageKeys: [...slots].sort().map((slot) => hexToBytes(`0x${slot}`, 32)),
    }));
}
