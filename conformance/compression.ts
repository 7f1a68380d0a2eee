import { isPlumblineError } from '../src/errors.js';
import { generalDictionary, loadDictionary } from '../src/fees/dictionary.js';
import { loadCalldataSizer } from '../src/kernel/calldata-sizer.js';
import { type CalldataSizer, MAX_LZSS_INPUT } from '../src/kernel/contracts.js';
import { concatBytes } from '../src/primitives/bytes.js';
import { hexToBytes } from '../src/primitives/hex.js';
import { LzssModel } from '../test/reference/lzss.js';
import { type Area, differs, type Material } from './area.js';

const FOLDER = 'compression';
const NO_DICTIONARY = 'none';
const GENERAL_DICTIONARY = 'general';

interface Manifest {
  dictionaries: { name: string; file: string; bytes: number; sha256: string }[];
}

/** How an input is built; the README of the fixtures describes each kind. */
type Generator =
  | { hex: string; kind?: undefined }
  | { kind: 'repeat'; hex: string; length: number }
  | { kind: 'xorshift32'; seed: number; length: number }
  | { kind: 'dict'; dict: string; start: number; end: number }
  | { kind: 'concat'; parts: Generator[] };

export interface CorpusCase {
  name: string;
  bytes: number;
  hex?: string;
  gen?: Generator;
  lzss: Record<string, number>;
  size: Record<string, number>;
}

export interface Corpus {
  cases: CorpusCase[];
}

interface Trace {
  name: string;
  dictionary: string;
  hex: string;
  bits: number;
  lzss: number;
  phrases: [string, number][];
}

/**
 * Dictionaries by name, and a sizer for each: `none`, plumbline's `general`, and those of the fixtures, each checked against
 * its manifest when first asked for.
 */
export class Dictionaries {
  readonly #bytes = new Map<string, Promise<Uint8Array>>();
  readonly #sizers = new Map<string, Promise<CalldataSizer>>();

  constructor(private readonly material: Material) {}

  has(name: string): boolean {
    return [NO_DICTIONARY, GENERAL_DICTIONARY].includes(name) || this.material.has(`${FOLDER}/dict/${name}.bin`);
  }

  bytes(name: string): Promise<Uint8Array> {
    return remembered(this.#bytes, name, () => this.#load(name));
  }

  sizer(name: string): Promise<CalldataSizer> {
    const { build } = this.material;
    return remembered(this.#sizers, name, async () => loadCalldataSizer(await this.bytes(name), { build }));
  }

  async #load(name: string): Promise<Uint8Array> {
    if (name === NO_DICTIONARY) return new Uint8Array();
    if (name === GENERAL_DICTIONARY) return (await generalDictionary()).bytes;
    const { dictionaries } = this.material.json<Manifest>(`${FOLDER}/dict/manifest.json`);
    const entry = dictionaries.find((candidate) => candidate.name === name);
    if (!entry) throw new Error(`the manifest has no dictionary ${name}`);
    const bytes = this.material.bytes(`${FOLDER}/dict/${entry.file}`);
    const reference = { name, sha256: `0x${entry.sha256}`, byteLength: entry.bytes } as const;
    return (await loadDictionary({ bytes }, reference)).bytes;
  }
}

function remembered<T>(known: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  let value = known.get(name);
  if (!value) {
    value = make();
    known.set(name, value);
  }
  return value;
}

/** The bytes of a case. */
async function buildInput(generator: Generator, dictionaries: Dictionaries): Promise<Uint8Array> {
  switch (generator.kind) {
    case undefined:
      return hexToBytes(`0x${generator.hex}`);
    case 'repeat': {
      const unit = hexToBytes(`0x${generator.hex}`);
      return Uint8Array.from({ length: generator.length }, (_, i) => unit[i % unit.length]!);
    }
    case 'xorshift32': {
      let x = generator.seed;
      return Uint8Array.from({ length: generator.length }, () => {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        return x & 255;
      });
    }
    case 'dict':
      return (await dictionaries.bytes(generator.dict)).slice(generator.start, generator.end);
    case 'concat':
      return concatBytes(...(await Promise.all(generator.parts.map((part) => buildInput(part, dictionaries)))));
  }
}

export function inputOf(row: CorpusCase, dictionaries: Dictionaries): Promise<Uint8Array> {
  return buildInput(row.gen ?? { hex: row.hex ?? '' }, dictionaries);
}

/** Sizes of real, synthetic, edge and large inputs with each dictionary, and the refusal of one byte too many. */
const corpora: Area = {
  name: `${FOLDER}/corpus-*`,
  usesKernel: true,
  files: (material) => material.list(FOLDER, /^corpus-.*\.json$/),
  async run(material, report) {
    const dictionaries = new Dictionaries(material);
    for (const path of this.files(material)) {
      for (const row of material.json<Corpus>(path).cases) {
        const input = await inputOf(row, dictionaries);
        await report.check(`${row.name}, bytes`, () => differs(row.bytes, input.length));
        for (const [dictionary, lzss] of Object.entries(row.lzss)) {
          const sizer = await dictionaries.sizer(dictionary);
          await report.check(`${row.name}, ${dictionary}, lzss`, () => differs(lzss, sizer.lzssSize(input)));
        }
        for (const [dictionary, size] of Object.entries(row.size)) {
          const sizer = await dictionaries.sizer(dictionary);
          await report.check(`${row.name}, ${dictionary}, size`, () => differs(size, sizer.compressedTxSize(input)));
        }
      }
    }
    const sizer = await dictionaries.sizer(NO_DICTIONARY);
    for (const measure of ['lzssSize', 'compressedTxSize'] as const) {
      await report.check(`${measure} refuses ${MAX_LZSS_INPUT + 1} bytes`, () => {
        try {
          return `gave ${sizer[measure](new Uint8Array(MAX_LZSS_INPUT + 1))}`;
        } catch (error) {
          if (isPlumblineError(error, 'CALLDATA_TOO_LARGE')) return undefined;
          throw error;
        }
      });
    }
  },
};

/** Phrases and bits from the plain model, sizes from model and kernel. */
const traces: Area = {
  name: `${FOLDER}/traces.json`,
  usesKernel: true,
  files: (material) => material.both(`${FOLDER}/traces.json`),
  async run(material, report) {
    const dictionaries = new Dictionaries(material);
    const models = new Map<string, Promise<LzssModel>>();
    for (const path of this.files(material)) {
      for (const trace of material.json<{ cases: Trace[] }>(path).cases) {
        const { name, dictionary } = trace;
        const data = hexToBytes(`0x${trace.hex}`);
        const model = await remembered(
          models,
          dictionary,
          async () => new LzssModel(await dictionaries.bytes(dictionary)),
        );
        const sizer = await dictionaries.sizer(dictionary);
        const where = `${name}, ${dictionary}`;
        await report.check(`${where}, phrases`, () => differs(trace.phrases, model.phrases(data)));
        await report.check(`${where}, bits`, () => differs(trace.bits, model.bits(data)));
        await report.check(`${where}, lzss`, () => differs(trace.lzss, sizer.lzssSize(data)));
      }
    }
  },
};

export const COMPRESSION_AREAS: readonly Area[] = [corpora, traces];
