import { parseAddress, parseBoolean } from '../parsing/parse-params.js';
import { devnetMethods } from './devnet-method.js';

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
