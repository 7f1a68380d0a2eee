import type { StepAccess } from '../../ethereum/block-access-list.js';
import type { EvmChange, EvmKernel } from '../../kernel/evm.js';
import { bytesToKey, equalBytes } from '../../primitives/bytes.js';
import { NO_ACCOUNT, type StateReader } from '../state/state-reader.js';

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
