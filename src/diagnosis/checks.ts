import {
  checkDenied,
  MAX_NONCE_DISTANCE,
  PRICE_BUMP,
  requireRecipient,
  requireTypeAccepted,
} from '../chain/admission.js';
import type { Chain, ChainCall } from '../chain/chain.js';
import { isPlumblineError } from '../errors.js';
import type { LineCount } from '../estimate/estimate-request.js';
import { lineCounts } from '../estimate/estimation.js';
import type { Estimator } from '../estimate/estimator.js';
import { EMPTY_CODE_HASH } from '../ethereum/constants.js';
import { callFailureOf } from '../evm/call.js';
import { isDelegation, TRANSACTION_GAS_CAP, transactionGasCap } from '../evm/common.js';
import { exactSearch, type GasEstimate } from '../evm/gas.js';
import { Machine } from '../evm/machine.js';
import { LEAST_BASE, splitGas } from '../evm/resource-prices.js';
import { RunBudget, type RunLimits } from '../evm/run-budget.js';
import { StateOverlay } from '../evm/state-overlay.js';
import { simulateTransaction } from '../evm/transaction.js';
import { dataFloorGas, intrinsicGas, maxInitCodeBytes, requireTypeInForce } from '../evm/transaction-checks.js';
import type { GasSplit, Leniency, TransactionOutcome } from '../evm/transaction-message.js';
import type { Prices } from '../fees/prices.js';
import { payingGasPrice, priorityFeePerGas } from '../fees/pricing.js';
import { encodeForSizing } from '../fees/transaction-bytes.js';
import { UNCOUNTED_MODULES } from '../networks/module-limits.js';
import { type Network, rollupOf } from '../networks/network.js';
import { equalBytes } from '../primitives/bytes.js';
import type { CheckName } from './check-table.js';
import {
  type CompleteTransaction,
  type Conditions,
  capOf,
  type DiagnosedTransaction,
  type DiagnosisParts,
  hasLayerOnePool,
  hasLineLimits,
  isComplete,
  signedBytes,
} from './diagnosed.js';
import { compared, type Finding, refusedBy, tried, unknown } from './diagnosis.js';
import {
  accountPoolChecks,
  blobChecks,
  costOf,
  fundsWithPending,
  poolChecks,
  raisedPrice,
  waitingChecks,
} from './layer-one-checks.js';

/** What all checks of a transaction found, and the limits of the prover that were counted. */
export interface Findings {
  readonly findings: readonly Finding[];
  readonly lines: readonly LineCount[];
}

/** The subject of the checks. */
export interface CheckedTransaction {
  readonly candidate: DiagnosedTransaction;
  /** Or why it could not be read. */
  readonly conditions: Conditions | string;
  /** What an estimate showed already. */
  readonly failing?: readonly Finding[];
  /** Why the gas limit or the prices of a call could not be filled in. */
  readonly reason?: string;
}

const BLOBS = 3;
/** Checks that every transaction has and that need more than the profile. */
const ALWAYS = ['type', 'gas-minimum', 'block-gas-limit', 'nonce-used', 'sender', 'funds', 'execution'] as const;
const ALWAYS_OF_ROLLUPS = ['gas-limit', 'base-fee'] as const;
const ALWAYS_ON_LAYER_ONE = ['least-price', 'fee-cap'] as const;

