import type { IncludedTransaction } from '../chain/block.js';
import type { ChainCall } from '../chain/chain.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { UNCOUNTED_MODULES } from '../networks/module-limits.js';
import type { CallRequest } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { allChecks, type CheckedTransaction, type Findings } from './all-checks.js';
import { type Conditions, type DiagnosisParts, readConditions } from './conditions.js';
import { callOf, type DiagnosedTransaction, readSigned, transactionOf } from './diagnosed-transaction.js';
import type { TransactionDiagnosis } from './diagnosis.js';
import { exclusionCheck } from './exclusion-check.js';
import { type FilledCall, fillCall } from './fill-call.js';
import { type Finding, formatFinding, tried } from './finding.js';
import { inOrder, verdictOf } from './verdict.js';

/** What is asked about: a hash of 32 bytes, signed bytes, or a call with its sender. */
export type DiagnosisSubject =
  | { readonly hash: Uint8Array }
  | { readonly raw: Uint8Array }
  | { readonly call: CallRequest & { readonly from: Uint8Array } };

/**
 * Whether a transaction will be included, by the rules of the network profile at the newest block.
 *
 * @throws PlumblineError of the endpoints, where a hash cannot be looked up; `ABORTED`, `REQUEST_TIMED_OUT`. What cannot be checked is
 *   no error
 * @source docs/spec/fees.md 11
 */
export async function diagnose(
  parts: DiagnosisParts,
  subject: DiagnosisSubject,
  limits: ChainCall = {},
): Promise<TransactionDiagnosis> {
  const { chain } = parts;
  if ('call' in subject) return ofCall(parts, transactionOf(subject.call, chain.network.chainId), limits);
  if ('raw' in subject) {
    const signed = await readSigned(subject.raw, chain.network.chainId);
    if ('check' in signed) return diagnosisOf(parts, { origin: 'raw', findings: [signed] });
    return ofSigned(parts, signed, 'raw', limits);
  }
  const { hash } = subject;
  const included = await chain.transaction(hash, limits);
  if (included !== undefined) return ofIncluded(parts, included);
  const known = await tried(() => chain.pendingTransaction(hash, limits));
  if (known !== undefined && typeof known !== 'string')
    return ofSigned(parts, known.transaction, known.announced === true ? 'endpoint' : 'pool', limits);
  return diagnosisOf(parts, { origin: 'none', findings: [await exclusionCheck(chain, hash, limits)], hash });
}

async function ofSigned(
  parts: DiagnosisParts,
  signed: SignedTransaction,
  origin: 'raw' | 'pool' | 'endpoint',
  limits: ChainCall,
): Promise<TransactionDiagnosis> {
  const { chain } = parts;
  const [conditions, exclusion] = await Promise.all([
    readConditions(parts, callOf(signed), limits),
    // A devnet knows all of its rules, and may accept now what it refused once.
    chain.kind === 'devnet' ? [] : exclusionCheck(chain, signed.hash, limits).then((finding) => [finding]),
  ]);
  let unread: string | undefined;
  // A used nonce: by this transaction, or by another one. Above it, the state shows that it is in no block.
  if (typeof conditions !== 'string' && signed.nonce < conditions.sender.nonce) {
    const included = await tried(() => chain.transaction(signed.hash, limits));
    if (typeof included === 'string') unread = included;
    else if (included !== undefined) return ofIncluded(parts, included);
  }
  const { findings, lines } = await allChecks(parts, { candidate: signed, conditions }, limits);
  const judged = findings.map((finding): Finding => {
    if (finding.check !== 'nonce-used' || unread === undefined) return finding;
    return { ...finding, outcome: 'unknown', reason: `its nonce is used, perhaps by itself: ${unread}` };
  });
  return diagnosisOf(parts, { origin, candidate: signed, conditions, findings: [...judged, ...exclusion], lines });
}

async function ofCall(
  parts: DiagnosisParts,
  given: DiagnosedTransaction,
  limits: ChainCall,
): Promise<TransactionDiagnosis> {
  const conditions = await readConditions(parts, callOf(given), limits);
  const filling = typeof conditions === 'string' ? undefined : await fillCall(parts, given, conditions, limits);
  const { candidate = given, filled, failing = [], reason } = filling ?? {};
  const checked: CheckedTransaction = { candidate, conditions, failing, ...(reason !== undefined && { reason }) };
  return diagnosisOf(parts, {
    origin: 'call',
    candidate,
    conditions,
    filled,
    ...(await allChecks(parts, checked, limits)),
  });
}

async function ofIncluded(
  { chain, estimator }: DiagnosisParts,
  { transaction, block, index }: IncludedTransaction,
): Promise<TransactionDiagnosis> {
  const number = block.header.number;
  return {
    ...diagnosisOf({ chain, estimator }, { origin: 'block', candidate: transaction, findings: [] }),
    included: { blockNumber: number, blockHash: bytesToHex(block.hash), transactionIndex: index },
    block: number,
    trust: await chain.trust(block),
  };
}

/** What a diagnosis is written from. */
interface Material extends Partial<Findings> {
  readonly origin: TransactionDiagnosis['origin'];
  readonly findings: readonly Finding[];
  readonly candidate?: DiagnosedTransaction;
  readonly conditions?: Conditions | string;
  readonly filled?: FilledCall['filled'] | undefined;
  /** Where there is no candidate. */
  readonly hash?: Uint8Array;
}

function diagnosisOf({ chain, estimator }: DiagnosisParts, material: Material): TransactionDiagnosis {
  const { origin, candidate, conditions, filled = {}, lines = [], hash = candidate?.hash } = material;
  const findings = inOrder(material.findings);
  const { name, networkOwn } = estimator.dictionary;
  const isCounted = chain.network.moduleLimits !== undefined && candidate !== undefined && origin !== 'block';
  const on = typeof conditions === 'string' ? undefined : conditions;
  return {
    ...verdictOf(findings, origin),
    origin,
    ...(hash !== undefined && { hash: bytesToHex(hash) }),
    ...(candidate !== undefined && { from: bytesToHex(candidate.from) }),
    ...(candidate?.nonce !== undefined && { nonce: toQuantity(candidate.nonce) }),
    filled,
    checks: findings.map(formatFinding),
    limits: { checked: lines, unchecked: isCounted ? UNCOUNTED_MODULES : [] },
    block: on?.on.header.number ?? null,
    trust: on?.trust ?? null,
    dictionary: { name, networkOwn },
  };
}
