import { MAX_NONCE_DISTANCE, PRICE_BUMP } from '../chain/admission.js';
import { GAS_PER_BLOB } from '../ethereum/blob-gas.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import { isDelegation } from '../evm/interpreter/delegation.js';
import { equalBytes } from '../primitives/bytes.js';
import type { Conditions } from './conditions.js';
import { type CompleteTransaction, capOf, type DiagnosedTransaction } from './diagnosed-transaction.js';
import { compared, type Finding } from './finding.js';

/** Checks of the nonce. @param isDevnet - whose pool is known */
export function nonceChecks(nonce: bigint, { sender, pending }: Conditions, isDevnet: boolean): readonly Finding[] {
  const next = sender.nonce;
  const used = compared('nonce-used', nonce, next);
  if (used.outcome === 'fails') return [used];
  const distance = compared('nonce-distance', nonce, next + MAX_NONCE_DISTANCE);
  if (distance.outcome === 'fails') return [used, distance];
  const known = new Set(pending.map((transaction) => transaction.nonce));
  let missing = next;
  while (missing < nonce && known.has(missing)) missing++;
  const reason = 'of the transactions before it, this node knows only those that it sent itself';
  return [used, distance, compared('nonce-gap', nonce, missing, missing === nonce || isDevnet ? {} : { reason })];
}

/** A sender must not be a contract (EIP-3607). */
export async function senderCheck(
  { impersonated }: DiagnosedTransaction,
  { sender, state }: Conditions,
): Promise<Finding> {
  const mayHaveCode = impersonated !== true && !equalBytes(sender.codeHash, EMPTY_CODE_HASH);
  if (!mayHaveCode || isDelegation(await state.code(sender.codeHash))) return { check: 'sender', outcome: 'ok' };
  return { check: 'sender', outcome: 'fails', reason: 'the sender is a contract' };
}

/** The balance covers the value and the highest fee. What pending transactions before it take is not subtracted. */
export function fundsCheck(candidate: CompleteTransaction, { sender }: Conditions): Finding {
  const { value, gasLimit, maxFeePerBlobGas = 0n, blobVersionedHashes = [] } = candidate;
  const blobFee = GAS_PER_BLOB * BigInt(blobVersionedHashes.length) * maxFeePerBlobGas;
  const needed = value + gasLimit * (capOf(candidate) ?? 0n) + blobFee;
  return compared('funds', sender.balance, needed, { remedy: String(needed - sender.balance) });
}

/** A pending transaction with the same nonce is replaced only for higher prices. */
export function replacementCheck(candidate: DiagnosedTransaction, { pending }: Conditions, isDevnet: boolean): Finding {
  const { hash, nonce } = candidate;
  const held = pending.find((other) => other.nonce === nonce && (hash === undefined || !equalBytes(other.hash, hash)));
  if (held === undefined) {
    const reason = 'this node does not see the transactions that are pending on the network';
    return { check: 'replacement', ...(isDevnet ? { outcome: 'ok' } : { outcome: 'unknown', reason }) };
  }
  const raised = (price: bigint) => (price * (100n + PRICE_BUMP) + 99n) / 100n;
  const prices = [
    {
      name: candidate.gasPrice === undefined ? 'maxFeePerGas' : 'gasPrice',
      offered: capOf(candidate),
      of: capOf(held),
    },
    {
      name: candidate.gasPrice === undefined ? 'maxPriorityFeePerGas' : 'gasPrice',
      offered: candidate.gasPrice ?? candidate.maxPriorityFeePerGas,
      of: held.gasPrice ?? held.maxPriorityFeePerGas,
    },
  ];
  const findings = prices.map(({ name, offered = 0n, of = 0n }) =>
    compared('replacement', offered, raised(of), { remedy: `${name} to at least ${raised(of)} wei` }),
  );
  return findings.find(({ outcome }) => outcome === 'fails') ?? findings[0]!;
}