/** All checks that apply to a transaction. Those that cannot be made are unknown. */
export async function allChecks(
  parts: DiagnosisParts,
  { candidate, conditions, failing = [], reason }: CheckedTransaction,
  limits: ChainCall,
): Promise<Findings> {
  const { network } = parts.chain;
  const isLayerOne = hasLayerOnePool(parts.chain);
  const margins = marginsOf(parts, candidate);
  const made = [...profileChecks(candidate, network)];
  made.push(...(isLayerOne ? poolChecks(candidate) : await rollupPoolChecks(parts, candidate)));
  let lines: readonly LineCount[] = [];
  if (typeof conditions !== 'string') {
    made.push(...(await accountChecks(parts, candidate, conditions)));
    if (isComplete(candidate)) {
      const priced = await pricedChecks(parts, candidate, conditions, margins, limits);
      made.push(...priced.findings);
      lines = priced.lines;
    }
  }
  const names = new Set(made.map(({ check }) => check));
  const expected: CheckName[] = [
    ...ALWAYS,
    ...(isLayerOne ? ALWAYS_ON_LAYER_ONE : ALWAYS_OF_ROLLUPS),
    ...margins.keys(),
    ...(hasLineLimits(parts.chain) ? (['line-counts'] as const) : []),
  ];
  const estimated = failing.filter(({ check }) => !names.has(check));
  for (const { check } of estimated) names.add(check);
  const missing = expected.filter((check) => !names.has(check));
  const why = typeof conditions === 'string' ? conditions : (reason ?? 'the gas limit or the price is not known');
  return { findings: [...made, ...estimated, ...unknown(missing, why)], lines };
}

/**
 * The margins over cost that apply, by check. A devnet includes what its pool takes, whatever the profile says of block building;
 * blobs are not sized.
 */
function marginsOf({ chain }: DiagnosisParts, { type }: DiagnosedTransaction): ReadonlyMap<CheckName, number> {
  const { network, kind } = chain;
  if (hasLayerOnePool(chain)) return new Map();
  const { pool, blockMargin } = network;
  const rows: [CheckName, number | undefined][] = [
    ['pool-price', pool?.margin],
    ['block-price', kind === 'devnet' ? undefined : blockMargin],
    ['used-price', kind === 'devnet' ? undefined : blockMargin],
  ];
  return new Map(rows.filter((row): row is [CheckName, number] => type !== BLOBS && row[1] !== undefined));
}

async function accountChecks(
  { chain }: DiagnosisParts,
  candidate: DiagnosedTransaction,
  conditions: Conditions,
): Promise<readonly Finding[]> {
  const sender = await tried(() => senderCheck(candidate, conditions));
  return [
    ...(await blockChecks(candidate, conditions, chain.network)),
    ...nonceChecks(candidate, conditions, chain),
    ...(typeof sender === 'string' ? unknown(['sender'], sender) : [sender]),
    replacementCheck(candidate, conditions, chain),
    ...(hasLayerOnePool(chain)
      ? [...blobChecks(candidate, conditions), ...accountPoolChecks(candidate, conditions)]
      : []),
  ];
}

async function pricedChecks(
  parts: DiagnosisParts,
  candidate: CompleteTransaction,
  conditions: Conditions,
  margins: ReadonlyMap<CheckName, number>,
  limits: ChainCall,
): Promise<Findings> {
  const { chain, estimator } = parts;
  const { network } = chain;
  const size = margins.size === 0 ? '' : await tried(() => sizeOf(candidate, estimator, network));
  const run = await tried(() => executed(candidate, conditions, network, limits));
  const priced = (check: CheckName, gas: bigint | string): readonly Finding[] => {
    const margin = margins.get(check);
    if (margin === undefined) return [];
    const missing = [size, gas].find((value) => typeof value === 'string');
    if (typeof size === 'string' || typeof gas === 'string') return unknown([check], String(missing));
    if (gas === 0n) return unknown([check], 'the gas limit is zero');
    return [marginCheck(check, candidate, { network, ...conditions }, size, { gas, margin })];
  };
  const pool = hasLayerOnePool(chain)
    ? [fundsWithPending(candidate, conditions), ...waitingChecks(candidate, conditions)]
    : [baseFeeCheck(candidate, conditions), fundsCheck(candidate, conditions)];
  const findings = [
    ...pool,
    ...priced('pool-price', candidate.gasLimit),
    ...priced('block-price', candidate.gasLimit),
    ...priced('used-price', typeof run === 'string' ? run : run.outcome.gasUsed),
  ];
  if (typeof run !== 'string') {
    const lines = hasLineLimits(parts.chain) ? run.lines : [];
    return { findings: [...findings, ...run.findings, ...lineChecks(lines)], lines };
  }
  const executing: CheckName[] = [
    'execution',
    ...(conditions.rules.amsterdam ? (['state-gas'] as const) : []),
    ...(hasLineLimits(parts.chain) ? (['line-counts'] as const) : []),
  ];
  return { findings: [...findings, ...unknown(executing, run)], lines: [] };
}

