import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import { type EvmKernel, WANTED, type Want } from '../../kernel/evm.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { AccessListEntry } from '../../primitives/call-request.js';
import type { StateReader } from '../state/state-reader.js';
import { delegateOf, isDelegation } from './delegation.js';
import type { Machine } from './machine.js';

/** Hands something that was read to a kernel. Everything is read first, because a read may fail. */
type HandIn = () => void;

/** What a transaction certainly reads. Addresses have 20 bytes. */
export interface CertainReads {
  readonly accounts: readonly Uint8Array[];
  /** Its code is read too. */
  readonly recipient?: Uint8Array | undefined;
  readonly accessList?: readonly AccessListEntry[] | undefined;
}

/** Reads at once what a transaction certainly needs, and hands it in. */
export async function handInCertain(kernel: EvmKernel, state: StateReader, certain: CertainReads): Promise<void> {
  const { accounts, recipient, accessList = [] } = certain;
  const reads: Promise<HandIn>[] = [];
  const add = (address: Uint8Array, withCode: boolean) => {
    if (!kernel.holdsAccount(address)) reads.push(readAccount(kernel, state, address, withCode));
  };
  if (recipient !== undefined) add(recipient, true);
  for (const address of accounts) if (recipient === undefined || !equalBytes(address, recipient)) add(address, false);
  for (const { address, storageKeys } of accessList) {
    add(address, false);
    for (const key of storageKeys) reads.push(readSlot(kernel, state, address, key));
  }
  if (reads.length === 0) return;
  for (const handIn of await Promise.all(reads)) handIn();
}

/** Reads at once everything that a kernel waits for, and hands it in. */
export async function handInWanted(machine: Machine, kernel: EvmKernel): Promise<void> {
  const wants = kernel.wants();
  const read =
    wants.length === 1
      ? [await answer(machine, kernel, wants[0]!)]
      : await Promise.all(wants.map((want) => answer(machine, kernel, want)));
  for (const handIn of read) handIn();
}

function answer({ state, block }: Machine, kernel: EvmKernel, { kind, address, key, number }: Want): Promise<HandIn> {
  switch (kind) {
    case WANTED.slot:
      return readSlot(kernel, state, address, key);
    case WANTED.blockHash:
      return block.blockHash(number).then((hash) => () => kernel.loadBlockHash(number, hash));
    case WANTED.code:
      return readCode(kernel, state, key, true);
    default:
      return readAccount(kernel, state, address, kind === WANTED.accountAndCode);
  }
}

async function readSlot(kernel: EvmKernel, state: StateReader, address: Uint8Array, key: Uint8Array): Promise<HandIn> {
  const value = await state.slot(address, key);
  return () => kernel.loadSlot(address, key, value);
}

async function readAccount(
  kernel: EvmKernel,
  state: StateReader,
  address: Uint8Array,
  withCode: boolean,
  followDelegation = true,
): Promise<HandIn> {
  const account = await state.account(address);
  const handIn = () => kernel.loadAccount(address, account);
  if (!withCode || account === undefined || equalBytes(account.codeHash, EMPTY_CODE_HASH)) return handIn;
  const handInCode = await readCode(kernel, state, account.codeHash, followDelegation);
  return () => {
    handInCode();
    handIn();
  };
}

/** @param followDelegation - read the account too that the code delegates to; one level, as execution does (EIP-7702) */
async function readCode(
  kernel: EvmKernel,
  state: StateReader,
  codeHash: Uint8Array,
  followDelegation: boolean,
): Promise<HandIn> {
  if (kernel.hasCode(codeHash)) return () => {};
  const code = await state.code(codeHash);
  const handIn = () => kernel.addCode(codeHash, code);
  if (!followDelegation || !isDelegation(code)) return handIn;
  const handInDelegate = await readAccount(kernel, state, delegateOf(code), true, false);
  return () => {
    handIn();
    handInDelegate();
  };
}
