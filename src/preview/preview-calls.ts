import { createdAddress } from '../ethereum/created-address.js';
import type { BlockContext } from '../evm/block-context.js';
import type { SimulationRules } from '../evm/calls/call.js';
import { precompileOverrides, withOverrides } from '../evm/calls/overrides.js';
import { rulesAt } from '../evm/common.js';
import type { RunBudget } from '../evm/interpreter/run-budget.js';
import type { Rehearsal } from '../evm/simulation/simulation.js';
import { ReadCache } from '../evm/state/read-cache.js';
import { type AccountChange, StateOverlay } from '../evm/state/state-overlay.js';
import type { StateReader } from '../evm/state/state-reader.js';
import type { CallFrame } from '../evm/tracing/call-frame.js';
import { callTracer } from '../evm/tracing/call-tracer.js';
import { traceTransaction } from '../evm/tracing/trace-transaction.js';
import { authorityOf } from '../evm/transactions/authority.js';
import type { TransactionMessage, TransactionOutcome } from '../evm/transactions/transaction-message.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { StateOverrides } from '../primitives/state-overrides.js';
import { approvalsOf, approvalWarnings } from './approvals.js';
import { balancesOf, withTrueWrapping } from './balances.js';
import { contractsOf, upgradeWarnings } from './contracts.js';
import { customErrors, type ErrorSignature } from './custom-errors.js';
import { environmentReads, looksForSimulation, otherContext } from './environment.js';
import type {
  Approval,
  BalanceChange,
  OwnerChange,
  PreviewedChanges,
  PreviewWarning,
  TokenName,
  Transfer,
} from './preview.js';
import { openProbes, type Probes, tokenName } from './probes.js';
import { revertOf } from './revert.js';
import { transfersOf } from './transfers.js';

/** Where calls are previewed. */
export interface PreviewGround {
  readonly network: SimulationRules;
  /** Context of the block that the calls would be in. */
  readonly block: BlockContext;
  /** The state before it. */
  readonly state: StateReader;
  readonly overrides?: StateOverrides | undefined;
  readonly budget: RunBudget;
  /** Accounts whose balances are shown besides those of the senders. */
  readonly watch?: readonly Hex[] | undefined;
  /** Errors of contracts that may occur. */
  readonly errors?: readonly ErrorSignature[] | undefined;
  /** Of a preview whose outcome does not count: nothing is paid, and funds and nonces are not checked. */
  readonly rehearsal?: Rehearsal | undefined;
}

/** Gives the transaction of the call with this index, on the state that the calls before it left. */
export type MessageOf = (index: number, state: StateReader) => Promise<TransactionMessage>;

/** A call that ran. */
interface Ran {
  readonly message: TransactionMessage;
  readonly outcome: TransactionOutcome;
  readonly tree: CallFrame;
  readonly before: StateReader;
  readonly after: StateOverlay;
  readonly changes: readonly AccountChange[];
}

/**
 * Runs calls in order, each on the state that the one before left, and says what they change. Nothing is kept. A call that
 * reverts is a result, and the next one runs all the same.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED` and `INSUFFICIENT_FUNDS` for a call that could not be sent,
 *   `GAS_BUDGET_EXCEEDED`, `ANSWER_TOO_LARGE`, `ABORTED`, and errors of reading the state
 * @source docs/spec/preview.md 7 to 9
 */
export async function previewCalls(
  ground: PreviewGround,
  count: number,
  messageOf: MessageOf,
): Promise<PreviewedChanges> {
  const { network, block, budget, overrides = [], watch = [], errors = [] } = ground;
  const before = new ReadCache(withOverrides(ground.state, overrides));
  const ran = await runCalls(ground, block, before, count, messageOf);
  const after = ran.at(-1)?.after ?? before;
  const authorities = await authoritiesOf(ran);
  const users = [...new Set([...ran.map(({ message }) => bytesToHex(message.from)), ...authorities.keys(), ...watch])];

  const warnings = new Map<string, PreviewWarning>();
  const warn = (warning: PreviewWarning) => void warnings.set(JSON.stringify(warning), warning);
  const probes = openProbes({ network, block, before, after, budget });
  const claimed: Transfer[][] = [];
  for (const { tree } of ran) claimed.push(await transfersOf(tree, probes, warn));
  const transfers = await withTrueWrapping(claimed, probes);
  const approvals: Approval[][] = [];
  for (const { tree } of ran) approvals.push(await approvalsOf(tree, probes));
  const sources = { before, after, probes, users, costs: costsOf(ran, block), written: writtenBy(ran), warn };
  const balances = await balancesOf(transfers.flat(), sources);
  for (const warning of approvalWarnings(approvals.flat(), transfers.flat())) warn(warning);

  const destroysAll = !rulesAt(network, block.number, block.timestamp).cancun;
  const known = customErrors(errors);
  const calls: PreviewedChanges['calls'][number][] = [];
  for (const [i, one] of ran.entries()) {
    const { outcome, tree } = one;
    const contracts = await contractsOf({ ...one, authorities, destroysAll });
    for (const warning of upgradeWarnings(contracts)) warn(warning);
    calls.push({
      status: statusOf(outcome),
      gasUsed: toQuantity(outcome.gasUsed),
      ...(!outcome.succeeded && { revert: revertOf(outcome, known) }),
      transfers: transfers[i]!,
      approvals: approvals[i]!,
      contracts,
      tree,
    });
  }
  const reads = environmentReads(ran.reduce((all, { outcome }) => all | (outcome.environment ?? 0n), 0n));
  if (looksForSimulation(reads)) {
    const others = await runCalls(ground, otherContext(block), before, count, async (i) => ran[i]!.message);
    for (const call of differingEnds(ran, others)) warn({ code: 'environment-dependent', call });
  }
  return {
    calls,
    balances,
    tokens: await tokensOf(approvals.flat(), balances, probes),
    warnings: [...warnings.values()],
    users,
    fees: feesOf(ran),
    environmentReads: reads,
  };
}

