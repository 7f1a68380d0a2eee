import { RLP } from '@ethereumjs/rlp';
import { type Corpus, type CorpusCase, Dictionaries, inputOf } from '../conformance/compression.js';
import { generalDictionary } from '../src/fees/dictionary.js';
import { priorityFeePerGas } from '../src/fees/pricing.js';
import { loadCalldataSizer } from '../src/kernel/calldata-sizer.js';
import { linea } from '../src/networks/linea.js';
import { bytesToBigInt } from '../src/primitives/bytes.js';
import type { Figure } from './area.js';
import { compressionFixtures, NETWORK_DICTIONARY } from './sizing-material.js';

const SENDER_BYTES = 20;
/** Where the gas limit stands in the fields of each transaction type. */
const GAS_FIELD: Record<number, number> = { 0: 2, 1: 3, 2: 4, 4: 4 };

/** Gas limit of a transaction in the form that is sized (docs/spec/compression.md 3). */
function gasLimitOf(input: Uint8Array): bigint {
  const payload = input.subarray(SENDER_BYTES);
  const type = payload[0]! < 0x80 ? payload[0]! : 0;
  const fields = RLP.decode(type === 0 ? payload : payload.subarray(1)) as Uint8Array[];
  return bytesToBigInt(fields[GAS_FIELD[type]!]!);
}

/** What a transaction costs on Linea mainnet when it takes the gas it allows, with the prices of its profile; wei. */
function feeOf(gas: bigint, compressedTxSize: number): bigint {
  const { pricing, baseFeePerGas } = linea;
  if (pricing.model !== 'extra-data') throw new Error('the profile prices in another way');
  const use = { gas, compressedTxSize, baseFee: baseFeePerGas };
  return gas * (baseFeePerGas + priorityFeePerGas(pricing, pricing.defaults, use));
}

interface Deviation {
  /** Above the network's, as a fraction. */
  readonly size: number;
  readonly fee: number;
}

function figure(name: string, values: number[], rest: string): Figure {
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
  const equal = values.filter((value) => value === 0).length;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = `from ${percent(Math.min(...values))} to ${percent(Math.max(...values))}`;
  const note = `mean of ${values.length}, ${spread}, the same for ${equal}; ${rest}`;
  return { name, value: 100 * mean, unit: '%', note };
}

/** How far sizes and fees with the general dictionary are from those with the network's own; none without the fixtures. */
export async function deviationFigures(): Promise<Figure[]> {
  const fixtures = compressionFixtures();
  if (fixtures === undefined) return [];
  const dictionaries = new Dictionaries(fixtures);
  const general = await loadCalldataSizer((await generalDictionary()).bytes);
  const deviation = (row: CorpusCase, gas: bigint, size: number): Deviation => {
    const own = row.size[NETWORK_DICTIONARY]!;
    return { size: size / own - 1, fee: Number(feeOf(gas, size)) / Number(feeOf(gas, own)) - 1 };
  };
  const figures: Figure[] = [];
  for (const corpus of ['corpus-1', 'corpus-2']) {
    const withGeneral: Deviation[] = [];
    const withNone: Deviation[] = [];
    for (const row of fixtures.json<Corpus>(`compression/${corpus}.json`).cases) {
      const input = await inputOf(row, dictionaries);
      const gas = gasLimitOf(input);
      withGeneral.push(deviation(row, gas, general.compressedTxSize(input)));
      withNone.push(deviation(row, gas, row.size.none!));
    }
    for (const what of ['size', 'fee'] as const) {
      const none = withNone.reduce((sum, each) => sum + each[what], 0) / withNone.length;
      figures.push(
        figure(
          `general dictionary, ${what} above the network's, ${corpus}`,
          withGeneral.map((each) => each[what]),
          `with no dictionary ${(100 * none).toFixed(1)} %`,
        ),
      );
    }
  }
  return figures;
}
