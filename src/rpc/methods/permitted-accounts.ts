import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import type { MethodCallOptions } from '../method.js';
import { walletRefused } from '../rpc-errors.js';

/** Who asks: a session (a provider, a WebSocket) has permissions of its own. */
export type AccountUser = Pick<MethodCallOptions, 'client' | 'subscriber'>;

/** What a session may use, where that is not all of the dev accounts. It ends with the session. */
const restricted = new WeakMap<object, readonly Hex[]>();

/** The accounts that a caller may use. Over HTTP, and at first in each session, these are all dev accounts. */
export function permittedAccounts({ impersonation }: DevnetControl, user: AccountUser): readonly Hex[] {
  const session = sessionOf(user);
  return (session && restricted.get(session)) ?? impersonation.accounts;
}

/**
 * Changes what a session may use.
 *
 * @param accounts - dev accounts; undefined for all
 * @throws PlumblineError `WALLET_REFUSED`, rule `unsupported`, for fewer than all without a session
 */
export function restrictAccounts(user: AccountUser, accounts: readonly Hex[] | undefined): void {
  const session = sessionOf(user);
  if (accounts === undefined) {
    if (session !== undefined) restricted.delete(session);
    return;
  }
  if (session === undefined) {
    throw walletRefused(
      'unsupported',
      'permissions belong to a provider or a WebSocket; over HTTP all accounts are open',
    );
  }
  restricted.set(session, accounts);
}

/**
 * @param address - 20 bytes
 * @throws PlumblineError `WALLET_REFUSED`, rule `unauthorized`, unless it is a dev account that the caller may use
 */
export function requirePermitted(devnet: DevnetControl, address: Uint8Array, user: AccountUser): void {
  requireNotGivenUp(devnet, address, user);
  const shown = bytesToHex(address);
  if (devnet.impersonation.accounts.includes(shown)) return;
  throw walletRefused('unauthorized', `no key is held for ${shown}; use an account of eth_accounts`);
}

/** As `requirePermitted`, for dev accounts alone: others may be impersonated. */
export function requireNotGivenUp(devnet: DevnetControl, address: Uint8Array, user: AccountUser): void {
  const shown = bytesToHex(address);
  const { accounts } = devnet.impersonation;
  if (!accounts.includes(shown) || permittedAccounts(devnet, user).includes(shown)) return;
  throw walletRefused('unauthorized', `this session may not use ${shown}; ask with wallet_requestPermissions`);
}

function sessionOf({ client, subscriber }: AccountUser): object | undefined {
  return subscriber !== undefined && typeof client === 'object' && client !== null ? client : undefined;
}