const FREE = {
  leniency: { nonce: 'any', contractSender: true, gasAboveCap: true, unfunded: true, lowPrice: true },
  baseFeePerGas: 0n,
} as const;

async function runCalls(
  { network, budget, overrides = [], rehearsal }: PreviewGround,
  block: BlockContext,
  state: StateReader,
  count: number,
  messageOf: MessageOf,
): Promise<Ran[]> {
  const ran: Ran[] = [];
  const machine = precompileOverrides(overrides);
  const size = { characters: 0 };
  for (let i = 0; i < count; i++) {
    const before = ran.at(-1)?.after ?? state;
    const after = new StateOverlay(before);
    const message = await messageOf(i, before);
    const place = { network, block, state: after, isKept: true, machine, size };
    const { from, nonce, to } = message;
    rehearsal?.begin(to === undefined ? createdAddress({ from, nonce }) : undefined);
    const run = rehearsal === undefined ? { budget } : { budget, ...FREE };
    const { outcome, result } = await traceTransaction(place, callTracer({ withLog: true }), message, run);
    rehearsal?.ended(outcome.succeeded);
    ran.push({ message, outcome, tree: result as CallFrame, before, after, changes: await after.changes() });
  }
  return ran;
}

const statusOf = ({ succeeded, exception }: TransactionOutcome) =>
  succeeded ? 'success' : exception === 'revert' ? 'reverted' : 'halted';

/** Accounts of the authorizations, valid or not, with whether one of them counts on every chain. */
async function authoritiesOf(ran: readonly Ran[]): Promise<Map<Hex, boolean>> {
  const authorities = new Map<Hex, boolean>();
  for (const authorization of ran.flatMap(({ message }) => message.authorizationList ?? [])) {
    const address = await authorityOf(authorization);
    if (address === undefined) continue;
    const key = bytesToHex(address);
    authorities.set(key, authorities.get(key) === true || authorization.chainId === 0n);
  }
  return authorities;
}

const feeOf = ({ outcome }: Ran) => outcome.gasUsed * outcome.effectiveGasPrice;

/** What each sender paid for gas. */
function feesOf(ran: readonly Ran[]): Record<Hex, Hex> {
  const fees: Record<Hex, Hex> = {};
  for (const one of ran) {
    const from = bytesToHex(one.message.from);
    fees[from] = toQuantity(BigInt(fees[from] ?? 0n) + feeOf(one));
  }
  return fees;
}

/** What accounts paid for gas, less what the coinbase got. */
function costsOf(ran: readonly Ran[], { coinbase, baseFeePerGas }: BlockContext): Map<Hex, bigint> {
  const costs = new Map<Hex, bigint>();
  const add = (account: Hex, wei: bigint) => costs.set(account, (costs.get(account) ?? 0n) + wei);
  for (const one of ran) {
    add(bytesToHex(one.message.from), feeOf(one));
    add(bytesToHex(coinbase), -one.outcome.gasUsed * (one.outcome.effectiveGasPrice - baseFeePerGas));
  }
  return costs;
}

/** Contracts whose storage changed. */
function writtenBy(ran: readonly Ran[]): Hex[] {
  const written = ran.flatMap(({ changes }) => changes.filter(({ slots }) => slots.length > 0));
  return [...new Set(written.map(({ address }) => bytesToHex(address)))];
}

/** Indexes of the calls that end in another way in another run. Gas does not count. */
function differingEnds(ran: readonly Ran[], others: readonly Ran[]): number[] {
  const end = ({ outcome, tree }: Ran) =>
    JSON.stringify([statusOf(outcome), tree], (key, value) => (key.startsWith('gas') ? undefined : value));
  return ran.flatMap((one, i) => (end(one) === end(others[i]!) ? [] : [i]));
}

async function tokensOf(
  approvals: readonly Approval[],
  balances: readonly (BalanceChange | OwnerChange)[],
  probes: Probes,
): Promise<Record<Hex, TokenName>> {
  const assets = balances.flatMap(({ asset }) => ('address' in asset ? [asset.address] : []));
  const tokens: Record<Hex, TokenName> = {};
  for (const token of new Set([...assets, ...approvals.map(({ token }) => token)]))
    tokens[token] = await tokenName(probes, token);
  return tokens;
}
