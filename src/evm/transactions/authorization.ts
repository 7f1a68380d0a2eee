import { EMPTY_CODE_HASH, MAX_NONCE } from '../../ethereum/constants.js';
import type { EvmKernel } from '../../kernel/evm.js';
import { keccak256 } from '../../kernel/keccak.js';
import { equalBytes, isZeroBytes } from '../../primitives/bytes.js';
import type { Authorization } from '../../primitives/call-request.js';
import { delegationTo, isDelegation } from '../interpreter/delegation.js';
import { handInCertain } from '../interpreter/handing-in.js';
import type { Machine } from '../interpreter/machine.js';
import { authorityOf } from './authority.js';
import { EXISTING_AUTHORITY_REFUND } from './gas-schedule.js';

/**
 * Sets the code of each authority with a valid authorization, and skips the others. The code stays set if the
 * transaction itself fails.
 *
 * @param kernel - with a transaction that has begun
 * @returns gas to refund
 * @source EIP-7702
 */
export async function applyAuthorizations(
  machine: Machine,
  kernel: EvmKernel,
  list: readonly Authorization[],
): Promise<bigint> {
  let refund = 0n;
  if (list.length === 0) return refund;
  /** Delegations that this list has set; the state does not know their code. */
  const set: Uint8Array[] = [];
  const isOpen = async (codeHash: Uint8Array) =>
    equalBytes(codeHash, EMPTY_CODE_HASH) ||
    set.some((hash) => equalBytes(hash, codeHash)) ||
    isDelegation(await machine.state.code(codeHash));
  for (const authorization of list) {
    if (authorization.chainId !== 0n && authorization.chainId !== BigInt(machine.rules.chainId)) continue;
    if (authorization.nonce >= MAX_NONCE) continue;
    const authority = await authorityOf(authorization);
    if (authority === undefined) continue;
    kernel.warmAddress(authority);
    await handInCertain(kernel, machine.state, { accounts: [authority] });
    const account = kernel.account(authority);
    if (!(await isOpen(account?.codeHash ?? EMPTY_CODE_HASH))) continue;
    if ((account?.nonce ?? 0n) !== authorization.nonce) continue;
    if (account !== undefined) refund += EXISTING_AUTHORITY_REFUND;
    kernel.writeAccount(authority, authorization.nonce + 1n, account?.balance ?? 0n);
    let codeHash = EMPTY_CODE_HASH;
    if (!isZeroBytes(authorization.address)) {
      const code = delegationTo(authorization.address);
      codeHash = keccak256(code);
      kernel.addCode(codeHash, code);
      set.push(codeHash);
    }
    kernel.writeCode(authority, codeHash);
  }
  return refund;
}
