import type { IncludedTransaction } from '../chain/block.js';
import type { Chain, ChainCall } from '../chain/chain.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { UNCOUNTED_MODULES } from '../networks/module-limits.js';
import type { CallRequest } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { CHECKS, type CheckName } from './check-table.js';
import { allChecks, type CheckedTransaction, type Findings } from './checks.js';
import {
  type Conditions,
  callOf,
  type DiagnosedTransaction,
  type DiagnosisParts,
  hasLayerOnePool,
  hasLineLimits,
  readConditions,
  readSigned,
  transactionOf,
} from './diagnosed.js';
import type { InclusionVerdict, TransactionDiagnosis } from './diagnosis.js';
import { type Finding, formatFinding, tried } from './diagnosis.js';
import { type FilledCall, fillCall } from './fill-call.js';
import { sidecarCheck } from './layer-one-checks.js';

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
    const more = hasLayerOnePool(chain) ? sidecarCheck(subject.raw, signed) : [];
    return ofSigned(parts, signed, 'raw', limits, more);
  }
  const { hash } = subject;
  const included = await chain.transaction(hash, limits);
  if (included !== undefined) return ofIncluded(parts, included);
  const known = await tried(() => chain.pendingTransaction(hash, limits));
  if (known !== undefined && typeof known !== 'string')
    return ofSigned(parts, known.transaction, known.announced === true ? 'endpoint' : 'pool', limits);
  return diagnosisOf(parts, { origin: 'none', findings: await exclusionChecks(chain, hash, limits), hash });
}

async function ofSigned(
  parts: DiagnosisParts,
  signed: SignedTransaction,
  origin: 'raw' | 'pool' | 'endpoint',
  limits: ChainCall,
  more: readonly Finding[] = [],
): Promise<TransactionDiagnosis> {
  const { chain } = parts;
  const [conditions, exclusion] = await Promise.all([
    readConditions(parts, callOf(signed), limits),
    // A devnet knows all of its rules, and may accept now what it refused once.
    chain.kind === 'devnet' ? [] : exclusionChecks(chain, signed.hash, limits),
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
  return diagnosisOf(parts, {
    origin,
    candidate: signed,
    conditions,
    findings: [...judged, ...more, ...exclusion],
    lines,
  });
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
  const isCounted = hasLineLimits(chain) && candidate !== undefined && origin !== 'block';
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

/** Most characters of a reason: an endpoint wrote it. */
const MAX_REASON = 300;

/**
 * Whether the transaction was excluded, by the word of an endpoint (docs/spec/json-rpc.md 2.4). A devnet has recorded it itself; a
 * layer 1 has no such record.
 *
 * @param hash - 32 bytes
 */
async function exclusionChecks(chain: Chain, hash: Uint8Array, call: ChainCall): Promise<readonly Finding[]> {
  return hasLayerOnePool(chain) ? [] : [await exclusionCheck(chain, hash, call)];
}

async function exclusionCheck(chain: Chain, hash: Uint8Array, call: ChainCall): Promise<Finding> {
  const basis = chain.kind === 'devnet' ? 'pool' : 'endpoint';
  const exclusion = await tried(() => chain.exclusion(hash, call));
  if (typeof exclusion === 'string') return { check: 'exclusion', outcome: 'unknown', basis, reason: exclusion };
  if (exclusion === undefined) return { check: 'exclusion', outcome: 'ok', basis };
  const { stage, reason, blockNumber } = exclusion;
  const block = blockNumber === undefined ? '' : ` for block ${blockNumber}`;
  const text = `${basis === 'endpoint' ? 'an endpoint says: ' : ''}${stage}${block}: ${reason.slice(0, MAX_REASON)}`;
  return { check: 'exclusion', outcome: 'fails', basis, reason: text };
}

type Origin = TransactionDiagnosis['origin'];

/** The next step where no check fails. */
const GO_ON: Readonly<Record<Origin, string>> = {
  call: 'Sign it with the values of `filled`, and send it.',
  raw: 'Send it.',
  block: 'Nothing: a block has it. Its receipt says whether its execution succeeded.',
  pool: 'Wait for one of the next blocks.',
  endpoint: 'Wait for one of the next blocks.',
  none: 'No block has it, and no endpoint that was asked knows it. Pass the signed bytes, and send them if they are fine.',
};

/** The verdict of all checks together, and what to do next. */
export function verdictOf(
  findings: readonly Finding[],
  origin: Origin,
): { readonly verdict: InclusionVerdict; readonly nextStep: string } {
  const failing = findings.filter(({ outcome }) => outcome === 'fails');
  const withFailure = (failure: string) => failing.find(({ check }) => CHECKS[check].failure === failure);
  const open = findings.find(({ check, outcome }) => outcome === 'unknown' && CHECKS[check].decides);
  const [refused, waits, other] = [withFailure('refused'), withFailure('waits'), withFailure('none')];
  if (refused !== undefined) return { verdict: 'will-be-refused', nextStep: stepFor(refused) };
  if (open !== undefined) {
    const known = other ?? waits;
    const nextStep =
      known === undefined ? `Ask again: ${open.check} could not be checked: ${open.reason}.` : stepFor(known);
    return { verdict: 'cannot-tell', nextStep };
  }
  if (waits !== undefined) return { verdict: 'will-wait', nextStep: stepFor(waits) };
  const nextStep = other === undefined ? GO_ON[origin] : stepFor(other);
  if (origin === 'none') return { verdict: 'cannot-tell', nextStep };
  return { verdict: origin === 'block' ? 'included' : 'will-be-included', nextStep };
}

const ORDER = Object.keys(CHECKS) as CheckName[];

/** In the order of the table. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort((a, b) => ORDER.indexOf(a.check) - ORDER.indexOf(b.check));
}

function stepFor(finding: Finding): string {
  return CHECKS[finding.check].nextStep.replace(/\{(found|needed|reason|remedy)\}/g, (_, name: keyof Finding) =>
    String(finding[name] ?? 'unknown'),
  );
}
