import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import { hashPersonalMessage, hashTypedData } from '../../ethereum/typed-data.js';
import { bigIntToBytes, concatBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import type { MethodCallOptions } from '../method.js';
import { NEEDS_KEYS } from '../method-rows.js';
import { parseAddress, parseBytes, requireArray, requireObject } from '../parse-params.js';
import { invalidParams, walletRefused } from '../rpc-errors.js';
import type { PermissionJson, PermissionRequestJson, SentCallJson, TypedDataJson } from '../schema/json.js';
import { defineMethod } from './context.js';
import { requireDevnet } from './devnet-method.js';
import { readSentTransaction } from './eth_sendTransaction.js';
import { type AccountUser, permittedAccounts, requirePermitted, restrictAccounts } from './permitted-accounts.js';

/** Signs a message with the prefix of EIP-191, version 0x45. */
export const personal_sign = defineMethod<[message: Hex, address: Hex], Hex>(
  'personal_sign',
  NEEDS_KEYS,
  (context, [message, address], call) => signMessage(requireDevnet(context, 'personal_sign'), message, address, call),
);

/** As `personal_sign`, the address first. */
export const eth_sign = defineMethod<[address: Hex, message: Hex], Hex>(
  'eth_sign',
  NEEDS_KEYS,
  (context, [address, message], call) => signMessage(requireDevnet(context, 'eth_sign'), message, address, call),
);

/** The data is an object, or its JSON. @source EIP-712, "Specification of the eth_signTypedData JSON RPC" */
export const eth_signTypedData_v4 = defineMethod<[address: Hex, data: TypedDataJson | string], Hex>(
  'eth_signTypedData_v4',
  NEEDS_KEYS,
  (context, [address, data], call) => {
    const hash = hashTypedData(requireObject(fromJson(data), 'typedData', 'params'));
    return signed(requireDevnet(context, 'eth_signTypedData_v4'), address, hash, call);
  },
);

/** Fills in what `eth_sendTransaction` does. @returns the bytes that `eth_sendRawTransaction` takes */
export const eth_signTransaction = defineMethod<[transaction: SentCallJson], Hex>(
  'eth_signTransaction',
  NEEDS_KEYS,
  async (context, [param], call) => {
    const devnet = requireDevnet(context, 'eth_signTransaction');
    return bytesToHex(
      await devnet.sign(
        await readSentTransaction(context, param, call, (from) => requirePermitted(devnet, from, call)),
      ),
    );
  },
);

function signMessage(devnet: DevnetControl, message: unknown, address: unknown, call: MethodCallOptions): Promise<Hex> {
  return signed(devnet, address, hashPersonalMessage(parseBytes(message, 'message')), call);
}

/** @returns r, s and v (27 or 28), 65 bytes */
async function signed(
  devnet: DevnetControl,
  address: unknown,
  hash: Uint8Array,
  call: MethodCallOptions,
): Promise<Hex> {
  const signer = parseAddress(address);
  requirePermitted(devnet, signer, call);
  const { r, s, yParity } = await devnet.impersonation.sign(signer, hash);
  return bytesToHex(concatBytes(bigIntToBytes(r, 32), bigIntToBytes(s, 32), Uint8Array.of(27 + yParity)));
}

function fromJson(data: unknown): unknown {
  if (typeof data !== 'string') return data;
  try {
    // The encoding limits the depth.
    return JSON.parse(data);
  } catch {
    throw invalidParams('typedData', 'is not JSON');
  }
}

const RESTRICTION = 'restrictReturnedAccounts';

/** As `eth_accounts`; after a revocation, grants all accounts again. @source EIP-1102 */
export const eth_requestAccounts = defineMethod<[], readonly Hex[]>(
  'eth_requestAccounts',
  NEEDS_KEYS,
  (context, _, call) => {
    const devnet = requireDevnet(context, 'eth_requestAccounts');
    if (permittedAccounts(devnet, call).length === 0) restrictAccounts(call, undefined);
    return permittedAccounts(devnet, call);
  },
);

/** @source EIP-2255 */
export const wallet_getPermissions = defineMethod<[], readonly PermissionJson[]>(
  'wallet_getPermissions',
  NEEDS_KEYS,
  (context, _, call) => permissionsOf(requireDevnet(context, 'wallet_getPermissions'), call),
);

/** Grants all dev accounts, or those of the caveat `restrictReturnedAccounts`, without asking the user. @source EIP-2255 */
export const wallet_requestPermissions = defineMethod<[permissions: PermissionRequestJson], readonly PermissionJson[]>(
  'wallet_requestPermissions',
  NEEDS_KEYS,
  (context, [param], call) => {
    const devnet = requireDevnet(context, 'wallet_requestPermissions');
    const caveats = requireObject(requestOf(param).eth_accounts, 'permissions.eth_accounts', 'params');
    for (const name of Object.keys(caveats)) {
      if (name !== RESTRICTION)
        throw walletRefused('unsupported', `the caveat ${name} does not exist; use ${RESTRICTION}`);
    }
    restrictAccounts(call, RESTRICTION in caveats ? chosenFrom(devnet, caveats[RESTRICTION]) : undefined);
    return permissionsOf(devnet, call);
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

function permissionsOf(devnet: DevnetControl, user: AccountUser) {
  const value = permittedAccounts(devnet, user);
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
function chosenFrom(devnet: DevnetControl, value: unknown): readonly Hex[] {
  const path = `permissions.eth_accounts.${RESTRICTION}`;
  const chosen = requireArray(value, path, 'params').map((one, i) => {
    const address = parseAddress(one, `${path}[${i}]`, 'params');
    requirePermitted(devnet, address, {});
    return bytesToHex(address);
  });
  return [...new Set(chosen)];
}