/** The pool of a devnet is known. */
const isDevnet = ({ kind }: Chain) => kind === 'devnet';

/** Checks of the nonce. geth's pool has no limit of the distance. */
function nonceChecks(
  { nonce }: DiagnosedTransaction,
  { sender, pending }: Conditions,
  chain: Chain,
): readonly Finding[] {
  if (nonce === undefined) return [];
  const next = sender.nonce;
  const used = [compared('nonce-used', nonce, next)];
  if (!hasLayerOnePool(chain) && nonce >= next) used.push(compared('nonce-distance', nonce, next + MAX_NONCE_DISTANCE));
  if (used.some(({ outcome }) => outcome === 'fails')) return used;
  const known = new Set(pending.map((transaction) => transaction.nonce));
  let missing = next;
  while (missing < nonce && known.has(missing)) missing++;
  const reason = 'of the transactions before it, this node knows only those that it sent itself';
  return [...used, compared('nonce-gap', nonce, missing, missing === nonce || isDevnet(chain) ? {} : { reason })];
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
function fundsCheck(candidate: CompleteTransaction, { sender }: Conditions): Finding {
  const needed = costOf(candidate);
  return compared('funds', sender.balance, needed, { remedy: String(needed - sender.balance) });
}

/** A pending transaction with the same nonce is replaced only for higher prices. */
function replacementCheck(candidate: DiagnosedTransaction, { pending }: Conditions, chain: Chain): Finding {
  const { hash, nonce } = candidate;
  const held = pending.find((other) => other.nonce === nonce && (hash === undefined || !equalBytes(other.hash, hash)));
  if (held === undefined) {
    const reason = 'this node does not see the transactions that are pending on the network';
    return { check: 'replacement', ...(isDevnet(chain) ? { outcome: 'ok' } : { outcome: 'unknown', reason }) };
  }
  const byGeth = hasLayerOnePool(chain);
  const raised = (price: bigint) =>
    byGeth ? raisedPrice(candidate, price) : (price * (100n + PRICE_BUMP) + 99n) / 100n;
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
    ...(byGeth && held.type === BLOBS
      ? [{ name: 'maxFeePerBlobGas', offered: candidate.maxFeePerBlobGas, of: held.maxFeePerBlobGas }]
      : []),
  ];
  const findings = prices.map(({ name, offered = 0n, of = 0n }) =>
    compared('replacement', offered, raised(of), { remedy: `${name} to at least ${raised(of)} wei` }),
  );
  return findings.find(({ outcome }) => outcome === 'fails') ?? findings[0]!;
}

/** A run in the next block, what it shows, and what it counts of the limits of the prover, alone in a block. */
interface CountedRun {
  readonly outcome: TransactionOutcome;
  readonly findings: readonly Finding[];
  readonly lines: readonly LineCount[];
}

/**
 * Runs the transaction in the next block, after nothing else. What the other checks judge is left to them: nonce, price, balance,
 * kind of sender.
 *
 * @returns why it cannot run, if so
 */
