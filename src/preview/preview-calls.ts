import { authorityOf } from '../evm/authority.js';
import type { BlockContext } from '../evm/block-context.js';
import { rulesAt } from '../evm/common.js';
import { placedPrecompiles } from '../evm/machine.js';
import { precompileOverrides, withOverrides } from '../evm/overrides.js';
import { ReadCache, type StateReader } from '../evm/state-reader.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { approvalsOf, warnOfApprovals } from './approvals.js';
import { balancesOf, withTrueWrapping } from './balances.js';
import { contractsOf, warnOfNoCode, warnOfUpgrades } from './contracts.js';
import { customErrors, revertOf } from './custom-errors.js';
import type { Inspection } from './inspection.js';
import type {
  Approval,
  BalanceChange,
  OwnerChange,
  PreviewedCall,
  PreviewedChanges,
  PreviewWarning,
  TokenName,
  Transfer,
  Warn,
} from './preview.js';
import { openProbes, type Probes, tokenName } from './probes.js';
import {
  differingEnds,
  environmentReads,
  looksForSimulation,
  type MessageOf,
  type PreviewBase,
  type Ran,
  runCalls,
  statusOf,
} from './run-calls.js';
import { transfersOf } from './transfers.js';

/**
 * Runs calls in order, each on the state that the one before left, and says what they change. Nothing is kept. A call that
 * reverts is a result, and the next one runs all the same.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED` and `INSUFFICIENT_FUNDS` for a call that could not be sent,
 *   `GAS_BUDGET_EXCEEDED`, `ANSWER_TOO_LARGE`, `PREVIEW_TOO_LARGE`, `ABORTED`, and errors of reading the state
 * @source docs/spec/preview.md 7 to 9
 */
export async function previewCalls(base: PreviewBase, count: number, messageOf: MessageOf): Promise<PreviewedChanges> {
  const { network, block, budget, overrides = [] } = base;
  const state = ReadCache.over(withOverrides(base.state, overrides));
  const size = { characters: 0 };
  const ran = await runCalls(base, { block, state, size }, count, messageOf);
  const probes = openProbes({ network, block, before: state, after: ran.at(-1)?.after ?? state, budget });
  const grow = (characters: number) => {
    size.characters += characters;
    budget.requireRoom(size.characters);
  };
  try {
    return await inspect(base, ran, state, { probes, pause: budget.pause, grow });
  } finally {
    probes.close();
  }
}

/** What calls that ran changed. @param before - the state before them */
async function inspect(
  base: PreviewBase,
  ran: readonly Ran[],
  before: StateReader,
  inspection: Inspection,
): Promise<PreviewedChanges> {
  const { network, block, watch = [], errors = [], overrides = [] } = base;
  const { probes } = inspection;
  const after = ran.at(-1)?.after ?? before;
  const authorities = await authoritiesOf(ran);
  const users = [...new Set([...ran.map(({ message }) => bytesToHex(message.from)), ...authorities.keys(), ...watch])];

  const warnings = new Map<string, PreviewWarning>();
  const warn: Warn = (warning) => void warnings.set(JSON.stringify(warning), warning);
  const claimed: Transfer[][] = [];
  for (const { tree } of ran) claimed.push(await transfersOf(tree, inspection, warn));
  const transfers = await withTrueWrapping(claimed, probes);
  const approvals: Approval[][] = [];
  for (const { tree } of ran) approvals.push(await approvalsOf(tree, inspection));
  const sources = { before, after, probes, users, costs: costsOf(ran, block), written: writtenBy(ran), warn };
  const allTransfers = joined(transfers);
  const allApprovals = joined(approvals);
  const balances = await balancesOf(allTransfers, sources);
  warnOfApprovals(allApprovals, allTransfers, warn);

  const rules = rulesAt(network, block.number, block.timestamp);
  const destroysAll = !rules.cancun;
  const known = customErrors(errors);
  const calls: PreviewedCall[] = [];
  for (const [i, one] of ran.entries()) {
    const { outcome, tree } = one;
    const contracts = await contractsOf(one, authorities, destroysAll);
    warnOfUpgrades(contracts, warn);
    const call: PreviewedCall = {
      status: statusOf(outcome),
      gasUsed: toQuantity(outcome.gasUsed),
      transfers: transfers[i]!,
      approvals: approvals[i]!,
      contracts,
      tree,
    };
    calls.push(outcome.succeeded ? call : { ...call, revert: revertOf(outcome, known) });
  }
  const reads = environmentReads(ran.reduce((all, { outcome }) => all | (outcome.environment ?? 0n), 0n));
  if (looksForSimulation(reads))
    for (const call of await differingEnds(base, before, ran)) warn({ code: 'environment-dependent', call });
  const precompiles = placedPrecompiles(rules, precompileOverrides(overrides));
  for (const one of ran) await warnOfNoCode(one, precompiles, warn);
  return {
    calls,
    balances,
    tokens: await tokensOf(allApprovals, balances, probes),
    warnings: [...warnings.values()],
    users,
    fees: feesOf(ran),
    environmentReads: reads,
  };
}

/** The items of all lists. `flat` takes ten times as long. */
const joined = <Item>(lists: readonly (readonly Item[])[]): Item[] => ([] as Item[]).concat(...lists);

/** Accounts of the authorizations, valid or not, with whether one of them counts on every chain. */
async function authoritiesOf(ran: readonly Ran[]): Promise<Map<Hex, boolean>> {
  const authorities = new Map<Hex, boolean>();
  for (const { message } of ran) {
    for (const authorization of message.authorizationList ?? []) {
      const address = await authorityOf(authorization);
      if (address === undefined) continue;
      const key = bytesToHex(address);
      authorities.set(key, authorities.get(key) === true || authorization.chainId === 0n);
    }
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
  const written = new Set<Hex>();
  for (const { changes } of ran)
    for (const { address, slots } of changes) if (slots.length > 0) written.add(bytesToHex(address));
  return [...written];
}

async function tokensOf(
  approvals: readonly Approval[],
  balances: readonly (BalanceChange | OwnerChange)[],
  probes: Probes,
): Promise<Record<Hex, TokenName>> {
  const tokens: Record<Hex, TokenName> = {};
  const add = async (token: Hex) => {
    tokens[token] ??= await tokenName(probes, token);
  };
  for (const { asset } of balances) if ('address' in asset) await add(asset.address);
  for (const { token } of approvals) await add(token);
  return tokens;
}
