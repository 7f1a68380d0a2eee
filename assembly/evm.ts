import {
  ACCOUNT_BALANCE,
  ACCOUNT_CODE,
  ACCOUNT_CODE_HASH,
  ACCOUNT_FLAGS,
  ACCOUNT_NONCE,
  ACCOUNT_WARM,
  ACCOUNT_WARM_FROM_START,
  accountAt,
  definePrecompile,
  EXISTS,
  forgetAccounts,
  forgetSpecials,
  LOADED,
  setAbsent,
  warmAlways as warmAddressAlways,
} from './evm/accounts';
import { setLimit } from './evm/allocator';
import { forgetBlocks, loadHash } from './evm/blocks';
import { addCode as addCodeWithHash, findCode, limitCodes } from './evm/codes';
import { setFork } from './evm/forks';
import { closeJournal, keepBalance, setCode, setNonce } from './evm/journal';
import { setTransferLogs } from './evm/progress';
import { IO_ADDRESS, IO_HASH, IO_NONCE, IO_WORD } from './evm/regions';
import { reportAccesses, reportChanges, reportLoads } from './evm/reports';
import { returnSpace } from './evm/return-data';
import { forgetSlots, SLOT_LOADED, SLOT_VALUE, SLOT_WARM, SLOT_WARM_FROM_START, slotAt } from './evm/slots';
import { establish, noteAccount, removeAccounts, transaction } from './evm/state';
import { emptyTrace as clearTrace, setTrace } from './evm/trace';
import {
  answerCall,
  beginTransaction,
  chargeAuthorization,
  rollbackTransaction,
  runSlice,
  startCall,
} from './evm/transaction';
import { fromBytes, toBytes } from './evm/word';

export { blobHashes } from './evm/blocks';
export { codeSpace } from './evm/codes';
/**
 * Entry of the EVM kernel: exports only. It executes one transaction at a time, on state that the host hands in, and
 * never calls the host: `run` returns when it needs something, and goes on where it was when it is called again. The
 * places of parameters and results are described in evm/regions.ts.
 */
export { ENV, IO, RESULT } from './evm/regions';
export { reportAt as changesPointer } from './evm/reports';
export { dataRegion as dataSpace } from './evm/transaction';
export { WANTS, wantCount } from './evm/wants';

/** Logs of ether transfers (ERC-7528). */
const TRANSFER_LOGS: i32 = 1;

const KEY: usize = memory.data(32, 16);

/** @param fork - index in evm/forks.ts */
export function configure(fork: i32): void {
  forget();
  forgetSpecials();
  setFork(fork);
}

/** @param flags - 1: log ether transfers; those of evm/trace.ts */
export function record(flags: i32): void {
  setTransferLogs((flags & TRANSFER_LOGS) !== 0);
  setTrace(flags);
}

/** Most memory that the kernel takes, bytes. It traps when it needs more. */
export function setMemoryLimit(bytes: u32): void {
  setLimit(bytes);
}

/** Forgets accounts, slots and block hashes; codes too when there are many. */
export function forget(): void {
  closeJournal();
  forgetAccounts();
  forgetSlots();
  forgetBlocks();
  limitCodes();
}

/** Forgets block hashes alone. */
export function forgetHashes(): void {
  forgetBlocks();
}

/** Makes the address a precompile; 0: it is none. */
export function setPrecompile(id: u32): void {
  definePrecompile(IO_ADDRESS, id);
}

/** Makes the address warm in every transaction. */
export function warmAlways(): void {
  warmAddressAlways(IO_ADDRESS);
}

/** Adds the code in the code space under the hash. */
export function addCode(): void {
  addCodeWithHash(IO_HASH);
}

/** Hands in an account: balance at the word, code hash at the hash. Ignored if it is known. */
export function loadAccount(exists: i32, nonce: u64): void {
  const account = accountAt(IO_ADDRESS);
  const flags = load<u32>(account, ACCOUNT_FLAGS);
  if ((flags & LOADED) !== 0) return;
  if (exists === 0) setAbsent(account);
  else {
    fromBytes(IO_WORD, account + ACCOUNT_BALANCE);
    memory.copy(account + ACCOUNT_CODE_HASH, IO_HASH, 32);
    store<u64>(account, nonce, ACCOUNT_NONCE);
    store<u32>(account, <u32>findCode(IO_HASH), ACCOUNT_CODE);
  }
  store<u32>(account, flags | LOADED | (exists === 0 ? 0 : EXISTS), ACCOUNT_FLAGS);
}