async function executed(
  candidate: CompleteTransaction,
  { context, state, rules }: Conditions,
  network: Network,
  limits: RunLimits,
): Promise<CountedRun | string> {
  const { amsterdam } = rules;
  if (splitGas(candidate.gasLimit, amsterdam).execution > network.rpcGasCap)
    return `it was not executed: its gas limit is above ${network.rpcGasCap}, the most for a simulated run`;
  const machine = Machine.open(network, context, new StateOverlay(state));
  const leniency: Leniency = {
    nonce: 'any',
    lowPrice: true,
    unfunded: true,
    contractSender: true,
    gasAboveCap: !amsterdam,
  };
  const budget = new RunBudget(limits);
  const run: Run = (gasLimit, split) =>
    simulateTransaction(machine, { ...candidate, gasLimit }, { leniency, budget, split });
  try {
    const outcome = await simulateTransaction(machine, candidate, { leniency, counting: true, budget });
    const { logs, counts = {} } = outcome;
    const lines = lineCounts({ signedBytes: signedBytes(candidate).length, logs, counts }, network);
    const findings = amsterdam
      ? await gasKindChecks(run, candidate.gasLimit, context.gasLimit, outcome)
      : [outcomeCheck(outcome)];
    return { outcome, lines, findings };
  } catch (error) {
    if (!isPlumblineError(error, 'TRANSACTION_REJECTED') && !isPlumblineError(error, 'INSUFFICIENT_FUNDS')) throw error;
    return `it was not executed: ${error.message}`;
  } finally {
    machine.close();
  }
}

function outcomeCheck(outcome: TransactionOutcome, more = ''): Finding {
  if (outcome.succeeded) return { check: 'execution', outcome: 'ok' };
  return { check: 'execution', outcome: 'fails', reason: `${callFailureOf(outcome).message}${more}` };
}

/** Runs the transaction with another gas limit. */
type Run = (gasLimit: bigint, split?: GasSplit) => Promise<TransactionOutcome>;

/**
 * Which kind of gas a failed run lacks, from Amsterdam on. A run with the execution gas of its limit and ample state gas shows it: if that
 * succeeds, it was state gas, wherever in the transaction it ran out. Then the least limit that is enough is searched.
 *
 * @param most - gas limit of a block
 * @param outcome - of the run with `gasLimit`
 * @source docs/spec/amsterdam.md 2, 3
 */
async function gasKindChecks(
  run: Run,
  gasLimit: bigint,
  most: bigint,
  outcome: TransactionOutcome,
): Promise<readonly Finding[]> {
  const check = 'state-gas';
  const usedBy = ({ executionGas, stateGas }: TransactionOutcome | GasEstimate) => ({ executionGas, stateGas });
  if (outcome.succeeded)
    return [{ check, outcome: 'ok', found: gasLimit, used: usedBy(outcome) }, outcomeCheck(outcome)];
  const ample = transactionGasCap({ osaka: true, amsterdam: true })!;
  const { execution } = splitGas(gasLimit, true);
  const tries = await tried(async () => ({
    withMore: (await run(ample, { execution, reservoir: ample - execution })).succeeded,
    enough: await leastLimit(run, most < ample ? most : ample),
  }));
  if (typeof tries === 'string') return [...unknown([check], tries), outcomeCheck(outcome)];
  const { withMore, enough } = tries;
  if (!withMore) {
    if (enough === undefined) return [{ check, outcome: 'ok', found: gasLimit }, outcomeCheck(outcome)];
    const rest: Finding =
      enough.stateGas > 0n
        ? { check, outcome: 'unknown', found: gasLimit, reason: 'execution gas is missing too' }
        : { check, outcome: 'ok', found: gasLimit };
    return [rest, outcomeCheck(outcome, `; with a gas limit of ${enough.gasLimit} it succeeds`)];
  }
  const reason = 'with the same execution gas and more state gas it succeeds';
  const failing = { check, outcome: 'fails', found: gasLimit, reason } as const;
  const finding: Finding =
    enough === undefined
      ? { ...failing, remedy: `Split it: the ${most} of a block are not enough` }
      : {
          ...failing,
          needed: enough.gasLimit,
          used: usedBy(enough),
          remedy: `Its gas limit is ${gasLimit}, and ${enough.gasLimit} is enough`,
        };
  return [finding, outcomeCheck(outcome)];
}

