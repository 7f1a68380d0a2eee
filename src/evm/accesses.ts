import type { BlockAccesses, StepAccess } from '../ethereum/block-access-list.js';
import type { EvmChange, EvmKernel } from '../kernel/evm.js';
import { bytesToKey, equalBytes } from '../primitives/bytes.js';
import { type Account, NO_ACCOUNT, type StateReader } from './state-reader.js';

/**
 * What a finished transaction accessed, for the block access list.
 *
 * @param state - as it was before the transaction
 * @source EIP-7928; docs/spec/amsterdam.md 11
 */
export async function accessesOf(kernel: EvmKernel, state: StateReader): Promise<StepAccess[]> {
  const changes = new Map(kernel.changes().map((change) => [bytesToKey(change.address), change]));
  return Promise.all(
    kernel.loads().map(async ({ address, slots }) => {
      const change = changes.get(bytesToKey(address));
      return { address, slots, ...(change !== undefined && (await changedValues(change, state))) };
    }),
  );
}

async function changedValues(change: EvmChange, state: StateReader) {
  const before = (await state.account(change.address)) ?? NO_ACCOUNT;
  const after = change.account ?? NO_ACCOUNT;
  return {
    ...(after.balance !== before.balance && { balance: after.balance }),
    ...(after.nonce !== before.nonce && { nonce: after.nonce }),
    ...(!equalBytes(after.codeHash, before.codeHash) && { code: change.code ?? new Uint8Array(0) }),
  };
}

/** An account that a step of several parts loaded, as it was before the step. */
interface Touched {
  readonly address: Uint8Array;
  readonly before: Account;
  /** By key. */
  readonly slots: Map<string, { readonly key: Uint8Array; readonly before: Uint8Array }>;
}

/** A step of a block that has several parts: what comes before the transactions, or after the last. */
export class BlockStep {
  private readonly touched = new Map<string, Touched>();

  /** @param state - of the block, as it is now */
  constructor(private readonly state: StateReader) {}

  /** Notes an account before a part of the step changes it. @param slots - with their values at the moment */
  async touch(address: Uint8Array, slots: readonly { key: Uint8Array; before: Uint8Array }[] = []): Promise<void> {
    const name = bytesToKey(address);
    let account = this.touched.get(name);
    if (account === undefined) {
      account = { address, before: (await this.state.account(address)) ?? NO_ACCOUNT, slots: new Map() };
      this.touched.set(name, account);
    }
    for (const slot of slots)
      if (!account.slots.has(bytesToKey(slot.key))) account.slots.set(bytesToKey(slot.key), slot);
  }

  /** Adds the step, after its last part. */
  async end(accesses: BlockAccesses, index: number): Promise<void> {
    const found: StepAccess[] = [];
    for (const { address, before, slots } of this.touched.values()) {
      const after = (await this.state.account(address)) ?? NO_ACCOUNT;
      const read: StepAccess['slots'][number][] = [];
      for (const slot of slots.values()) read.push({ ...slot, after: await this.state.slot(address, slot.key) });
      found.push({
        address,
        slots: read,
        ...(after.balance !== before.balance && { balance: after.balance }),
        ...(after.nonce !== before.nonce && { nonce: after.nonce }),
        ...(!equalBytes(after.codeHash, before.codeHash) && { code: await this.state.code(after.codeHash) }),
      });
    }
    accesses.add(index, found);
  }
}
