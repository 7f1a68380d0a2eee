import { hexToBytes } from '../../primitives/hex.js';
import { DEV_ACCOUNTS } from '../devnet/state/dev-accounts.js';
import { DEV_BALANCE, type GenesisAlloc } from '../devnet/state/genesis.js';
import type { StateEdit } from '../state-edits.js';

/**
 * The edits of a new fork. The dev accounts have as much as on any devnet, and no code: on networks, others have set some. Of the
 * accounts that the options name, what they name replaces what the network has.
 *
 * @param alloc - by address
 * @throws PlumblineError `INVALID_HEX`, `INVALID_LENGTH`
 */
export function openingEdits(alloc: GenesisAlloc = {}): StateEdit[] {
  const dev = DEV_ACCOUNTS.flatMap((account): StateEdit[] => {
    const address = hexToBytes(account.address, 20);
    return [
      { kind: 'balance', address, balance: DEV_BALANCE },
      { kind: 'code', address, code: new Uint8Array(0) },
    ];
  });
  const named = Object.entries(alloc).flatMap(([name, { balance, nonce, code, storage = {} }]): StateEdit[] => {
    const address = hexToBytes(name, 20);
    return [
      ...(balance === undefined ? [] : [{ kind: 'balance', address, balance } as const]),
      ...(nonce === undefined ? [] : [{ kind: 'nonce', address, nonce } as const]),
      ...(code === undefined ? [] : [{ kind: 'code', address, code: hexToBytes(code) } as const]),
      ...Object.entries(storage).map(([key, value]): StateEdit => {
        return { kind: 'slot', address, key: hexToBytes(key, 32), value: hexToBytes(value, 32) };
      }),
    ];
  });
  return [...dev, ...named];
}
