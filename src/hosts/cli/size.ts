import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { invalidParameter, isPlumblineError, messageOf } from '../../errors.js';
import { generalDictionary, loadDictionary } from '../../fees/dictionary.js';
import { loadCalldataSizer } from '../../kernel/calldata-sizer.js';
import { LINEA_DICTIONARY } from '../../networks/linea.js';
import { hexToBytes } from '../../primitives/hex.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { printJson, printLines } from './lines.js';

const OPTIONS = { dictionary: { type: 'string' }, json: { type: 'boolean', default: false } } as const;

/** `plumbline size`: compressed size of bytes. */
export const sizeCommand: Command = {
  help: `plumbline size HEX [options]

  HEX                the bytes, as hex with 0x: calldata or an encoded transaction; - reads them from standard input
  --dictionary FILE  compression dictionary (default: plumbline's general one)
  --json             one JSON object

Prints three sizes in bytes: of the input, of the compressed stream, and the one that the fee formula uses, which is a whole
number of field elements of 32 bytes. With --json they are "bytes", "compressedBytes" and "compressedTxSize". If the
dictionary is not the network's own, sizes are approximations.

Exit codes: 0 done, 2 the arguments cannot be used.`,

  options: OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, OPTIONS, { count: 1, name: 'HEX' });
    const bytes = readHex(positionals[0] === '-' ? (await text(process.stdin)).trim() : positionals[0]!);
    const dictionary = values.dictionary === undefined ? await generalDictionary() : await readFrom(values.dictionary);
    const sizer = await loadCalldataSizer(dictionary.bytes);
    const sizes = {
      bytes: bytes.length,
      compressedBytes: measured(() => sizer.lzssSize(bytes)),
      compressedTxSize: measured(() => sizer.compressedTxSize(bytes)),
      dictionary: { name: dictionary.name, sha256: dictionary.sha256, byteLength: dictionary.bytes.length },
    };
    if (values.json) printJson(sizes);
    else {
      const { bytes: length, compressedBytes, compressedTxSize } = sizes;
      printLines(`size        ${length} bytes`);
      printLines(`compressed  ${compressedBytes} bytes`);
      printLines(`fee size    ${compressedTxSize} bytes, field elements of 32 bytes: ${compressedTxSize / 32}`);
      printLines(`dictionary  ${dictionary.name}, ${dictionary.bytes.length} bytes, sha256 ${dictionary.sha256}`);
    }
    return EXIT.ok;
  },
};

function readHex(hex: string): Uint8Array {
  try {
    return hexToBytes(hex);
  } catch (error) {
    throw invalidParameter('HEX', `cannot be read: ${messageOf(error)}`);
  }
}

/** Reads a dictionary, and names it where its checksum is that of Linea's own. */
async function readFrom(file: string) {
  try {
    const bytes = new Uint8Array(await readFile(file));
    return await loadDictionary({ bytes }, LINEA_DICTIONARY).catch(() => loadDictionary({ bytes }));
  } catch (error) {
    throw invalidParameter('--dictionary', `cannot be read: ${messageOf(error)}`);
  }
}

function measured(size: () => number): number {
  try {
    return size();
  } catch (error) {
    if (isPlumblineError(error, 'CALLDATA_TOO_LARGE')) throw invalidParameter('HEX', `is too long: ${error.message}`);
    throw error;
  }
}
