import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Material, openMaterial } from '../conformance/area.js';
import { type Corpus, type CorpusCase, Dictionaries, inputOf } from '../conformance/compression.js';
import { generalDictionary } from '../src/dictionary/dictionary.js';
import { loadCalldataSizer } from '../src/kernel/calldata-sizer.js';
import { type CalldataSizer, MAX_LZSS_INPUT } from '../src/kernel/contracts.js';
import { concatBytes } from '../src/primitives/bytes.js';
import { LzssModel } from '../src/reference/lzss.js';
import { alternate, type BenchArea, type Figure } from './area.js';

const NETWORK_DICTIONARY = '25-04-21';
/** The twin looks at every candidate, so a part of the corpus has to do. */
const TWIN_INPUTS = 40;

/** Repeatable bytes: xorshift32. */
function noise(seed: number): () => number {
  let x = seed;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x & 255;
  };
}

function fill(length: number, byteAt: (i: number) => number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => byteAt(i));
}

/** Inputs that make a match finder work: everything looks alike, or nearly. */
function worstCases(): [string, Uint8Array][] {
  const random = noise(2024);
  const cases: [string, Uint8Array][] = [];
  for (const length of [48 * 1024, MAX_LZSS_INPUT]) {
    const size = `${length / 1024} KiB`;
    cases.push([`${size} of one ABI word`, fill(length, (i) => (i % 32 === 31 ? 0x20 : 0))]);
    cases.push([
      `${size} of counted ABI words`,
      fill(length, (i) => (i % 32 < 30 ? 0 : (i >> (i % 2 ? 5 : 13)) & 255)),
    ]);
    cases.push([`${size} of ABI addresses`, fill(length, (i) => (i % 32 < 12 ? 0 : random()))]);
    cases.push([`${size} of zero runs with breaks`, fill(length, (i) => (i % 159 === 158 ? random() : 0))]);
    cases.push([`${size} of noise`, fill(length, random)]);
  }
  cases.push(['60 KB of FE FF', fill(60_000, (i) => 0xfe + (i & 1))]);
  cases.push(['60 KB of FE and FF at random', fill(60_000, () => 0xfe + (random() & 1))]);
  cases.push(['16 KiB of FE and FF at random', fill(16_384, () => 0xfe + (random() & 1))]);
  cases.push(['60 KB of FF with breaks', fill(60_000, (i) => (i % 159 === 158 ? random() : 0xff))]);
  return cases;
}

/** Transactions of our own, where no corpus stands beside the repository: transfers and longer calls of ABI words. */
function ownTransactions(): Uint8Array[] {
  const random = noise(7);
  return Array.from({ length: TWIN_INPUTS }, (_, i) => {
    const head = fill(60, random);
    const words = fill(32 * (2 + (i % 12)), (k) => (k % 32 < 12 + (k >> 5) * 2 ? 0 : random()));
    return concatBytes(head, Uint8Array.of(0xb8, 0x44, 0xa9, 0x05, 0x9c, 0xbb), words);
  });
}

async function againstTwin(sizer: CalldataSizer, dictionary: Uint8Array, inputs: Uint8Array[]): Promise<Figure> {
  const twin = new LzssModel(dictionary);
  const logs = inputs.map((input) => {
    const { kernel, plain } = alternate(
      { kernel: () => sizer.lzssSize(input), plain: () => twin.lzssSize(input) },
      3,
      1,
    );
    return Math.log(plain! / kernel!);
  });
  const value = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  return {
    name: 'kernel over plain twin, transactions of 70 to 500 bytes',
    value,
    unit: 'x',
    bar: { atLeast: 2 },
    note: `geometric mean of ${inputs.length}`,
  };
}

function inKeccaks(sizer: CalldataSizer, [name, input]: [string, Uint8Array]): Figure {
  const times = alternate({ sizing: () => sizer.lzssSize(input), keccak: () => keccak_256(input) }, 5, 4);
  return { name, value: times.sizing! / times.keccak!, unit: 'keccak256', bar: { atMost: 50 } };
}

/** How far sizes with the general dictionary are from those with the network's own. */
async function deviation(name: string, rows: CorpusCase[], dictionaries: Dictionaries): Promise<Figure[]> {
  const general = await loadCalldataSizer((await generalDictionary()).bytes);
  const mean = async (sizeOf: (row: CorpusCase) => Promise<number>) => {
    let sum = 0;
    for (const row of rows) sum += (await sizeOf(row)) / row.size[NETWORK_DICTIONARY]! - 1;
    return (100 * sum) / rows.length;
  };
  const ours = await mean(async (row) => general.compressedTxSize(await inputOf(row, dictionaries)));
  const none = await mean(async (row) => row.size.none!);
  const note = `mean of ${rows.length}; with no dictionary ${none.toFixed(1)} %`;
  return [{ name: `general dictionary, size above the network's, ${name}`, value: ours, unit: '%', note }];
}

async function withCorpora(material: Material): Promise<Figure[]> {
  const dictionaries = new Dictionaries(material);
  const sizer = await dictionaries.sizer(NETWORK_DICTIONARY);
  const rowsOf = (name: string) => material.json<Corpus>(`compression/${name}.json`).cases;
  const typical = rowsOf('corpus-1').filter(({ bytes }) => bytes >= 70 && bytes <= 500);
  const step = Math.max(1, Math.floor(typical.length / TWIN_INPUTS));
  const sampled = typical.filter((_, i) => i % step === 0);
  const inputs = await Promise.all(sampled.map((row) => inputOf(row, dictionaries)));
  const large: [string, Uint8Array][] = [];
  for (const row of rowsOf('corpus-4')) large.push([row.name, await inputOf(row, dictionaries)]);
  return [
    await againstTwin(sizer, await dictionaries.bytes(NETWORK_DICTIONARY), inputs),
    ...[...worstCases(), ...large].map((entry) => inKeccaks(sizer, entry)),
    ...(await deviation('corpus-1', rowsOf('corpus-1'), dictionaries)),
    ...(await deviation('corpus-2', rowsOf('corpus-2'), dictionaries)),
  ];
}

async function withOwnInputs(): Promise<Figure[]> {
  const { bytes } = await generalDictionary();
  const sizer = await loadCalldataSizer(bytes);
  return [await againstTwin(sizer, bytes, ownTransactions()), ...worstCases().map((entry) => inKeccaks(sizer, entry))];
}

export const sizing: BenchArea = {
  name: 'sizing',
  question: 'how fast is the size of a transaction known, and what does hostile calldata cost at worst?',
  run() {
    const directory = resolve('../shared/fixtures');
    return existsSync(`${directory}/compression/corpus-1.json`)
      ? withCorpora(openMaterial(directory, 'simd'))
      : withOwnInputs();
  },
};
