import { type AccountValue, accountHashInput, encodeAccountValue } from '../src/accumulator/account-value.js';
import { encodeLeaf, encodeTop } from '../src/accumulator/leaf-opening.js';
import { encodeAddress, encodeCode, encodeFull } from '../src/accumulator/scheme.js';
import { isPlumblineError } from '../src/errors.js';
import type { Hasher, HashScheme } from '../src/kernel/contracts.js';
import { type HashKernel, loadHashKernel } from '../src/kernel/hasher.js';
import { bigIntToBytes, concatBytes } from '../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { MIMC_ROUND_CONSTANTS } from '../test/reference/mimc.js';
import { POSEIDON2_DIAGONAL, POSEIDON2_ROUND_KEYS } from '../test/reference/poseidon2.js';
import { type Area, differs, type Report } from './area.js';
import { type HashName, SCHEMES, treesArea } from './hash-trees.js';

const digest = (hasher: Hasher, input: Uint8Array) => bytesToHex(hasher.hash(input));

interface HashFile {
  bytes: { name: string; input: string; output: string }[];
  compress: ({ output: string } & ({ state: string; block: string } | { left: string; right: string }))[];
  irregular: { name: string; input: string; strict: 'reject' }[];
  permutation?: { input: number[]; output: number[] }[];
}

async function checkHash(kernel: HashKernel, hasher: Hasher, file: HashFile, report: Report): Promise<void> {
  for (const { name, input, output } of file.bytes) {
    await report.check(`bytes, ${name}`, () => differs(output, digest(hasher, hexToBytes(input))));
    if (input === '0x') continue;
    await report.check(`bytes, many at once, ${name}`, () => {
      const bytes = hexToBytes(input);
      const digests = hasher.hashMany(concatBytes(bytes, bytes, bytes, bytes, bytes), bytes.length);
      return differs(`0x${output.slice(2).repeat(5)}`, bytesToHex(digests));
    });
  }
  for (const [i, step] of file.compress.entries()) {
    const [state, block] = 'state' in step ? [step.state, step.block] : [step.left, step.right];
    await report.check(`compress ${i}`, () =>
      differs(step.output, bytesToHex(hasher.compress(hexToBytes(state), hexToBytes(block)))),
    );
  }
  for (const { name, input, strict } of file.irregular) {
    const bytes = hexToBytes(input);
    await report.check(`irregular, ${name}`, () =>
      differs(strict, refuses(() => hasher.hash(bytes)) ? 'reject' : 'accept'),
    );
    await report.check(`irregular, many at once, ${name}`, () =>
      differs(strict, refuses(() => hasher.hashMany(bytes, bytes.length)) ? 'reject' : 'accept'),
    );
  }
  for (const [i, { input, output }] of (file.permutation ?? []).entries()) {
    const words = (values: number[]) => concatBytes(...values.map((value) => bigIntToBytes(BigInt(value), 4)));
    await report.check(`permutation ${i}`, () =>
      differs(bytesToHex(words(output)), bytesToHex(kernel.permutePoseidon2(words(input)))),
    );
  }
}

