import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Alloc } from '../../../conformance/alloc-state.js';
import type { AccountChange } from '../../../src/evm/state-overlay.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../src/primitives/hex.js';

/** What one transaction came to, in a form that is the same for all engines. */
export type Outcome =
  | { readonly refused: true }
  | {
      readonly ended: 'success' | 'revert' | 'halt';
      readonly gasUsed: bigint;
      /** Empty after a halt. */
      readonly returnData: Hex;
      readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
      /** Accounts that differ from the state before; `gone` without nonce, balance and code. */
      readonly state: Readonly<Record<Hex, AccountState | 'gone'>>;
    };

export interface AccountState {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** keccak256; undefined where an engine does not say. */
  readonly codeHash: Hex | undefined;
  /** That differ. */
  readonly slots: Readonly<Record<Hex, Hex>>;
}

const NO_WORD: Hex = `0x${'00'.repeat(32)}`;

const hashes = new Map<Hex, Hex>();

export function codeHashOf(code: Hex): Hex {
  let hash = hashes.get(code);
  if (hash === undefined) {
    hash = bytesToHex(keccak_256(hexToBytes(code)));
    hashes.set(code, hash);
  }
  return hash;
}

/** What an account has in an alloc. */
export function accountIn(alloc: Alloc, address: Hex): AccountState {
  const entry = alloc[address];
  const slots = (entry?.storage ?? {}) as Record<Hex, Hex>;
  const codeHash = codeHashOf(entry?.code ?? '0x');
  return { nonce: BigInt(entry?.nonce ?? 0), balance: BigInt(entry?.balance ?? 0), codeHash, slots };
}

/** The part of the accounts that differs from an alloc, in order of addresses and slots. */
export function differencesFrom(alloc: Alloc, after: ReadonlyMap<Hex, AccountState | 'gone'>) {
  const differences: Record<Hex, AccountState | 'gone'> = {};
  for (const [address, account] of [...after].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const before = accountIn(alloc, address);
    const wasEmpty = isEmpty(before);
    if (account === 'gone' || isEmpty(account)) {
      if (!wasEmpty) differences[address] = 'gone';
      continue;
    }
    const slots = Object.entries(account.slots)
      .filter(([slot, value]) => (before.slots[slot as Hex] ?? NO_WORD) !== value)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const same =
      before.nonce === account.nonce && before.balance === account.balance && before.codeHash === account.codeHash;
    if (!same || slots.length > 0) differences[address] = { ...account, slots: Object.fromEntries(slots) };
  }
  return differences;
}

function isEmpty({ nonce, balance, codeHash }: AccountState): boolean {
  return nonce === 0n && balance === 0n && codeHash === codeHashOf('0x');
}

/**
 * How a run ended. A revert without data that used up its gas counts as a halt: engines call a failure of a precompile, as
 * the recipient of a transaction, by either name.
 */
export function endOf(succeeded: boolean, reverted: boolean, returnData: Hex, gasLeft: bigint) {
  if (succeeded) return 'success';
  return reverted && (returnData !== '0x' || gasLeft > 0n) ? 'revert' : 'halt';
}

/** Changes of a `StateOverlay` in this form. */
export function stateOfChanges(alloc: Alloc, changes: readonly AccountChange[]) {
  const after = new Map<Hex, AccountState | 'gone'>();
  for (const { address, after: account, slots } of changes) {
    const state =
      account === undefined
        ? 'gone'
        : {
            nonce: account.nonce,
            balance: account.balance,
            codeHash: bytesToHex(account.codeHash),
            slots: Object.fromEntries(slots.map(({ key, after }) => [bytesToHex(key), bytesToHex(after)])),
          };
    after.set(bytesToHex(address), state);
  }
  return differencesFrom(alloc, after);
}

/** The same without what the other does not say. */
export function asFarAs(other: Outcome, outcome: Outcome): Outcome {
  if ('refused' in other || 'refused' in outcome) return outcome;
  const state = Object.entries(outcome.state).map(([address, account]) => {
    const theirs = other.state[address as Hex];
    const unknown = typeof theirs === 'object' && theirs.codeHash === undefined;
    return [address, unknown && account !== 'gone' ? { ...account, codeHash: undefined } : account];
  });
  return { ...outcome, state: Object.fromEntries(state) };
}

/** As text that shows every difference. */
export function show(outcome: unknown): string {
  return JSON.stringify(outcome, (_, member: unknown) => (typeof member === 'bigint' ? `${member}` : member), 1);
}
