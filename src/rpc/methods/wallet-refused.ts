import { PlumblineError, type WalletRule } from '../../errors.js';

/** @param reason - what is wrong, and what to do */
export function walletRefused(rule: WalletRule, reason: string): PlumblineError<'WALLET_REFUSED'> {
  return new PlumblineError('WALLET_REFUSED', reason, { rule, reason });
}
