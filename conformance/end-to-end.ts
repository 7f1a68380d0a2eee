import { Estimator } from '../src/estimate/estimator.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import { Machine } from '../src/evm/machine.js';
import { StateOverlay } from '../src/evm/state-overlay.js';
import { runTransaction } from '../src/evm/transaction.js';
import type { GasSearch } from '../src/networks/gas-searches.js';
import { linea } from '../src/networks/linea.js';
import type { Network } from '../src/networks/network.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import { allocChain } from './alloc-chain.js';
import { AllocState } from './alloc-state.js';
import { type Area, differs, type Material, type Report } from './area.js';
import { Dictionaries } from './compression.js';
import { type CallJson, readCall } from './fixture-calls.js';
import { type RecordedBlock, RPC_GAS_CAP, recordedContext, rulesFor } from './recorded-block.js';

interface SizedFee {
  compressedTxSize: number;
  priorityFeePerGas: Hex;
}

interface EndToEndCase {
  block: string;
  index: number;
  call: CallJson;
  nonce: Hex;
  chainId: Hex;
  pricing: { fixedCostWei: string; variableCostWei: string };
  baseFeePerGas: Hex;
  results: (SizedFee & { search: string; gasLimit: Hex; olderForm: SizedFee })[];
}

interface EndToEndFile {
  minMargin: string;
  dictionary?: string;
  cases: EndToEndCase[];
}

const FILE = 'fees/end-to-end.json';
/** The dictionary of files that name none. */
const DICTIONARY = '25-04-21';

const SEARCHES: Readonly<Record<string, GasSearch>> = { geth: 'geth', besu: 'besu', exactSearch: 'exact' };

/** Transactions of blocks from call to priority fee: search, size in both forms, and price, on the state they ran on. */
export const endToEndArea: Area = {
  name: 'fees/end-to-end',
  usesKernel: true,
  files: (material) => material.both(FILE),
  async run(material, report) {
    for (const path of this.files(material)) await checkFile(material, path, report);
  },
};

async function checkFile(material: Material, path: string, report: Report): Promise<void> {
  const { minMargin, dictionary: name = DICTIONARY, cases } = material.json<EndToEndFile>(path);
  const dictionaries = new Dictionaries(material);
  if (!dictionaries.has(name)) return report.skip(path, `dictionary ${name} is not there`);
  const sizer = await dictionaries.sizer(name);
  const dictionary = { name, sha256: '0x', bytes: new Uint8Array(0), networkOwn: true } as const;
  for (const endToEnd of cases) {
    const block = material.json<RecordedBlock>(`blocks/${endToEnd.block}.json`);
    const state = await stateBefore(block, endToEnd.index);
    const call = readCall(endToEnd.call);
    for (const result of endToEnd.results) {
      for (const search of result.search.split('|').map((name) => SEARCHES[name]!)) {
        await report.check(`${endToEnd.block} transaction ${endToEnd.index}, ${search}`, async () => {
          const sizes: SizedFee[] = [];
          for (const sizing of ['current', 'signed'] as const) {
            const network = networkOf(block, endToEnd, Number(minMargin), sizing);
            const { fixedCostWei, variableCostWei } = endToEnd.pricing;
            const prices = {
              fixedCostWei: BigInt(fixedCostWei),
              variableCostWei: BigInt(variableCostWei),
              minGasPriceWei: 0n,
            };
            const chain = allocChain({ network, state, context: recordedContext(block), prices });
            const estimate = await new Estimator(chain, async () => sizer, dictionary).fees({ call, search });
            const { gasLimit, baseFeePerGas, priorityFeePerGas, evidence } = estimate;
            const problem = differs(
              [result.gasLimit, endToEnd.baseFeePerGas],
              [toQuantity(gasLimit), toQuantity(baseFeePerGas)],
            );
            if (problem !== undefined) return problem;
            const { compressedTxSize } = evidence!;
            sizes.push({ compressedTxSize, priorityFeePerGas: toQuantity(priorityFeePerGas) });
          }
          const { compressedTxSize, priorityFeePerGas, olderForm } = result;
          return differs([{ compressedTxSize, priorityFeePerGas }, olderForm], sizes);
        });
      }
    }
  }
}

/** State of the block after the transactions before this one. */
async function stateBefore(block: RecordedBlock, index: number): Promise<StateOverlay> {
  await loadSignerRecovery();
  const network = rulesFor(block.hardfork, block.chainId, RPC_GAS_CAP);
  const state = new StateOverlay(new AllocState(block.preState));
  const machine = await Machine.open(network, recordedContext(block), state);
  for (const { raw } of block.transactions.slice(0, index)) {
    await runTransaction(machine, parseSignedTransaction(hexToBytes(raw), network.chainId));
  }
  return state;
}

function networkOf(
  { hardfork }: RecordedBlock,
  { chainId, pricing }: EndToEndCase,
  estimateMargin: number,
  sizing: 'current' | 'signed',
): Network {
  const defaults = {
    fixedCostWei: BigInt(pricing.fixedCostWei),
    variableCostWei: BigInt(pricing.variableCostWei),
    minGasPriceWei: 0n,
  };
  return {
    ...linea,
    ...rulesFor(hardfork, chainId, RPC_GAS_CAP),
    sizing,
    pricing: { model: 'extra-data', defaults, estimateMargin },
  };
}