function refuses(body: () => unknown): boolean {
  try {
    body();
    return false;
  } catch (error) {
    if (isPlumblineError(error, 'HASH_INPUT_LENGTH') || isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL'))
      return true;
    throw error;
  }
}

function hashArea(name: HashName): Area {
  const path = `hashing/${name}.json`;
  return {
    name: `hashing/${name}`,
    usesKernel: true,
    files: (material) => (material.has(path) ? [path] : []),
    async run(material, report) {
      const kernel = await loadHashKernel({ build: material.build });
      await checkHash(kernel, kernel[SCHEMES[name]], material.json<HashFile>(path), report);
    },
  };
}

interface ConstantsFile {
  mimcRoundConstants: string[];
  poseidon2FullRoundKeysFirst: number[][];
  poseidon2PartialRoundKeys: number[];
  poseidon2FullRoundKeysLast: number[][];
  poseidon2InternalDiagonal: number[];
}

/** The constants of the reference twin; those of the kernels show in every digest. */
const constantsArea: Area = {
  name: 'hashing/round-constants',
  usesKernel: false,
  files: (material) => (material.has('hashing/round-constants.json') ? ['hashing/round-constants.json'] : []),
  async run(material, report) {
    const file = material.json<ConstantsFile>('hashing/round-constants.json');
    const keys = [
      ...file.poseidon2FullRoundKeysFirst,
      ...file.poseidon2PartialRoundKeys.map((key) => [key]),
      ...file.poseidon2FullRoundKeysLast,
    ];
    const rows = Math.max(file.mimcRoundConstants.length, MIMC_ROUND_CONSTANTS.length);
    for (let i = 0; i < rows; i++) {
      const constant = MIMC_ROUND_CONSTANTS[i];
      const derived = constant === undefined ? undefined : bytesToHex(bigIntToBytes(constant, 32));
      await report.check(`mimc constant ${i}`, () => differs(file.mimcRoundConstants[i], derived));
    }
    for (let i = 0; i < Math.max(keys.length, POSEIDON2_ROUND_KEYS.length); i++) {
      await report.check(`poseidon2 keys of round ${i}`, () => differs(keys[i], POSEIDON2_ROUND_KEYS[i]?.map(Number)));
    }
    await report.check('poseidon2 diagonal', () =>
      differs(file.poseidon2InternalDiagonal, POSEIDON2_DIAGONAL.map(Number)),
    );
  },
};

interface EncodingCase {
  hash: HashName;
  what: string;
  fields: Record<string, string | number>;
  encoded: string;
  digest: string;
}

function encode(scheme: HashScheme, fields: EncodingCase['fields']): Uint8Array {
  const bytes = (name: string) => hexToBytes(String(fields[name]));
  if ('address' in fields) return encodeAddress(scheme, bytes('address'));
  if ('value' in fields) return encodeFull(scheme, bytes('value'));
  if ('code' in fields) return encodeCode(scheme, bytes('code'));
  if ('subRoot' in fields) return encodeTop(scheme, Number(fields.nextFreeNode), bytes('subRoot'));
  if ('prev' in fields) {
    const neighbours = { prevLeaf: Number(fields.prev), nextLeaf: Number(fields.next) };
    return encodeLeaf(scheme, { ...neighbours, hkey: bytes('hkey'), hval: bytes('hval') });
  }
  const account: AccountValue = {
    nonce: BigInt(fields.nonce!),
    balance: BigInt(fields.balance!),
    storageRoot: bytes('storageRoot'),
    zkCodeHash: bytes('zkCodeHash'),
    keccakCodeHash: bytes('keccakCodeHash'),
    codeSize: BigInt(fields.codeSize!),
  };
  return accountHashInput(scheme, encodeAccountValue(account));
}

const encodingsArea: Area = {
  name: 'hashing/encodings',
  usesKernel: true,
  files: (material) => material.both('hashing/encodings.json'),
  async run(material, report) {
    const kernel = await loadHashKernel({ build: material.build });
    const cases = this.files(material).flatMap((path) => material.json<{ cases: EncodingCase[] }>(path).cases);
    for (const [i, item] of cases.entries()) {
      const scheme = SCHEMES[item.hash];
      await report.check(`${i}, ${scheme}, ${item.what}`, () => {
        const encoded = encode(scheme, item.fields);
        return differs([item.encoded, item.digest], [bytesToHex(encoded), digest(kernel[scheme], encoded)]);
      });
    }
  },
};

export const HASHING_AREAS: readonly Area[] = [
  hashArea('mimc-bls12377'),
  hashArea('poseidon2-koalabear'),
  constantsArea,
  encodingsArea,
  treesArea,
];
