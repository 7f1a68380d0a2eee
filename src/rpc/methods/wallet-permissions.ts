import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { parseAddress, requireArray, requireObject } from '../parsing/parse-params.js';
import { NEEDS_KEYS } from '../protocol/method-rows.js';
import { walletRefused } from '../protocol/rpc-errors.js';
import type { PermissionJson, PermissionRequestJson } from '../schema/json.js';
import { defineMethod } from './context.js';
import { type AccountUser, permittedAccounts, requirePermitted, restrictAccounts } from './permitted-accounts.js';

const RESTRICTION = 'restrictReturnedAccounts';

/** As `eth_accounts`; after a revocation, grants all accounts again. @source EIP-1102 */
export const eth_requestAccounts = defineMethod<[], readonly Hex[]>(
  'eth_requestAccounts',
  NEEDS_KEYS,
  (_, __, call) => {
    if (permittedAccounts(call).length === 0) restrictAccounts(call, undefined);
    return permittedAccounts(call);
  },
);

/** @source EIP-2255 */
export const wallet_getPermissions = defineMethod<[], readonly PermissionJson[]>(
  'wallet_getPermissions',
  NEEDS_KEYS,
  (_, __, call) => permissionsOf(call),
);

/** Grants all dev accounts, or those of the caveat `restrictReturnedAccounts`, without asking the user. @source EIP-2255 */
export const wallet_requestPermissions = defineMethod<[permissions: PermissionRequestJson], readonly PermissionJson[]>(
  'wallet_requestPermissions',
  NEEDS_KEYS,
  (_, [param], call) => {
    const caveats = requireObject(requestOf(param).eth_accounts, 'permissions.eth_accounts', 'params');
    for (const name of Object.keys(caveats)) {
      if (name !== RESTRICTION)
        throw walletRefused('unsupported', `the caveat ${name} does not exist; use ${RESTRICTION}`);
    }
    restrictAccounts(call, RESTRICTION in caveats ? chosenFrom(caveats[RESTRICTION]) : undefined);
    return permissionsOf(call);
  },
);

/** Ends the permission of this session until it asks for it again. @source MetaMask/metamask-improvement-proposals MIP-2 */
export const wallet_revokePermissions = defineMethod<[permissions: { readonly eth_accounts: object }], null>(
  'wallet_revokePermissions',
  NEEDS_KEYS,
  (_, [param], call) => {
    requestOf(param);
    restrictAccounts(call, []);
    return null;
  },
);

function permissionsOf(user: AccountUser) {
  const value = permittedAccounts(user);
  if (value.length === 0) return [];
  // Where there is no page, the origin is opaque.
  const invoker = globalThis.location?.origin ?? 'null';
  return [{ invoker, parentCapability: 'eth_accounts', caveats: [{ type: RESTRICTION, value }] }];
}

/** The one permission there is, with its caveats. */
function requestOf(param: unknown): Readonly<Record<string, unknown>> {
  const request = requireObject(param, 'permissions', 'params');
  for (const name of ['eth_accounts', ...Object.keys(request)]) {
    if (name !== 'eth_accounts')
      throw walletRefused('unsupported', `there is no permission ${name}, only eth_accounts`);
    requireObject(request[name], `permissions.${name}`, 'params');
  }
  return request;
}

/** Dev accounts, each once. */
function chosenFrom(value: unknown): readonly Hex[] {
  const path = `permissions.eth_accounts.${RESTRICTION}`;
  const chosen = requireArray(value, path, 'params').map((one, i) => {
    const address = parseAddress(one, `${path}[${i}]`, 'params');
    requirePermitted(address, {});
    return bytesToHex(address);
  });
  return [...new Set(chosen)];
}
