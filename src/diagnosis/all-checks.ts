import type { ChainCall } from '../chain/chain.js';
import type { LineCount } from '../estimate/line-counts.js';
import { fundsCheck, nonceChecks, replacementCheck, senderCheck } from './account-checks.js';
import type { CheckName } from './check-table.js';
import type { Conditions, DiagnosisParts } from './conditions.js';
import { type CompleteTransaction, type DiagnosedTransaction, isComplete } from './diagnosed-transaction.js';
import { executed, lineChecks, outcomeCheck } from './execution-checks.js';
import { type Finding, tried, unknown } from './finding.js';
import { baseFeeCheck, marginCheck, sizeOf } from './price-checks.js';
import { blockChecks, profileChecks } from './rule-checks.js';

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
const ALWAYS = [
  'type',
  'gas-limit',
  'gas-minimum',
  'block-gas-limit',
  'base-fee',
  'nonce-used',
  'sender',
  'funds',
  'execution',
] as const;

/** All checks that apply to a transaction. Those that cannot be made are unknown. */
export async function allChecks(
  parts: DiagnosisParts,
  { candidate, conditions, failing = [], reason }: CheckedTransaction,
  limits: ChainCall,
): Promise<Findings> {
  const { network, kind } = parts.chain;
  const margins = marginsOf(parts, candidate);
  const made = [...(await profileChecks(candidate, network, kind === 'devnet'))];
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
    ...margins.keys(),
    ...(network.moduleLimits ? (['line-counts'] as const) : []),
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
function marginsOf(
  { chain: { network, kind } }: DiagnosisParts,
  { type }: DiagnosedTransaction,
): ReadonlyMap<CheckName, number> {
  const { pool, blockMargin } = network;
  const rows: [CheckName, number | undefined][] = [
    ['pool-price', pool?.margin],
    ['block-price', kind === 'devnet' ? undefined : blockMargin],
    ['used-price', kind === 'devnet' ? undefined : blockMargin],
  ];
  return new Map(rows.filter((row): row is [CheckName, number] => type !== BLOBS && row[1] !== undefined));
}

async function accountChecks(
  { chain: { network, kind } }: DiagnosisParts,
  candidate: DiagnosedTransaction,
  conditions: Conditions,
): Promise<readonly Finding[]> {
  const isDevnet = kind === 'devnet';
  const { nonce } = candidate;
  const sender = await tried(() => senderCheck(candidate, conditions));
  return [
    ...(await blockChecks(candidate, conditions, network)),
    ...(nonce === undefined ? [] : nonceChecks(nonce, conditions, isDevnet)),
    ...(typeof sender === 'string' ? unknown(['sender'], sender) : [sender]),
    replacementCheck(candidate, conditions, isDevnet),
  ];
}

async function pricedChecks(
  { chain: { network }, estimator }: DiagnosisParts,
  candidate: CompleteTransaction,
  conditions: Conditions,
  margins: ReadonlyMap<CheckName, number>,
  limits: ChainCall,
): Promise<Findings> {
  const size = await tried(() => sizeOf(candidate, estimator, network));
  const run = await tried(() => executed(candidate, conditions, network, limits));
  const priced = (check: CheckName, gas: bigint | string): readonly Finding[] => {
    const margin = margins.get(check);
    if (margin === undefined) return [];
    const missing = [size, gas].find((value) => typeof value === 'string');
    if (typeof size === 'string' || typeof gas === 'string') return unknown([check], String(missing));
    if (gas === 0n) return unknown([check], 'the gas limit is zero');
    return [marginCheck(check, candidate, { network, ...conditions }, size, { gas, margin })];
  };
  const findings = [
    baseFeeCheck(candidate, conditions),
    fundsCheck(candidate, conditions),
    ...priced('pool-price', candidate.gasLimit),
    ...priced('block-price', candidate.gasLimit),
    ...priced('used-price', typeof run === 'string' ? run : run.outcome.gasUsed),
  ];
  if (typeof run !== 'string')
    return { findings: [...findings, outcomeCheck(run.outcome), ...lineChecks(run.lines)], lines: run.lines };
  const executing =
    network.moduleLimits === undefined ? (['execution'] as const) : (['execution', 'line-counts'] as const);
  return { findings: [...findings, ...unknown(executing, run)], lines: [] };
}
