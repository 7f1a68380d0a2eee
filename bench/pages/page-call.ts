import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';

/** What both pages estimate: a transfer of the devnet's token to an account that has none. */
export const PAGE_CALL: { readonly from: Hex; readonly to: Hex; readonly data: Hex } = {
  from: DEV_ACCOUNTS[0]!.address,
  to: TEST_TOKEN,
  data: `0xa9059cbb${'00'.repeat(12)}${'b0'.repeat(20)}${(10n ** 18n).toString(16).padStart(64, '0')}`,
};

/** What a page leaves behind when it has its estimate. */
export interface PageResult {
  readonly gasLimit: Hex;
  /** Since navigation start. */
  readonly ms: number;
}

export function leaveResult(gasLimit: Hex): void {
  Object.assign(globalThis, { result: { gasLimit, ms: performance.now() } satisfies PageResult });
}

/** What a page leaves behind when it has its balance. */
export interface BalanceResult {
  readonly balance: Hex;
  /** Level of the answer; undefined for one that was not verified. */
  readonly level: string | undefined;
  /** Since navigation start. */
  readonly ms: number;
}

export function leaveBalance(result: Omit<BalanceResult, 'ms'>): void {
  Object.assign(globalThis, { result: { ...result, ms: performance.now() } satisfies BalanceResult });
}
