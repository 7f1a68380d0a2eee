import { bytesToKey } from '../primitives/bytes.js';
import { applyAccesses, type ListedAccount, verifyAccessList } from './access-list.js';
import { verifyEthereumProof } from './ethereum-proof.js';
import { verifyHeader } from './headers.js';
import type { ProofFailure } from './verdict.js';

/** A slot, and the blocks over which it is unchanged. */
export interface UnchangedRequest {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** Number of the block after which the slot has its value. */
  readonly from: number;
  /** Hash of the last block, 32 bytes, from a source that the caller trusts. */
  readonly hash: Uint8Array;
}

/** Answers of endpoints: to `eth_getBlockByHash`, `eth_getProof` and `eth_getBlockAccessList`. */
export interface UnchangedAnswers {
  /** Of the block `from`. */
  readonly header: unknown;
  readonly state: unknown;
  /** Of the blocks after it, the lowest first. */
  readonly blocks: readonly { readonly header: unknown; readonly list: unknown }[];
}

/** The value of the slot, 32 bytes, or why it is not shown to be unchanged. */
export type UnchangedVerdict = { readonly verified: true; readonly value: Uint8Array } | ProofFailure<string>;

/**
 * Verifies that a slot has one value from a block to a later one: headers, linked from the trusted hash down; the value at the first, by
 * a proof; the access list of each later one, none of which changes the slot.
 *
 * The network must be one whose lists are complete.
 *
 * @throws PlumblineError `PROOF_MALFORMED`; `HEADER_UNSUPPORTED` for a header of a later fork
 */
export async function verifyUnchanged(
  { address, key, from, hash }: UnchangedRequest,
  { header, state, blocks }: UnchangedAnswers,
): Promise<UnchangedVerdict> {
  const linked = [];
  let expected = hash;
  for (let i = blocks.length; i-- > 0; ) {
    const verdict = verifyHeader(blocks[i]!.header, { hash: expected, number: from + 1 + i });
    if (!verdict.verified) return inside(`blocks[${i}].header`, verdict);
    linked.unshift(verdict.header);
    expected = verdict.header.parentHash;
  }
  const first = verifyHeader(header, { hash: expected, number: from });
  if (!first.verified) return inside('header', first);
  const proof = verifyEthereumProof({ address, storageKeys: [key], stateRoot: first.header.stateRoot }, state);
  if (!proof.verified) return inside('state', proof);
  const slot = bytesToKey(key);
  const value = proof.slots[0]!.value;
  const held: ListedAccount = { account: proof.account, slots: new Map([[slot, value]]) };
  for (const [i, block] of linked.entries()) {
    const at = `blocks[${i}].list`;
    const verdict = await verifyAccessList(block, blocks[i]!.list);
    if (!verdict.verified) return inside(at, verdict);
    const named = verdict.list.find((account) => bytesToKey(account.address) === bytesToKey(address));
    if (named === undefined) continue;
    if (named.storageChanges.some((changed) => bytesToKey(changed.key) === slot))
      return failure('SLOT_CHANGED', at, `block ${block.number} changes the slot`);
    applyAccesses(held, named);
    if (!held.slots.has(slot))
      return failure('ACCOUNT_MAY_HAVE_GONE', at, `block ${block.number} may have removed the account with its slots`);
  }
  return { verified: true, value };
}

function failure(reason: string, at: string, message: string): ProofFailure<string> {
  return { verified: false, reason, at, message };
}

function inside(at: string, verdict: ProofFailure<string>): ProofFailure<string> {
  return { ...verdict, at: /^(?:\[|$)/.test(verdict.at) ? at + verdict.at : `${at}.${verdict.at}` };
}
