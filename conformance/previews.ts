import { parseGenesis } from '../src/chain/devnet/state/genesis-json.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import { RunBudget } from '../src/evm/run-budget.js';
import type { PreviewedChanges } from '../src/preview/preview.js';
import { previewCalls } from '../src/preview/preview-calls.js';
import { hexToBytes } from '../src/primitives/hex.js';
import { AllocState } from './alloc-state.js';
import type { Area } from './area.js';
import { differsDeep } from './differs-deep.js';
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
        return differsDeep(comparable(wanted), comparable(said(preview)));
      });
    }
  },
};

/** The members that a scenario has, too. The tree is compared in the area of tracers. */
function said({ calls, environmentReads, warnings, ...rest }: PreviewedChanges) {
  return {
    ...rest,
    // The scenarios are older than this warning: test/rpc has its own.
    warnings: warnings.filter(({ code }) => code !== 'no-code'),
    environmentReads: [...environmentReads].sort(),
    calls: calls.map(({ tree: _, revert, approvals, ...call }) => ({
      ...call,
      ...(revert !== undefined && { revert: revert.kind === 'Panic' ? { ...revert, text: undefined } : revert }),
      approvals: approvals.map((one) => ({ ...one, genuine: undefined })),
    })),
  };
}

/** Lists that are sets, in one order. */
const SETS = ['approvals', 'contracts', 'balances', 'warnings', 'users'];

function comparable(value: unknown): unknown {
  const text = (one: unknown) =>
    JSON.stringify(
      one,
      Object.keys(one as object)
        .sort()
        .concat('kind', 'address', 'id'),
    );
  return JSON.parse(JSON.stringify(value), (name, inner: unknown) => {
    if (!SETS.includes(name) || !Array.isArray(inner)) return inner;
    return [...inner].sort((a, b) => (text(a) < text(b) ? -1 : 1));
  });
}
