/**
 * Entry point `plumbline-l2/hash`: the hash functions of Linea's zk state in WebAssembly, MiMC over BLS12-377 and Poseidon2 over
 * KoalaBear. It also makes the hashes of addresses, slots, code and accounts.
 *
 * @module plumbline-l2/hash
 *
 * @example
 * const hasher = await loadHasher('poseidon2');
 * const hkey = hashAddress(hasher, hexToBytes('0x7e57c0de00000000000000000000000000007e57'));
 * const node = hasher.compress(left, right);
 */
export { type AccountValue, decodeAccountValue, encodeAccountValue } from './accumulator/account-value.js';
export { hashAccountValue, hashAddress, hashCode, hashWord } from './accumulator/keys.js';
export { type SchemeFormat, schemeFormat } from './accumulator/scheme.js';
export { type ErrorCode, type ErrorDetails, isPlumblineError, PlumblineError } from './errors.js';
export type { Hasher, HashKernel, HashScheme, KernelBuild, KernelOptions } from './kernel/contracts.js';
export { loadHasher, loadHashKernel } from './kernel/hasher.js';
export { bytesToHex, type Hex, hexToBytes } from './primitives/hex.js';
