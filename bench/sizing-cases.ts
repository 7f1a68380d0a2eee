import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Corpus, Dictionaries, inputOf } from '../conformance/compression.js';
import { generalDictionary } from '../src/fees/dictionary.js';
import { loadCalldataSizer } from '../src/kernel/calldata-sizer.js';
import { type CalldataSizer, MAX_LZSS_INPUT } from '../src/kernel/contracts.js';
import { concatBytes } from '../src/primitives/bytes.js';
import { LzssModel } from '../test/reference/lzss.js';
import { alternate, type Figure } from './area.js';
import { compressionFixtures, NETWORK_DICTIONARY } from './sizing-material.js';

type Named = [name: string, input: Uint8Array];

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
function worstCases(): Named[] {
  const random = noise(2024);
  const runs = (length: number, every: number, byte: number) =>
    fill(length, (i) => (i % every === every - 1 ? random() : byte));
  const cases: Named[] = [];
  for (const length of [48 * 1024, MAX_LZSS_INPUT]) {
    const size = `${length / 1024} KiB`;
    cases.push([`${size} of one ABI word`, fill(length, (i) => (i % 32 === 31 ? 0x20 : 0))]);
    cases.push([
      `${size} of counted ABI words`,
      fill(length, (i) => (i % 32 < 30 ? 0 : (i >> (i % 2 ? 5 : 13)) & 255)),
    ]);
    cases.push([`${size} of ABI addresses`, fill(length, (i) => (i % 32 < 12 ? 0 : random()))]);
    cases.push([`${size} of zeros, a break every 159`, runs(length, 159, 0)]);
    cases.push([`${size} of zeros, a break every 1000`, runs(length, 1000, 0)]);
    cases.push([`${size} of noise`, fill(length, random)]);
  }
  cases.push(['60 KB of FE FF', fill(60_000, (i) => 0xfe + (i & 1))]);
  cases.push(['60 KB of FE FF, a break every 97', fill(60_000, (i) => (i % 97 === 96 ? random() : 0xfe + (i & 1)))]);
  cases.push(['60 KB of FE and FF at random', fill(60_000, () => 0xfe + (random() & 1))]);
  cases.push(['16 KiB of FE and FF at random', fill(16_384, () => 0xfe + (random() & 1))]);
  cases.push(['60 KB of FF, a break every 159', runs(60_000, 159, 0xff)]);
  cases.push(['60 KB of FF, FE every 200', fill(60_000, (i) => (i % 200 === 199 ? 0xfe : 0xff))]);
  // Short, and yet just too much for the chains: here the fixed cost of ordering weighs most.
  cases.push(['700 bytes of counted ABI words', fill(700, (i) => (i % 32 < 31 ? 0 : i >> 5))]);
  cases.push(['1000 bytes of FE and FF at random', fill(1000, () => 0xfe + (random() & 1))]);
  return cases;
}

/** Transactions of our own, where no corpus stands beside the repository: transfers and longer calls of ABI words. */
function ownTransactions(): Uint8Array[] {
  const random = noise(7);
  return Array.from({ length: 40 }, (_, i) => {
    const head = fill(60, random);
    const words = fill(32 * (2 + (i % 12)), (k) => (k % 32 < 12 + (k >> 5) * 2 ? 0 : random()));
    return concatBytes(head, Uint8Array.of(0xb8, 0x44, 0xa9, 0x05, 0x9c, 0xbb), words);
  });
}

function againstTwin(sizer: CalldataSizer, dictionary: Uint8Array, inputs: Uint8Array[]): Figure {
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

function inKeccaks(sizer: CalldataSizer, [name, input]: Named): Figure {
  const times = alternate({ sizing: () => sizer.lzssSize(input), keccak: () => keccak_256(input) }, 5, 4);
  return { name, value: times.sizing! / times.keccak!, unit: 'keccak256', bar: { atMost: 50 } };
}

/** What is measured: the corpora beside the repository with the network's dictionary, else inputs and dictionary of our own. */
async function material(): Promise<{ dictionary: Uint8Array; typical: Uint8Array[]; large: Named[] }> {
  const fixtures = compressionFixtures();
  if (fixtures === undefined) {
    return { dictionary: (await generalDictionary()).bytes, typical: ownTransactions(), large: [] };
  }
  const dictionaries = new Dictionaries(fixtures);
  const rowsOf = (name: string) => fixtures.json<Corpus>(`compression/${name}.json`).cases;
  const typical = rowsOf('corpus-1').filter(({ bytes }) => bytes >= 70 && bytes <= 500);
  const large: Named[] = [];
  for (const row of rowsOf('corpus-4')) large.push([row.name, await inputOf(row, dictionaries)]);
  return {
    dictionary: await dictionaries.bytes(NETWORK_DICTIONARY),
    typical: await Promise.all(typical.map((row) => inputOf(row, dictionaries))),
    large,
  };
}

/** Speed of the sizing kernel, without any cache: on ordinary transactions over its twin, and on hostile inputs. */
export async function sizingFigures(): Promise<Figure[]> {
  const { dictionary, typical, large } = await material();
  const sizer = await loadCalldataSizer(dictionary);
  return [
    againstTwin(sizer, dictionary, typical),
    ...[...worstCases(), ...large].map((entry) => inKeccaks(sizer, entry)),
  ];
}
