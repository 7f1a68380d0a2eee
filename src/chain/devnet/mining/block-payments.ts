import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import type { Withdrawal } from '../../../ethereum/withdrawal.js';
import type { BlockContext } from '../../../evm/block-context.js';
import type { Rules } from '../../../evm/common.js';
import type { StateOverlay } from '../../../evm/state/state-overlay.js';

const ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;
/**
 * An uncle's miner gets one eighth less for each block of distance. The including miner gets 1/32 of the reward for
 * each uncle.
 */
const UNCLE_DEPTH = 8n;
const INCLUSION_QUOTIENT = 32n;

/** Pays the withdrawals of a block (EIP-4895). */
export async function payWithdrawals(state: StateOverlay, withdrawals: readonly Withdrawal[]): Promise<void> {
  for (const { address, amount } of withdrawals) if (amount > 0n) await credit(state, address, amount * GWEI);
}

/** Wei that a block pays its miner before Paris. @source EIP-649, EIP-1234 */
export function blockReward(rules: Pick<Rules, 'byzantium' | 'constantinople'>): bigint {
  if (rules.constantinople) return 2n * ETHER;
  return rules.byzantium ? 3n * ETHER : 5n * ETHER;
}

/** Pays the miners of a block and of its uncles (yellow paper 11.3). */
export async function payRewards(
  state: StateOverlay,
  rules: Rules,
  { number, coinbase }: BlockContext,
  uncles: readonly BlockHeader[],
): Promise<void> {
  const reward = blockReward(rules);
  for (const uncle of uncles) {
    await credit(state, uncle.miner, (reward * (UNCLE_DEPTH + BigInt(uncle.number - number))) / UNCLE_DEPTH);
  }
  await credit(state, coinbase, reward + BigInt(uncles.length) * (reward / INCLUSION_QUOTIENT));
}

async function credit(state: StateOverlay, address: Uint8Array, wei: bigint): Promise<void> {
  const account = (await state.account(address)) ?? { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH };
  state.setAccount(address, { ...account, balance: account.balance + wei });
}
