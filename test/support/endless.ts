import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';

/** Generators of both groups of the curve of EIP-197: one pair of the pairing precompile. */
const PAIR = hexToBytes(
  `0x${'1'.padStart(64, '0')}${'2'.padStart(64, '0')}` +
    '198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2' +
    '1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed' +
    '090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b' +
    '12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa',
);

/** Calls a precompile with all of its calldata, again and again. */
const precompileLoop = (id: number): Hex => `0x365f5f375b5f5f365f60${id.toString(16).padStart(2, '0')}5afa50600456`;

/** A program that ends only when its gas does, and the calldata it takes. */
export interface Endless {
  readonly code: Hex;
  readonly data?: Hex;
}

/** Ten pairings take tens of milliseconds and 385 000 gas: by far the most time for its gas. */
export const SLOW: Endless = { code: precompileLoop(8), data: bytesToHex(repeated(10, PAIR)) };

/** Counts to a number, 29 gas for each. */
export const roundsOf = (rounds: number): Hex =>
  `0x5f5b60010180${`61${rounds.toString(16).padStart(4, '0')}`}1160015700`;

export const ENDLESS: Readonly<Record<string, Endless>> = {
  'a loop': { code: '0x5b5f56' },
  // KECCAK256 of 64 KiB, and of 9 MiB.
  'a loop of hashes': { code: '0x5b620100005f20505f56' },
  'a loop of long hashes': { code: '0x5b629000005f20505f56' },
  // Calls itself with all the gas there is, twice.
  'a recursion': { code: '0x5f5f5f5f5f305af1505f5f5f5f5f305af15000' },
  'a loop of creations': { code: '0x5b61c0005f5ff0505f56' },
  'a loop of reads': { code: '0x5f5b8054506001016001565b' },
  'a loop of writes': { code: '0x5f5b8080556001016001565b' },
  'a loop of pairings': SLOW,
  'one pairing of 300 pairs': { code: precompileLoop(8), data: bytesToHex(repeated(300, PAIR)) },
  // 2^25 rounds.
  'a loop of BLAKE2b': { code: precompileLoop(9), data: `0x02000000${'00'.repeat(208)}01` },
  // Base, exponent and modulus of 1 024 bytes.
  'a loop of exponentiations': {
    code: precompileLoop(5),
    data: `0x${'0400'.padStart(64, '0').repeat(3)}${'ff'.repeat(3 * 1024)}`,
  },
  'a loop of SHA-256': { code: precompileLoop(2), data: `0x${'00'.repeat(100_000)}` },
};

function repeated(count: number, bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(count * bytes.length);
  for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
  return all;
}

const addressOf = (index: number): Hex => `0x${(0xe0de + index).toString(16).padStart(40, '0')}`;

/** Accounts with the programs, for the options of a devnet; and a call of each, by its name. */
export function endlessAccounts(programs: Readonly<Record<string, Endless>>) {
  const named = Object.entries(programs);
  return {
    alloc: Object.fromEntries(named.map(([, { code }], i) => [addressOf(i), { code }])),
    calls: named.map(([name, { data }], i) => [name, { to: addressOf(i), ...(data && { data }) }] as const),
  };
}
