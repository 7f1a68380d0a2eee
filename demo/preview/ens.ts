import { signal } from '@preact/signals';
import type { AddressLookup, Hex, PreviewedCall } from 'plumbline-l2';

/** Names of ENS that resolve to their addresses, of the accounts of what is shown; empty until they are found. */
export const ensNames = signal<ReadonlyMap<Hex, string>>(new Map());

/** How many addresses of what is shown have been asked for. */
export const namesAsked = signal(0);

/** Most addresses of a preview that are looked up. */
const MAX_LOOKUPS = 24;
/** Longer names would push the address away. */
const MAX_LENGTH = 64;

/** What a preview of calls or of a signature says of accounts. */
export interface Said {
  readonly users?: readonly Hex[];
  readonly calls?: readonly PreviewedCall[];
  readonly balances?: unknown;
  readonly warnings?: unknown;
}

/** The addresses of a preview, those of transfers and approvals first. */
export function addressesIn({ users = [], calls = [], ...rest }: Said): Hex[] {
  const shown = calls.map(({ transfers, approvals, contracts, tree }) => [tree.to, transfers, approvals, contracts]);
  const found = JSON.stringify([users, shown, rest]).match(/(?<=")0x[0-9a-f]{40}(?=")/g) ?? [];
  return [...new Set(found as Hex[])].filter((address) => BigInt(address) !== 0n).slice(0, MAX_LOOKUPS);
}

/**
 * Looks up names one after the other and shows each as it is found. A lookup that fails, or whose forward check does not agree, leaves the
 * address without a name.
 */
export async function findNames(
  addresses: readonly Hex[],
  lookUp: (address: Hex) => Promise<AddressLookup>,
  abort: AbortSignal,
): Promise<void> {
  for (const address of addresses) {
    if (abort.aborted) return;
    namesAsked.value++;
    const found = await lookUp(address).catch(() => undefined);
    if (abort.aborted) return;
    if (found?.status === 'found' && found.address === address && found.name.length <= MAX_LENGTH)
      ensNames.value = new Map([...ensNames.value, [address, found.name]]);
  }
}
