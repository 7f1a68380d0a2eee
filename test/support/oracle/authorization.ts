import { Address, Account as EvmAccount, KECCAK256_RLP } from '@ethereumjs/util';
import { EMPTY_CODE_HASH, MAX_NONCE } from '../../../src/ethereum/constants.js';
import { authorityOf } from '../../../src/evm/authority.js';
import { EXISTING_AUTHORITY_REFUND } from '../../../src/evm/transaction-checks.js';
import { concatBytes, isZeroBytes } from '../../../src/primitives/bytes.js';
import type { Authorization } from '../../../src/primitives/call-request.js';
import type { OracleMachine as Machine } from './machine.js';

const DELEGATION_PREFIX = Uint8Array.of(0xef, 0x01, 0x00);
const DELEGATION_BYTES = 23;

/** Whether byte code is a delegation to another account's code (EIP-7702). */
export function isDelegation(code: Uint8Array): boolean {
  return code.length === DELEGATION_BYTES && DELEGATION_PREFIX.every((byte, i) => code[i] === byte);
}

/**
 * Sets the code of each authority with a valid authorization, and skips the others. The code stays set if the
 * transaction itself fails.
 *
 * @returns gas to refund
 * @source EIP-7702
 */
export async function applyAuthorizations(machine: Machine, list: readonly Authorization[]): Promise<bigint> {
  const { evm, state } = machine;
  let refund = 0n;
  if (list.length === 0) return refund;
  for (const authorization of list) {
    if (authorization.chainId !== 0n && authorization.chainId !== BigInt(machine.rules.chainId)) continue;
    if (authorization.nonce >= MAX_NONCE) continue;
    const found = await authorityOf(authorization);
    if (found === undefined) continue;
    const authority = new Address(found);
    evm.journal.addAlwaysWarmAddress(authority.toString());
    const account = await state.account(authority.bytes);
    const code = await state.code(account?.codeHash ?? EMPTY_CODE_HASH);
    if (code.length > 0 && !isDelegation(code)) continue;
    if ((account?.nonce ?? 0n) !== authorization.nonce) continue;
    if (account !== undefined) refund += EXISTING_AUTHORITY_REFUND;
    const codeHash = isZeroBytes(authorization.address)
      ? EMPTY_CODE_HASH
      : state.addCode(concatBytes(DELEGATION_PREFIX, authorization.address));
    const updated = new EvmAccount(authorization.nonce + 1n, account?.balance ?? 0n, KECCAK256_RLP, codeHash);
    await evm.journal.putAccount(authority, updated);
  }
  return refund;
}
