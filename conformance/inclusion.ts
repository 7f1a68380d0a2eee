import type { Chain } from '../src/chain/chain.js';
import { marginCheck } from '../src/diagnosis/checks.js';
import { diagnose } from '../src/diagnosis/diagnose.js';
import type { CompleteTransaction, DiagnosisParts } from '../src/diagnosis/diagnosed.js';
import { Estimator } from '../src/estimate/estimator.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import type { BlockContext } from '../src/evm/block-context.js';
import { Machine } from '../src/evm/machine.js';
import { StateOverlay } from '../src/evm/state-overlay.js';
import { runTransaction } from '../src/evm/transaction.js';
import { parseExtraData } from '../src/fees/prices.js';
import { linea, lineaSepolia } from '../src/networks/linea.js';
import { hexToBytes } from '../src/primitives/hex.js';
import { allocChain } from './alloc-chain.js';
import { AllocState } from './alloc-state.js';
import { type Area, differs, type Material } from './area.js';
import { Dictionaries } from './compression.js';
import { type RecordedBlock, type RecordedTransaction, recordedContext } from './recorded-block.js';

const PRICES = 'fees/profitability.json';
const DICTIONARY = '25-04-21';

const recordedBlocks = (material: Material) =>
  material.list('blocks', /^linea-.*\.json$/).filter((path) => material.wants(path));

/** A transaction of a recorded block, and a light node's view of the moment before it was included. */
export interface RecordedMoment {
  readonly index: number;
  readonly transaction: RecordedTransaction;
  readonly parts: DiagnosisParts;
}

/** Calls `visit` with each transaction of a recorded block, on the state that those before it left. */
export async function visitRecorded(
  material: Material,
  block: RecordedBlock,
  visit: (moment: RecordedMoment) => Promise<void>,
): Promise<void> {
  await loadSignerRecovery();
  const network = Number(block.chainId) === linea.chainId ? linea : lineaSepolia;
  const context = recordedContext(block);
  const state = new StateOverlay(new AllocState(block.preState));
  const reading = parseExtraData(hexToBytes(block.header.extraData!));
  if (reading.status !== 'prices') throw new Error('the header has no prices');
  const chain: Chain = {
    ...allocChain({ network, state, context, prices: reading.prices }),
    kind: 'light',
    trust: async () => 'plain',
    transaction: async () => undefined,
    pendingTransactions: async () => [],
    pendingTransaction: async () => undefined,
    exclusion: async () => undefined,
  };
  const sizer = await new Dictionaries(material).sizer(DICTIONARY);
  const dictionary = { name: DICTIONARY, sha256: '0x', bytes: new Uint8Array(0), networkOwn: true } as const;
  const parts = { chain, estimator: new Estimator(chain, async () => sizer, dictionary) };
  for (const [index, transaction] of block.transactions.entries()) {
    await visit({ index, transaction, parts });
    const machine = await Machine.open(network, context, state);
    await runTransaction(machine, parseSignedTransaction(hexToBytes(transaction.raw), network.chainId));
    machine.close();
  }
}

interface ProfitabilityCase {
  name: string;
  minMargin: string;
  variableCostWei: string;
  fixedCostWei: string;
  compressedTxSize: number;
  gas: string;
  baseFeeWei: string;
  payingGasPriceWei: string;
  requiredGasPriceWei: string;
  profitable: boolean;
}

/** The check of the price on a row of decisions. */
function judgePrice(row: ProfitabilityCase): string | undefined {
  const context = { baseFeePerGas: BigInt(row.baseFeeWei) } as BlockContext;
  const { compressedTxSize: size } = row;
  const prices = {
    variableCostWei: BigInt(row.variableCostWei),
    fixedCostWei: BigInt(row.fixedCostWei),
    minGasPriceWei: 0n,
  };
  const legacy = { gasPrice: BigInt(row.payingGasPriceWei) } as CompleteTransaction;
  const sizes = { least: size, likely: size, most: size };
  const use = { gas: BigInt(row.gas), margin: Number(row.minMargin) };
  const { outcome, needed } = marginCheck('pool-price', legacy, { network: linea, context, prices }, sizes, use);
  return differs([row.profitable ? 'ok' : 'fails', row.requiredGasPriceWei], [outcome, needed]);
}

/**
 * Decisions on prices, and the diagnosis of every recorded transaction just before the block that included it: it will be.
 */
export const inclusionArea: Area = {
  name: 'fees/inclusion',
  usesKernel: true,
  files: (material) => [...material.both(PRICES), ...recordedBlocks(material)],
  async run(material, report) {
    for (const path of material.both(PRICES)) {
      for (const row of material.json<{ cases: ProfitabilityCase[] }>(path).cases)
        await report.check(row.name, () => judgePrice(row));
    }
    if (recordedBlocks(material).length === 0) return;
    if (!new Dictionaries(material).has(DICTIONARY))
      return report.skip('blocks', `dictionary ${DICTIONARY} is not there`);
    for (const path of recordedBlocks(material)) {
      const block = material.json<RecordedBlock>(path);
      await visitRecorded(material, block, async ({ index, transaction, parts }) => {
        await report.check(`${path} transaction ${index}`, async () => {
          const { verdict, checks } = await diagnose(parts, { raw: hexToBytes(transaction.raw) });
          const others = checks.filter(({ outcome }) => outcome !== 'ok').map(({ check, outcome }) => [check, outcome]);
          const expected = [
            ['denied', 'unknown'],
            ['replacement', 'unknown'],
            ['uncounted-lines', 'unknown'],
          ];
          return differs(['will-be-included', expected], [verdict, others]);
        });
      });
    }
  },
};