/** The least gas limit that is enough: a run with one less failed. Undefined if `most` is not enough. */
async function leastLimit(run: Run, most: bigint): Promise<GasEstimate | undefined> {
  try {
    return await exactSearch(run, { ceiling: most, plain: false, least: LEAST_BASE });
  } catch (error) {
    if (isPlumblineError(error, 'EXECUTION_REVERTED') || isPlumblineError(error, 'EXECUTION_FAILED')) return undefined;
    throw error;
  }
}

/** The limit that is exceeded most, or that the transaction comes nearest to; and that others cannot be counted. */
export function lineChecks(lines: readonly LineCount[]): readonly Finding[] {
  const share = ({ count, limit }: LineCount) => (count === 0 ? 0 : count / limit);
  const nearest = [...lines].sort((a, b) => share(b) - share(a))[0];
  if (nearest === undefined) return [];
  const { module, count, limit } = nearest;
  const reason = `only the arithmetization of the network counts ${UNCOUNTED_MODULES.length} more modules, such as HUB`;
  return [
    {
      check: 'line-counts',
      outcome: count <= limit ? 'ok' : 'fails',
      found: BigInt(count),
      needed: BigInt(limit),
      reason: module,
    },
    { check: 'uncounted-lines', outcome: 'unknown', reason },
  ];
}

/** A compressed size in bytes, and the bounds between which it certainly is. */
export interface SizeRange {
  readonly least: number;
  readonly likely: number;
  readonly most: number;
}

const USABLE_BITS = 254;
const PACKED_BYTES = 32;
/** Bytes of the compressor's header. */
const HEADER_BYTES = 3;

/**
 * The compressed size of a transaction. With another dictionary than the network's own it is an approximation, and the bounds are
 * those of any dictionary: one packed element, and the bytes as they are.
 *
 * @source docs/spec/compression.md 6
 */
export async function sizeOf(
  candidate: CompleteTransaction,
  estimator: Estimator,
  network: Network,
): Promise<SizeRange> {
  const bytes = network.sizing === 'signed' ? signedBytes(candidate) : encodeForSizing(candidate);
  const likely = (await estimator.sizer()).compressedTxSize(bytes);
  if (estimator.dictionary.networkOwn || network.dictionary === undefined)
    return { least: likely, likely, most: likely };
  const most = PACKED_BYTES * Math.ceil((8 * (bytes.length + HEADER_BYTES)) / USABLE_BITS);
  return { least: PACKED_BYTES, likely, most };
}

/** The price against the base fee of the next block. */
export function baseFeeCheck(candidate: CompleteTransaction, { context: { baseFeePerGas } }: Conditions): Finding {
  const remedy = remedyFor(candidate, baseFeePerGas, baseFeePerGas);
  return compared('base-fee', capOf(candidate) ?? 0n, baseFeePerGas, { remedy });
}

/**
 * The price against the cost of the transaction times a margin (docs/spec/fees.md 2.1).
 *
 * @param gas - the gas limit, or in `used-price` the gas that it uses; above zero
 */
export function marginCheck(
  check: CheckName,
  candidate: CompleteTransaction,
  on: { readonly network: Network; readonly context: Conditions['context']; readonly prices: Prices },
  size: SizeRange,
  { gas, margin }: { readonly gas: bigint; readonly margin: number },
): Finding {
  const baseFee = on.context.baseFeePerGas;
  const { gasPrice, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = candidate;
  const offer = gasPrice !== undefined ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas };
  const found = payingGasPrice(offer, baseFee);
  const at = (compressedTxSize: number): Finding => {
    const fee = priorityFeePerGas(rollupOf(on.network).pricing, on.prices, { gas, compressedTxSize, baseFee }, margin);
    const needed = baseFee + fee;
    return compared(check, found, needed, { remedy: remedyFor(candidate, needed, baseFee) });
  };
  const [least, most] = [at(size.least), at(size.most)];
  if (most.outcome === 'ok') return most;
  if (least.outcome === 'fails') return at(size.likely);
  const reason =
    'the compressed size is an approximation without the dictionary of the network, and the price is near the limit';
  const { remedy: _, ...likely } = at(size.likely);
  return { ...likely, outcome: 'unknown', reason };
}

