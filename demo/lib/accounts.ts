import { DEV_ACCOUNTS, TEST_TOKEN } from 'plumbline-l2';
import { shortHex } from './format.js';

/** Symbol of the devnet's test token, which has 18 decimals. */
export const TOKEN_SYMBOL = 'PLUMB';

/** What an account of the devnet is called; undefined for others. */
export function devName(address: string): string | undefined {
  const of = address.toLowerCase();
  if (of === TEST_TOKEN) return `the ${TOKEN_SYMBOL} token`;
  const index = DEV_ACCOUNTS.findIndex((one) => one.address.toLowerCase() === of);
  return index < 0 ? undefined : `dev account ${index}`;
}

/** The name of an account, or the ends of its address. */
export function accountName(address: string): string {
  return devName(address) ?? shortHex(address);
}

/** With a capital letter, for the beginning of a sentence. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
