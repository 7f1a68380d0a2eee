import { parseGenesis } from '../src/chain/devnet/state/genesis-json.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import { RunBudget } from '../src/evm/run-budget.js';
import type { PreviewedChanges } from '../src/preview/preview.js';
import { previewCalls } from '../src/preview/preview-calls.js';
import { hexToBytes } from '../src/primitives/hex.js';
import { AllocState } from './alloc-state.js';
import type { Area } from './area.js';
import { contextOfScenario, type Genesis, SCENARIOS, type Scenario, scenarioFiles, wholeKeys } from './scenario.js';

/** What previews say of transactions whose effects were worked out twice by other programs. */
export const previewsArea: Area = {
  name: 'previews',
  usesKernel: true,
  files: scenarioFiles,
  async run(material, report) {
    await loadSignerRecovery();
    const files = scenarioFiles(material);
    if (files.length === 0) return;
    const genesis = material.json<Genesis>(`${SCENARIOS}/genesis.json`);
    for (const path of files) {
      const { block, transactions, expected } = material.json<Scenario>(path);
      await report.check(path, async () => {
        const { network } = parseGenesis(genesis);
        const base = {
          network,
          block: contextOfScenario(block),
          state: new AllocState(wholeKeys(genesis.alloc)),
          budget: new RunBudget(),
        };
        const preview = await previewCalls(base, transactions.length, async (i) =>
          parseSignedTransaction(hexToBytes(transactions[i]!.raw), network.chainId),
        );
        const reads = [...new Set(transactions.flatMap(({ environmentReads }) => environmentReads))];
        const wanted = { ...expected, environmentReads: reads.sort() };
        return difference(wanted, JSON.parse(JSON.stringify(said(preview))));
      });
    }
  },
};

/** Codes of warnings that there were when the scenarios were made. */
const CODES: readonly string[] = [
  'balance-differs',
  'silent-change',
  'balance-unreadable',
  'owner-differs',
  'unknown-transfer',
  'approval-differs',
  'silent-approval',
  'unlimited-approval',
  'operator-approval',
  'silent-upgrade',
];

/** What a scenario can have of a preview. The tree is compared in the area of tracers. */
function said({ calls, environmentReads, warnings, ...rest }: PreviewedChanges) {
  return {
    ...rest,
    warnings: warnings.filter(({ code }) => CODES.includes(code)),
    environmentReads: [...environmentReads].sort(),
    calls: calls.map(({ tree: _, contracts, approvals, ...call }) => ({
      ...call,
      approvals: approvals.filter(({ kind }) => kind !== 'right'),
      // An authorization that changed nothing was not listed.
      contracts: contracts.filter((one) => one.event !== 'delegated' || one.before !== one.after),
    })),
  };
}

/** Lists that are sets. */
const SETS = ['approvals', 'contracts', 'balances', 'warnings', 'users'];

/**
 * How a preview differs from a scenario. The members that the scenario has are compared.
 *
 * @returns undefined if it does not
 */
function difference(wanted: unknown, found: unknown, name = ''): string | undefined {
  if (typeof wanted !== 'object' || wanted === null)
    return wanted === found ? undefined : `${name} ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length)
      return `${name} ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`;
    const left = [...(found as unknown[])];
    for (const [i, one] of wanted.entries()) {
      const isSet = SETS.some((set) => name.endsWith(set));
      const at = isSet ? left.findIndex((other) => difference(one, other) === undefined) : 0;
      const differs =
        at < 0
          ? `${name} has no ${JSON.stringify(one)}: ${JSON.stringify(left)}`
          : difference(one, left[at], `${name}[${i}]`);
      if (differs !== undefined) return differs;
      left.splice(at, 1);
    }
    return undefined;
  }
  for (const [member, value] of Object.entries(wanted)) {
    const differs = difference(value, (found as Record<string, unknown> | undefined)?.[member], `${name}.${member}`);
    if (differs !== undefined) return differs;
  }
  return undefined;
}
