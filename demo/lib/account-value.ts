import type { Hex } from 'plumbline-l2';

/** The words of an account in an answer of `linea_getProof`: nonce, balance, storage root, and three of its code. */
const [BALANCE, STORAGE_ROOT] = [1, 2];

function wordOf(account: string, index: number): Hex {
  return `0x${account.slice(2 + 64 * index, 2 + 64 * (index + 1))}`;
}

export const balanceIn = (account: string): bigint => BigInt(wordOf(account, BALANCE));

export const storageRootIn = (account: string): Hex => wordOf(account, STORAGE_ROOT);

/** The account with another balance. */
export function withBalance(account: string, balance: bigint): Hex {
  const before = account.slice(2, 2 + 64 * BALANCE);
  return `0x${before}${balance.toString(16).padStart(64, '0')}${account.slice(2 + 64 * (BALANCE + 1))}`;
}
