import type { Hex } from '../../primitives/hex.js';
import { CHANGES_DEVNET } from '../method-rows.js';
import { parseAddress, parseBoolean, parseBytes, parseStorageKey } from '../parse-params.js';
import type { Amount } from '../schema/json.js';
import { devnetMethods, parseAmount } from './devnet-method.js';

/** Edits of the state. The newest state shows an edit at once; the next block contains it. */
export const ACCOUNT_METHODS = [
  ...devnetMethods<[address: Hex, value: Amount], true>(
    ['anvil_setBalance', 'hardhat_setBalance', 'evm_setAccountBalance', 'tenderly_setBalance', 'anvil_deal'],
    CHANGES_DEVNET,
    async (devnet, [address, balance]) => {
      await devnet.edit({ kind: 'balance', address: parseAddress(address), balance: parseAmount(balance, 'balance') });
      return true;
    },
  ),

  ...devnetMethods<[address: Hex, amount: Amount], null>(
    ['anvil_addBalance', 'hardhat_addBalance', 'tenderly_addBalance'],
    CHANGES_DEVNET,
    async (devnet, [address, amount]) => {
      await devnet.addBalance(parseAddress(address), parseAmount(amount, 'amount'));
      return null;
    },
  ),

  ...devnetMethods<[address: Hex, value: Amount], true>(
    ['anvil_setNonce', 'hardhat_setNonce', 'evm_setAccountNonce'],
    CHANGES_DEVNET,
    async (devnet, [address, nonce]) => {
      await devnet.edit({ kind: 'nonce', address: parseAddress(address), nonce: parseAmount(nonce, 'nonce', 63) });
      return true;
    },
  ),

  ...devnetMethods<[address: Hex, code: Hex], true>(
    ['anvil_setCode', 'hardhat_setCode', 'evm_setAccountCode'],
    CHANGES_DEVNET,
    async (devnet, [address, code]) => {
      await devnet.edit({ kind: 'code', address: parseAddress(address), code: parseBytes(code, 'code') });
      return true;
    },
  ),

  ...devnetMethods<[address: Hex, position: Hex, value: Hex], true>(
    ['anvil_setStorageAt', 'hardhat_setStorageAt', 'evm_setAccountStorageAt'],
    CHANGES_DEVNET,
    async (devnet, [address, position, value]) => {
      const key = parseStorageKey(position);
      await devnet.edit({ kind: 'slot', address: parseAddress(address), key, value: parseStorageKey(value, 'value') });
      return true;
    },
  ),
];

export const IMPERSONATION_METHODS = [
  ...devnetMethods<[address: Hex], true>(
    ['anvil_impersonateAccount', 'hardhat_impersonateAccount'],
    CHANGES_DEVNET,
    ({ impersonation }, [address]) => {
      impersonation.start(parseAddress(address));
      return true;
    },
  ),

  ...devnetMethods<[address: Hex], true>(
    ['anvil_stopImpersonatingAccount', 'hardhat_stopImpersonatingAccount'],
    CHANGES_DEVNET,
    ({ impersonation }, [address]) => {
      impersonation.stop(parseAddress(address));
      return true;
    },
  ),

  ...devnetMethods<[enabled: boolean], null>(
    ['anvil_autoImpersonateAccount', 'hardhat_autoImpersonateAccount'],
    CHANGES_DEVNET,
    ({ impersonation }, [enabled]) => {
      impersonation.everyone = parseBoolean(enabled, 'enabled');
      return null;
    },
  ),
];
