import { parseAddress, parseBoolean, parseBytes, parseStorageKey } from '../parsing/parse-params.js';
import { developerMethods, parseAmount } from './developer.js';

/*
 * Edits of the state and impersonation. An edit is read at once by whoever asks for the newest state, and is part of the
 * next block.
 */

const setBalance = developerMethods(
  ['anvil_setBalance', 'hardhat_setBalance', 'evm_setAccountBalance'],
  async (devnet, [address, balance]) => {
    await devnet.edit({ kind: 'balance', address: parseAddress(address), balance: parseAmount(balance, 'balance') });
    return true;
  },
);

const setNonce = developerMethods(
  ['anvil_setNonce', 'hardhat_setNonce', 'evm_setAccountNonce'],
  async (devnet, [address, nonce]) => {
    await devnet.edit({ kind: 'nonce', address: parseAddress(address), nonce: parseAmount(nonce, 'nonce', 63) });
    return true;
  },
);

const setCode = developerMethods(
  ['anvil_setCode', 'hardhat_setCode', 'evm_setAccountCode'],
  async (devnet, [address, code]) => {
    await devnet.edit({ kind: 'code', address: parseAddress(address), code: parseBytes(code, 'code') });
    return true;
  },
);

const setStorageAt = developerMethods(
  ['anvil_setStorageAt', 'hardhat_setStorageAt', 'evm_setAccountStorageAt'],
  async (devnet, [address, position, value]) => {
    const key = parseStorageKey(position);
    await devnet.edit({ kind: 'slot', address: parseAddress(address), key, value: parseStorageKey(value, 'value') });
    return true;
  },
);

const impersonateAccount = developerMethods(
  ['anvil_impersonateAccount', 'hardhat_impersonateAccount'],
  ({ impersonation }, [address]) => {
    impersonation.start(parseAddress(address));
    return true;
  },
);

const stopImpersonatingAccount = developerMethods(
  ['anvil_stopImpersonatingAccount', 'hardhat_stopImpersonatingAccount'],
  ({ impersonation }, [address]) => {
    impersonation.stop(parseAddress(address));
    return true;
  },
);

const autoImpersonateAccount = developerMethods(['anvil_autoImpersonateAccount'], ({ impersonation }, [enabled]) => {
  impersonation.everyone = parseBoolean(enabled, 'enabled');
  return null;
});

export const STATE_METHODS = [
  ...setBalance,
  ...setNonce,
  ...setCode,
  ...setStorageAt,
  ...impersonateAccount,
  ...stopImpersonatingAccount,
  ...autoImpersonateAccount,
];
