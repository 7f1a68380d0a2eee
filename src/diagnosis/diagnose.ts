import type { IncludedTransaction } from '../chain/block.js';
import type { Chain, ChainCall } from '../chain/chain.js';
import { isPlumblineError, type TransactionRule } from '../errors.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { UNCOUNTED_MODULES } from '../networks/module-limits.js';
import type { CallRequest } from '../primitives/call-request.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { CHECKS, type CheckName } from './check-table.js';
import { allChecks, type CheckedTransaction, type Findings } from './checks.js';
import {
  type Conditions,
  callOf,
  capOf,
  type DiagnosedTransaction,
  type DiagnosisParts,
  hasLayerOnePool,
  hasLineLimits,
  readConditions,
  readSigned,
  transactionOf,
} from './diagnosed.js';
import {
  couldNotCheck,
  type FilledField,
  type Finding,
  formatFinding,
  type InclusionVerdict,
  type TransactionDiagnosis,
  tried,
} from './diagnosis.js';
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

/** A candidate with what could be filled in. */
export interface FilledCall {
  readonly candidate: DiagnosedTransaction;
  readonly filled: Partial<Record<FilledField, Hex>>;
  /** The check that the estimate shows to fail. */
  readonly failing: readonly Finding[];
  /** Why gas limit and prices could not be filled in. */
  readonly reason?: string;
}

const UNPRICED = { gasPrice: undefined, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined };

/** The check that fails where an estimate is refused by a rule. */
const CHECK_OF_RULE: Readonly<Partial<Record<TransactionRule, CheckName>>> = {
  'nonce-too-low': 'nonce-used',
  'nonce-too-high': 'nonce-distance',
  'intrinsic-gas': 'gas-minimum',
  'gas-limit': 'gas-cap',
  'gas-price': 'base-fee',
  'init-code': 'init-code',
  sender: 'sender',
  type: 'type',
};

/**
 * Fills in what a call leaves out: the next nonce of the account, gas limit and prices as `linea_estimateGas`, the suggested
 * maximum fee (docs/spec/fees.md 1).
 */
async function fillCall(
  { chain, estimator }: DiagnosisParts,
  given: DiagnosedTransaction,
  conditions: Conditions,
  limits: ChainCall,
): Promise<FilledCall> {
  const nonce = given.nonce ?? nextNonce(conditions);
  const named = { ...given, nonce };
  const filled = given.nonce === undefined ? { nonce: toQuantity(nonce) } : {};
  const isPriced =
    given.gasPrice !== undefined || (given.maxFeePerGas !== undefined && given.maxPriorityFeePerGas !== undefined);
  const baseFee = conditions.context.baseFeePerGas;
  if (given.gasLimit !== undefined && isPriced) return withPrices(named, filled, baseFee, 0n);
  try {
    const { signal, gas } = limits;
    // Its gas limit is judged by a run, and a price below the base fee waits on a layer 1.
    const waits = hasLayerOnePool(chain) && (capOf(named) ?? baseFee) < baseFee;
    const sized = { ...named, gasLimit: undefined, ...(waits && UNPRICED) };
    const estimate = await estimator.fees({ call: callOf(sized), pending: true, signal, gas });
    const { gasLimit = estimate.gasLimit } = given;
    const more = given.gasLimit === undefined ? { gas: toQuantity(gasLimit) } : {};
    const complete = { ...named, gasLimit };
    return withPrices(complete, { ...filled, ...more }, estimate.baseFeePerGas, estimate.priorityFeePerGas);
  } catch (error) {
    const failing = failureOf(error, conditions, chain);
    const reason = failing?.reason ?? couldNotCheck(error);
    return { candidate: named, filled, failing: failing === undefined ? [] : [failing], reason };
  }
}

/** The first nonce that no transaction of the sender uses, as far as this node knows. */
function nextNonce({ sender, pending }: Conditions): bigint {
  const used = new Set(pending.map(({ nonce }) => nonce));
  let { nonce } = sender;
  while (used.has(nonce)) nonce++;
  return nonce;
}

function withPrices(
  candidate: DiagnosedTransaction,
  filled: FilledCall['filled'],
  baseFee: bigint,
  priorityFee: bigint,
): FilledCall {
  if (candidate.gasPrice !== undefined) return { candidate, filled, failing: [] };
  const cap = candidate.maxFeePerGas;
  const maxPriorityFeePerGas =
    candidate.maxPriorityFeePerGas ?? (cap !== undefined && cap < priorityFee ? cap : priorityFee);
  const maxFeePerGas = cap ?? baseFee + maxPriorityFeePerGas;
  return {
    candidate: { ...candidate, maxFeePerGas, maxPriorityFeePerGas },
    filled: {
      ...filled,
      ...(cap === undefined && { maxFeePerGas: toQuantity(maxFeePerGas) }),
      ...(candidate.maxPriorityFeePerGas === undefined && { maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGas) }),
    },
    failing: [],
  };
}

/** The failing check that an error of the estimate means; undefined for other errors. */
function failureOf(error: unknown, { context, rules }: Conditions, chain: Chain): Finding | undefined {
  const fails = (check: CheckName, more: Partial<Finding> = {}): Finding => ({
    check,
    outcome: 'fails',
    reason: (error as Error).message,
    ...more,
  });
  if (isPlumblineError(error, 'MODULE_LIMIT_EXCEEDED')) {
    const { module, count, limit } = error.details;
    return fails('line-counts', { found: BigInt(count), needed: BigInt(limit), reason: module });
  }
  if (isPlumblineError(error, 'INSUFFICIENT_FUNDS')) {
    const { balance, required } = error.details;
    return fails('funds', { found: balance, needed: required, remedy: String(required - balance) });
  }
  if (isPlumblineError(error, 'CALLDATA_TOO_LARGE')) {
    return fails('calldata', { found: BigInt(error.details.length), needed: BigInt(error.details.limit) });
  }
  if (isPlumblineError(error, 'UPFRONT_COST_EXCEEDS_BALANCE')) return fails('funds');
  if (isPlumblineError(error, 'GAS_ALLOWANCE_EXCEEDED')) {
    // As much as a block or a simulated run may have: no balance would help.
    const { allowance } = error.details;
    return fails(allowance >= context.gasLimit || allowance >= chain.network.rpcGasCap ? 'execution' : 'funds');
  }
  if (isPlumblineError(error, 'EXECUTION_REVERTED') || isPlumblineError(error, 'EXECUTION_FAILED')) {
    return fails('execution');
  }
  if (!isPlumblineError(error, 'TRANSACTION_REJECTED')) return undefined;
  const { rule } = error.details;
  // The searches stay below the cap of a gas limit from Amsterdam on.
  if (rule === 'gas-limit' && rules.amsterdam) return fails('intrinsic-cap');
  // A price below the base fee was left out.
  if (rule === 'gas-price' && hasLayerOnePool(chain)) return fails('priority-fee');
  return fails(CHECK_OF_RULE[rule] ?? 'encoding');
}