/** Hands in a slot: key at the word, value at the hash. Ignored if it is known. */
export function loadSlot(): void {
  fromBytes(IO_WORD, KEY);
  const slot = slotAt(accountAt(IO_ADDRESS), KEY);
  if (load<u32>(slot, SLOT_LOADED) !== 0) return;
  fromBytes(IO_HASH, slot + SLOT_VALUE);
  store<u32>(slot, 1, SLOT_LOADED);
}

/** Hands in the hash of a block. */
export function loadBlockHash(number: u64): void {
  loadHash(number, IO_HASH);
}

/** Starts a transaction. What was written before stays. */
export function begin(): void {
  beginTransaction();
}

/** Warms the address from the start of the transaction. */
export function warmAddress(): void {
  const account = accountAt(IO_ADDRESS);
  store<u32>(account, transaction, ACCOUNT_WARM);
  store<u32>(account, transaction, ACCOUNT_WARM_FROM_START);
}

/** Warms the slot at the word from the start of the transaction. */
export function warmSlot(): void {
  fromBytes(IO_WORD, KEY);
  const slot = slotAt(accountAt(IO_ADDRESS), KEY);
  store<u32>(slot, transaction, SLOT_WARM);
  store<u32>(slot, transaction, SLOT_WARM_FROM_START);
}

/** Current nonce, balance and code hash of the address. @returns 1: it was handed in; 2: it exists */
export function readAccount(): i32 {
  const account = accountAt(IO_ADDRESS);
  const flags = load<u32>(account, ACCOUNT_FLAGS);
  store<u64>(IO_NONCE, load<u64>(account, ACCOUNT_NONCE));
  toBytes(account + ACCOUNT_BALANCE, IO_WORD);
  memory.copy(IO_HASH, account + ACCOUNT_CODE_HASH, 32);
  return flags & (LOADED | EXISTS);
}

/** Writes nonce and balance of an account that was handed in; it exists and is touched from then on. */
export function writeAccount(nonce: u64): void {
  const account = accountAt(IO_ADDRESS);
  if (nonce !== load<u64>(account, ACCOUNT_NONCE)) setNonce(account, nonce);
  keepBalance(account);
  fromBytes(IO_WORD, account + ACCOUNT_BALANCE);
  establish(account);
}

/** Gives an account that was handed in the code with the hash, which was added before. */
export function writeCode(): void {
  const account = accountAt(IO_ADDRESS);
  setCode(account, findCode(IO_HASH));
  establish(account);
}

/** Starts the outermost call: from the address, with the value at the word, to the address at the hash. */
export function start(create: i32, gas: i64, stateGas: i64): void {
  startCall(IO_ADDRESS, IO_WORD, create !== 0 ? 0 : IO_HASH, gas, stateGas);
}

/** Charges the started transaction for an authorization (EIP-8037). @returns 0 if it cannot pay: the next run then ends it */
export function payAuthorization(gas: i64, stateGas: i64): i32 {
  return <i32>chargeAuthorization(gas, stateGas);
}

/** Notes that execution loads the address, for the block access list. */
export function note(): void {
  noteAccount(accountAt(IO_ADDRESS));
}

/** Executes until about `slice` gas is spent. @returns why it returned, see evm/regions.ts */
export function run(slice: i64): i32 {
  return runSlice(slice);
}

/** Room for the output of a precompile. */
export function outputSpace(length: u32): usize {
  return returnSpace(length);
}

/** Answers `PRECOMPILE`. */
export function answerPrecompile(success: i32, gasUsed: i64): void {
  answerCall(success !== 0, gasUsed);
}

/** Ends the transaction: removes destroyed and empty accounts. */
export function finish(): void {
  removeAccounts();
}

/** Lists the changes at `changesPointer`. @returns number of accounts */
export function changes(): i32 {
  return reportChanges();
}

/** Lists the accesses at `changesPointer`. @returns number of accounts */
export function touched(): i32 {
  return reportAccesses();
}

/** Lists what was loaded at `changesPointer`, after `finish`. @returns number of accounts */
export function loads(): i32 {
  return reportLoads();
}

/** Empties the trace, after the host has read it. */
export function emptyTrace(): void {
  clearTrace();
}

/** Keeps what the transaction wrote. */
export function commit(): void {
  closeJournal();
}

/** Undoes what the transaction wrote. */
export function rollback(): void {
  rollbackTransaction();
}