/** Which prices have to be raised, and to what. */
function remedyFor(
  { gasPrice, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: CompleteTransaction,
  needed: bigint,
  baseFee: bigint,
) {
  if (gasPrice !== undefined) return `gasPrice to at least ${needed} wei`;
  const fee = needed - baseFee;
  const parts = [
    ...(maxFeePerGas < needed ? [`maxFeePerGas to at least ${needed} wei`] : []),
    ...(maxPriorityFeePerGas < fee ? [`maxPriorityFeePerGas to at least ${fee} wei`] : []),
  ];
  return parts.join(' and ');
}

/** Checks that need nothing but the transaction and the chain id of the profile. */
function profileChecks(candidate: DiagnosedTransaction, network: Network): readonly Finding[] {
  const { chainId, maxFeePerGas, maxPriorityFeePerGas, raw, impersonated } = candidate;
  const findings: Finding[] = [];
  if (raw !== undefined && impersonated !== true)
    findings.push({ check: 'encoding', outcome: 'ok' }, { check: 'signature', outcome: 'ok' });
  if (chainId !== undefined) findings.push(compared('chain-id', chainId, network.chainId));
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined)
    findings.push(compared('priority-fee', maxPriorityFeePerGas, maxFeePerGas));
  return findings;
}

/** Limits of the profile, which the pool of a rollup or a devnet has. */
async function rollupPoolChecks(
  { chain }: DiagnosisParts,
  candidate: DiagnosedTransaction,
): Promise<readonly Finding[]> {
  const { network } = chain;
  const { data, gasLimit, to } = candidate;
  const findings = [
    isDevnet(chain) || network.pool?.deniedAddresses !== undefined
      ? await refusedBy('denied', () => checkDenied(candidate, network))
      : unknown(['denied'], 'the profile has no list of the addresses that the network refuses')[0]!,
    await refusedBy('recipient', () => requireRecipient({ to })),
    compared('calldata', data.length, network.calldataLimit),
  ];
  if (gasLimit !== undefined) findings.push(compared('gas-limit', gasLimit, network.txGasLimit));
  return findings;
}

/** Rules of the fork and of the next block. */
export async function blockChecks(
  candidate: DiagnosedTransaction,
  { rules, context }: Conditions,
  network: Network,
): Promise<readonly Finding[]> {
  const { type, to, data, gasLimit, blobVersionedHashes } = candidate;
  const findings = [
    await refusedBy('type', () => {
      requireTypeAccepted(candidate, network);
      requireTypeInForce(candidate, rules);
    }).then((finding): Finding => ({ ...finding, found: BigInt(type) })),
  ];
  if (to === undefined && rules.shanghai) findings.push(compared('init-code', data.length, maxInitCodeBytes(rules)));
  const message = { ...candidate, gasLimit: gasLimit ?? 0n, nonce: 0n, blobVersionedHashes };
  const [intrinsic, floor] = [intrinsicGas(message, rules), dataFloorGas(message, rules)];
  const minimum = intrinsic > floor ? intrinsic : floor;
  if (rules.amsterdam) findings.push(compared('intrinsic-cap', minimum, TRANSACTION_GAS_CAP));
  if (gasLimit === undefined) return findings;
  findings.push(compared('gas-minimum', gasLimit, minimum), compared('block-gas-limit', gasLimit, context.gasLimit));
  const cap = transactionGasCap(rules);
  const reason = rules.amsterdam ? 'EIP-8037' : 'EIP-7825';
  if (cap !== undefined) findings.push(compared('gas-cap', gasLimit, cap, gasLimit > cap ? { reason } : {}));
  return findings;
}
