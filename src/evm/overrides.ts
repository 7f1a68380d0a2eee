import { invalidParameter } from '../errors.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import { keccak256 } from '../kernel/keccak.js';
import { ZERO_WORD } from '../primitives/bytes.js';
import type { AccountOverride, StateOverrides } from '../primitives/call-request.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import type { MachineOptions } from './machine.js';
import type { Account, StateReader } from './state-reader.js';

/**
 * The state `base` with overrides applied.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for an account with both storage forms, as geth
 * @source docs/spec/fees.md 5.6
 */
export function withOverrides(base: StateReader, overrides: StateOverrides): StateReader {
  return overrides.length === 0 ? base : new OverriddenState(base, overrides);
}

/**
 * Effects of overrides on precompiles: some are moved, and geth treats every overridden account as an ordinary one.
 *
 * @throws PlumblineError `INVALID_PARAMETER` with `asGeth`, when a precompile is moved to an overridden account
 * @source docs/spec/fees.md 5.6
 */
export function precompileOverrides(overrides: StateOverrides, asGeth = false): MachineOptions {
  const moved = overrides.flatMap(({ address, movePrecompileTo: to }) =>
    to === undefined ? [] : [{ from: address, to }],
  );
  if (!asGeth) return { moved };
  const overridden = new Set(overrides.map(({ address }) => bytesToHex(address)));
  for (const { to } of moved) {
    if (!overridden.has(bytesToHex(to))) continue;
    throw invalidParameter('movePrecompileToAddress', `account ${bytesToHex(to)} is already overridden`);
  }
  return { moved, removed: overrides.map(({ address }) => address) };
}

class OverriddenState implements StateReader {
  private readonly entries = new Map<Hex, AccountOverride & { readonly slots: ReadonlyMap<Hex, Uint8Array> }>();
  private readonly codes = new Map<Hex, Uint8Array>();

  constructor(
    private readonly base: StateReader,
    overrides: StateOverrides,
  ) {
    for (const override of overrides) {
      const address = bytesToHex(override.address);
      if (override.state !== undefined && override.stateDiff !== undefined) {
        throw invalidParameter('stateOverride', `account ${address} has both 'state' and 'stateDiff'`);
      }
      const slots = new Map<Hex, Uint8Array>();
      for (const [key, value] of override.state ?? []) slots.set(bytesToHex(key), value);
      for (const [key, value] of override.stateDiff ?? []) slots.set(bytesToHex(key), value);
      this.entries.set(address, { ...override, slots });
      if (override.code !== undefined) this.codes.set(bytesToHex(keccak256(override.code)), override.code);
    }
  }

  async account(address: Uint8Array): Promise<Account | undefined> {
    const account = await this.base.account(address);
    const override = this.entries.get(bytesToHex(address));
    if (override === undefined) return account;
    return {
      nonce: override.nonce ?? account?.nonce ?? 0n,
      balance: override.balance ?? account?.balance ?? 0n,
      codeHash: override.code !== undefined ? keccak256(override.code) : (account?.codeHash ?? EMPTY_CODE_HASH),
    };
  }

  async slot(address: Uint8Array, slot: Uint8Array): Promise<Uint8Array> {
    const override = this.entries.get(bytesToHex(address));
    const value = override?.slots.get(bytesToHex(slot));
    if (value !== undefined) return value;
    return override?.state !== undefined ? ZERO_WORD : this.base.slot(address, slot);
  }

  async code(codeHash: Uint8Array): Promise<Uint8Array> {
    return this.codes.get(bytesToHex(codeHash)) ?? this.base.code(codeHash);
  }
}
