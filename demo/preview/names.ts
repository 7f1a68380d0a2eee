import type { Asset, Hex, TransactionPreview } from 'plumbline-l2';
import { accountName, capital } from '../lib/accounts.js';
import { formatUnits, groups, shortHex } from '../lib/format.js';
import { KNOWN_NAMES } from './examples.js';

export const ZERO: Hex = `0x${'0'.repeat(40)}`;
/** Digits of a whole number above which it is given as a power of ten. */
const LONG = 15;
const PRINTABLE = /^[\x20-\x7e]{1,16}$/;

/** How a preview calls accounts, assets and amounts. */
export interface Names {
  readonly you: Hex | undefined;
  account(address: Hex): string;
  /** As the beginning of a sentence. */
  Account(address: Hex): string;
  /** Whether the preview has symbol and decimals of it. */
  isToken(address: Hex): boolean;
  asset(asset: Asset): string;
  /** An amount with its unit; a sum with a sign if it has one. */
  amount(asset: Asset, value: bigint): string;
}

/** @param ens - names that resolve to the addresses */
export function namesOf(
  { tokens, users, calls }: Pick<TransactionPreview, 'tokens' | 'users' | 'calls'>,
  ens: ReadonlyMap<Hex, string> = new Map(),
): Names {
  const you = calls[0]?.tree.from ?? users[0];
  const account = (address: Hex) => {
    if (address === you) return 'you';
    if (address === ZERO) return 'the zero address';
    const name = ens.get(address);
    // The address stays in sight: letters of a name may look like others. The name cannot turn the text around it.
    if (name !== undefined) return `\u2068${name}\u2069 (${shortHex(address)})`;
    return KNOWN_NAMES[address] ?? accountName(address);
  };
  const symbolOf = (address: Hex) => {
    const symbol = tokens[address]?.symbol ?? null;
    if (symbol === null || symbol === '') return `token ${shortHex(address)}`;
    // Such as letters that look like others, or that turn the text around.
    return PRINTABLE.test(symbol) ? symbol : `token ${shortHex(address)} with an unusual name`;
  };
  const asset = (one: Asset) => {
    if (one.kind === 'native') return 'ETH';
    return 'id' in one ? `${symbolOf(one.address)} #${short(BigInt(one.id))}` : symbolOf(one.address);
  };
  return {
    you,
    account,
    Account: (address) => (ens.has(address) ? account(address) : capital(account(address))),
    isToken: (address) => address in tokens,
    asset,
    amount(one, value) {
      if (one.kind === 'erc721') return asset(one);
      return `${units(value, decimalsOf(one))} ${asset(one)}`;
    },
  };

  function decimalsOf(one: Asset): number {
    if (one.kind === 'native') return 18;
    return one.kind === 'erc20' ? (tokens[one.address]?.decimals ?? 0) : 0;
  }
}

function units(value: bigint, decimals: number): string {
  const whole = (value < 0n ? -value : value) / 10n ** BigInt(decimals);
  return whole >= 10n ** BigInt(LONG) ? short(value / 10n ** BigInt(decimals)) : formatUnits(value, decimals);
}

/** Ether with three digits that count, for fees. */
export function roughEther(wei: bigint): string {
  const step = 10n ** BigInt(Math.max(0, String(wei).length - 3));
  return `${formatUnits(((wei + step / 2n) / step) * step, 18)} ETH`;
}

/** A whole number, long ones as a power of ten. */
export function short(value: bigint): string {
  const digits = String(value < 0n ? -value : value);
  if (digits.length <= LONG) return groups(value);
  const mantissa = `${digits[0]}.${digits.slice(1, 3)}`.replace(/\.?0+$/, '');
  return `${value < 0n ? '−' : ''}${mantissa} × 10^${digits.length - 1}`;
}
