import {
  encodeForSizing,
  encodeSigned,
  type SizedTransaction,
  type SizingContext,
  sizingBytes,
  transactionForSizing,
} from '../src/fees/transaction-bytes.js';
import type { CalldataSizer } from '../src/kernel/contracts.js';
import { bytesToHex } from '../src/primitives/hex.js';
import { quantityToBigInt } from '../src/primitives/quantity.js';
import { type Area, differs, type Report } from './area.js';
import { Dictionaries } from './compression.js';
import { type CallJson, readCall, readTransaction, type TransactionJson } from './fixture-calls.js';

const PATH = 'compression/encoding.json';

/** A figure for the dictionary that the file names, or one for each dictionary. */
type Figure = number | Record<string, number>;

interface Expected {
  name: string;
  encoded: string;
  signedEncoded: string;
  size?: Figure;
  lzss?: Figure;
  signedSize?: Figure;
}

interface EncodingFile {
  /** That of figures which name none. */
  dictionary?: string;
  calls: (Expected & {
    call: CallJson;
    context: Record<'gasEstimation' | 'baseFee' | 'latestNonce' | 'chainId', string>;
    txType: number;
  })[];
  real: (Expected & { tx: TransactionJson; signature: { r: string; s: string; yParity: number } })[];
}

interface Forms {
  current: Uint8Array;
  signed: Uint8Array;
}

class Sizes {
  constructor(
    private readonly dictionaries: Dictionaries,
    private readonly report: Report,
    private readonly named: string | undefined,
  ) {}

  async check(name: string, figure: Figure | undefined, measure: (sizer: CalldataSizer) => number): Promise<void> {
    const figures = typeof figure === 'number' ? { [this.named!]: figure } : (figure ?? {});
    for (const [dictionary, expected] of Object.entries(figures)) {
      const title = `${name}, ${dictionary}`;
      if (this.dictionaries.has(dictionary)) {
        const sizer = await this.dictionaries.sizer(dictionary);
        await this.report.check(title, () => differs(expected, measure(sizer)));
      } else this.report.skip(title, `dictionary ${dictionary} is not there`);
    }
  }
}

/** Transaction bytes for sizing, in both forms, and the sizes they come to. */
export const encodingArea: Area = {
  name: PATH,
  usesKernel: true,
  files: (material) => material.both(PATH),
  async run(material, report) {
    const dictionaries = new Dictionaries(material);
    for (const path of this.files(material)) await checkFile(material.json(path), dictionaries, report);
  },
};

async function checkFile(file: EncodingFile, dictionaries: Dictionaries, report: Report): Promise<void> {
  const sizes = new Sizes(dictionaries, report, file.dictionary);
  for (const row of file.calls) {
    const context = readContext(row.context);
    const call = readCall(row.call);
    const tx = transactionForSizing(call, context);
    await report.check(`${row.name}, type`, () => differs(row.txType, tx.type));
    const forms = { current: sizingBytes(call, context, 'current'), signed: sizingBytes(call, context, 'signed') };
    await checkForms(row, forms, report, sizes);
  }
  for (const row of file.real) {
    const tx = readTransaction(row.tx);
    await checkForms(row, { current: encodeForSizing(tx), signed: encodeReal(tx, row.signature) }, report, sizes);
  }
}

async function checkForms(row: Expected, forms: Forms, report: Report, sizes: Sizes): Promise<void> {
  await report.check(`${row.name}, encoded`, () => differs(row.encoded, bytesToHex(forms.current)));
  await report.check(`${row.name}, signed`, () => differs(row.signedEncoded, bytesToHex(forms.signed)));
  await sizes.check(`${row.name}, lzss`, row.lzss, (sizer) => sizer.lzssSize(forms.current));
  await sizes.check(`${row.name}, size`, row.size, (sizer) => sizer.compressedTxSize(forms.current));
  await sizes.check(`${row.name}, signed size`, row.signedSize, (sizer) => sizer.compressedTxSize(forms.signed));
}

function readContext(json: EncodingFile['calls'][number]['context']): SizingContext {
  return {
    gasLimit: quantityToBigInt(json.gasEstimation),
    baseFee: quantityToBigInt(json.baseFee),
    latestNonce: quantityToBigInt(json.latestNonce),
    chainId: quantityToBigInt(json.chainId),
  };
}

function encodeReal(tx: SizedTransaction, signature: EncodingFile['real'][number]['signature']): Uint8Array {
  const { r, s, yParity } = signature;
  return encodeSigned(tx, { yParity: BigInt(yParity), r: quantityToBigInt(r), s: quantityToBigInt(s) });
}
