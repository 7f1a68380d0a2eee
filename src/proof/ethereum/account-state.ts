import { PlumblineError } from '../../errors.js';
import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import { keccak256 } from '../../kernel/keccak.js';
import { bytesToKey, equalBytes, requireLength } from '../../primitives/bytes.js';
import { readBytes } from '../json-reader.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import { type EthereumAccount, type EthereumProofFailureReason, verifyEthereumProof } from './ethereum-proof.js';

/** One `eth_getProof` request of a batch. */
export interface AccountRequest {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each, in the order of the request. */
  readonly storageKeys: readonly Uint8Array[];
}

/** A proved account, with proved slots. */
export interface ProvedAccount {
  /** Undefined: no such account in this state. */
  readonly account: EthereumAccount | undefined;
  /** Values of the requested slots, 32 bytes each, by `bytesToKey` of the slot; zero for an empty slot. */
  readonly slots: ReadonlyMap<string, Uint8Array>;
}

/** Accounts and slots that were proved. */
export interface VerifiedAccounts {
  readonly verified: true;
  /** By `bytesToKey` of the address. */
  readonly accounts: ReadonlyMap<string, ProvedAccount>;
}

/** Why a batch of proofs is refused. */
export interface AccountsFailure extends ProofFailure<EthereumProofFailureReason> {
  /** Index of the refused answer; `at` is a path inside it. */
  readonly index: number;
  /** Its account, 20 bytes. */
  readonly address: Uint8Array;
}

/** What a batch of proofs proves, or why it is refused. */
export type AccountsVerdict = VerifiedAccounts | AccountsFailure;

/**
 * Verifies a batch of `eth_getProof` answers against one state root. An account may be requested more than once, with different
 * slots. The first wrong answer decides the verdict.
 *
 * @param stateRoot - root of the header, 32 bytes
 * @param answers - one per request, in order
 * @throws PlumblineError `PROOF_MALFORMED`; `INVALID_LENGTH`, also for a wrong number of answers
 * @source EIP-1186
 */
export function verifyAccounts(
  stateRoot: Uint8Array,
  requests: readonly AccountRequest[],
  answers: readonly unknown[],
): AccountsVerdict {
  requireCount(requests.length, answers.length);
  const accounts = new Map<string, { account: EthereumAccount | undefined; slots: Map<string, Uint8Array> }>();
  for (const [index, { address, storageKeys }] of requests.entries()) {
    const verdict = verifyEthereumProof({ address, storageKeys, stateRoot }, answers[index]);
    if (!verdict.verified) return { ...verdict, index, address };
    const key = bytesToKey(address);
    const proved = accounts.get(key) ?? { account: verdict.account, slots: new Map() };
    for (const slot of verdict.slots) proved.slots.set(bytesToKey(slot.key), slot.value);
    accounts.set(key, proved);
  }
  return { verified: true, accounts };
}

function requireCount(expected: number, actual: number): void {
  if (expected === actual) return;
  const message = `${actual} answers for ${expected} requests`;
  throw new PlumblineError('INVALID_LENGTH', message, { what: 'answers', expected: String(expected), actual });
}

/** Code with the expected hash, or why it is refused. */
export type CodeVerdict =
  | { readonly verified: true; readonly code: Uint8Array }
  /** The code does not have the hash that the account names. */
  | ProofFailure<'CODE_HASH_MISMATCH'>;

/** Whether the code hash is that of an account without code. @param codeHash - 32 bytes */
export function hasNoCode(codeHash: Uint8Array): boolean {
  return equalBytes(codeHash, EMPTY_CODE_HASH);
}

/**
 * Verifies byte code by its hash.
 *
 * @param codeHash - of a verified account, 32 bytes
 * @param answer - `result` of `eth_getCode`
 * @throws PlumblineError `PROOF_MALFORMED`, `INVALID_LENGTH`
 */
export function verifyCode(codeHash: Uint8Array, answer: unknown): CodeVerdict {
  requireLength('code hash', codeHash, 32);
  const code = readBytes(answer, 'the answer');
  return judge(() => {
    if (!equalBytes(keccak256(code), codeHash)) {
      throw new Refusal('CODE_HASH_MISMATCH', '', 'the code does not have the hash of the account');
    }
    return { verified: true, code };
  });
}
