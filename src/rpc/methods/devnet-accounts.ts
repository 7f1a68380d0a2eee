import { parseAddress, parseBoolean, parseBytes, parseStorageKey } from '../parsing/parse-params.js';
import { devnetMethods, parseAmount } from './devnet-method.js';

/** Edits of the state. The newest state shows an edit at once; the next block contains it. */
export const ACCOUNT_METHODS = {
  ...devnetMethods(
    ['anvil_setBalance', 'hardhat_setBalance', 'evm_setAccountBalance', 'tenderly_setBalance', 'anvil_deal'],
    async (devnet, [address, balance]) => {
      await devnet.edit({ kind: 'balance', address: parseAddress(address), balance: parseAmount(balance, 'balance') });
      return true;
    },
  ),

  ...devnetMethods(
    ['anvil_addBalance', 'hardhat_addBalance', 'tenderly_addBalance'],
    async (devnet, [address, amount]) => {
      await devnet.addBalance(parseAddress(address), parseAmount(amount, 'amount'));
      return null;
    },
  ),

  ...devnetMethods(['anvil_setNonce', 'hardhat_setNonce', 'evm_setAccountNonce'], async (devnet, [address, nonce]) => {
    await devnet.edit({ kind: 'nonce', address: parseAddress(address), nonce: parseAmount(nonce, 'nonce', 63) });
    return true;
  }),

  ...devnetMethods(['anvil_setCode', 'hardhat_setCode', 'evm_setAccountCode'], async (devnet, [address, code]) => {
    await devnet.edit({ kind: 'code', address: parseAddress(address), code: parseBytes(code, 'code') });
    return true;
  }),

  ...devnetMethods(
    ['anvil_setStorageAt', 'hardhat_setStorageAt', 'evm_setAccountStorageAt'],
    async (devnet, [address, position, value]) => {
      const key = parseStorageKey(position);
      await devnet.edit({ kind: 'slot', address: parseAddress(address), key, value: parseStorageKey(value, 'value') });
      return true;
    },
  ),
};

export const IMPERSONATION_METHODS = {
  ...devnetMethods(['anvil_impersonateAccount', 'hardhat_impersonateAccount'], ({ impersonation }, [address]) => {
    impersonation.start(parseAddress(address));
    return true;
  }),

  ...devnetMethods(
    ['anvil_stopImpersonatingAccount', 'hardhat_stopImpersonatingAccount'],
    ({ impersonation }, [address]) => {
      impersonation.stop(parseAddress(address));
      return true;
    },
  ),

  ...devnetMethods(
    ['anvil_autoImpersonateAccount', 'hardhat_autoImpersonateAccount'],
    ({ impersonation }, [enabled]) => {
      impersonation.everyone = parseBoolean(enabled, 'enabled');
      return null;
    },
  ),
};
