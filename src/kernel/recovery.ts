import { requireLength } from '../primitives/bytes.js';
import type { ExportedNumber, KernelOptions, LinearMemory } from './contracts.js';
import { instantiate, type KernelSource } from './instantiate.js';
import { wasm } from './wasm/secp256k1.generated.js';

/**
 * Recovers the public key that signed, over secp256k1. All input is public: the time depends on it.
 *
 * @param hash - the signed hash, 32 bytes
 * @param r - 32 bytes, like `s`, which may be in either half of its range
 * @param yParity - 1 if the point of `r` has an odd y, else 0
 * @returns x and y of the key, 64 bytes; undefined if `r` or `s` is not from 1 to n - 1, if no point has the x `r`, or if the
 *   key would be the point at infinity
 * @throws PlumblineError `INVALID_LENGTH` unless all three have 32 bytes
 */
export type RecoverPublicKey = (
  hash: Uint8Array,
  r: Uint8Array,
  s: Uint8Array,
  yParity: 0 | 1,
) => Uint8Array | undefined;

/** Exports of assembly/secp256k1.ts. */
interface RecoveryExports {
  readonly memory: LinearMemory;
  readonly INPUT: ExportedNumber;
  readonly OUTPUT: ExportedNumber;
  /** Returns 0 if there is no key, else 1. */
  recoverPublicKey(yParity: number): number;
}

/** The module uses no SIMD, so both builds are the same. */
const text = async () => ({ wasm });
const SOURCE: KernelSource = { name: 'secp256k1', simd: text, scalar: text };

const WORD_BYTES = 32;

/**
 * Loads the kernel of secp256k1. Its first recovery also makes a table of multiples of the base point.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export async function loadRecovery(options: KernelOptions = {}): Promise<RecoverPublicKey> {
  const kernel = await instantiate<RecoveryExports>(SOURCE, options);
  const input = new Uint8Array(kernel.memory.buffer, kernel.INPUT.value, 3 * WORD_BYTES);
  const output = new Uint8Array(kernel.memory.buffer, kernel.OUTPUT.value, 2 * WORD_BYTES);
  const write = (what: string, word: Uint8Array, at: number) => {
    requireLength(what, word, WORD_BYTES);
    input.set(word, at);
  };
  return (hash, r, s, yParity) => {
    write('hash', hash, 0);
    write('r', r, WORD_BYTES);
    write('s', s, 2 * WORD_BYTES);
    return kernel.recoverPublicKey(yParity) === 0 ? undefined : output.slice();
  };
}
