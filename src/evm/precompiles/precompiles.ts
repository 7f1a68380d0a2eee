import { PlumblineError } from '../../errors.js';
import { loadSignerRecovery, signerOf } from '../../ethereum/signer.js';
import { BLAKE2F_BYTES, loadBlake2f } from '../../kernel/blake2f.js';
import { bytesToBigInt, padStart } from '../../primitives/bytes.js';
import { finish, type Pause } from '../../scheduling/pieces.js';
import type { Rules } from '../common.js';
import { activePrecompiles } from './active-precompiles.js';
import { runRipemd160, runSha256 } from './hashes.js';
import { modexpGas, runModexp } from './modexp.js';
import { G1_DISCOUNTS, G2_DISCOUNTS } from './msm-discounts.js';
import type { Output, Run } from './work.js';

/*
 * A chunk of its own: most executions call no precompile but the identity, which the kernel runs itself.
 */

export { PRECOMPILE_LINES } from './precompile-counters.js';

/** Outcome of one call of a precompile. */
export interface PrecompileResult {
  readonly succeeded: boolean;
  /** All of the gas when the call failed; the price, which is more than that, when the gas was short. */
  readonly gasUsed: bigint;
  /** Empty when the call failed. */
  readonly output: Uint8Array;
}

interface Precompile {
  /** Gas of a call; undefined if the input has a wrong length, and the call fails. */
  gas(input: Uint8Array, rules: Rules): bigint | undefined;
  /** The calculation, loaded if need be. */
  load(): Run | Promise<Run>;
}

/** Loads a module once; after that it is there without waiting. A failed load is tried again. */
function later<M>(load: () => Promise<M>): <T>(pick: (module: M) => T) => T | Promise<T> {
  let loaded: M | undefined;
  let loading: Promise<M> | undefined;
  return (pick) => {
    if (loaded !== undefined) return pick(loaded);
    loading ??= load().then(
      (module) => {
        loaded = module;
        return module;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading.then(pick);
  };
}

const signer = later(async () => {
  await loadSignerRecovery();
  return signerOf;
});
const blake2f = later(loadBlake2f);
// Each curve is a chunk of its own.
const bn254 = later(() => import('./bn254.js'));
const bls12381 = later(() => import('./bls12381.js'));
const pointEvaluation = later(() => import('./point-evaluation.js'));
const p256 = later(() => import('./p256.js'));

const always = (gas: bigint) => () => gas;

/** A price for input of one length. */
const forLength = (length: number, gas: bigint) => (input: Uint8Array) => (input.length === length ? gas : undefined);

/** A price, and one for each started word of 32 bytes. */
const byWords = (gas: bigint, perWord: bigint) => (input: Uint8Array) =>
  gas + perWord * BigInt(Math.ceil(input.length / 32));

/** How many items of this length the input is; undefined if it has a rest. */
function itemsOf(input: Uint8Array, bytes: number): bigint | undefined {
  return input.length % bytes === 0 ? BigInt(input.length / bytes) : undefined;
}

function bn254PairingGas(input: Uint8Array, { istanbul }: Rules): bigint | undefined {
  const pairs = itemsOf(input, 192);
  if (pairs === undefined) return undefined;
  return istanbul ? 45_000n + 34_000n * pairs : 100_000n + 80_000n * pairs;
}

function blsPairingGas(input: Uint8Array): bigint | undefined {
  const pairs = itemsOf(input, 384);
  return pairs === undefined || pairs === 0n ? undefined : 37_700n + 32_600n * pairs;
}

/** Price of a sum of multiplications, with the discount for their number. */
const sumGas = (bytes: number, gas: bigint, discounts: readonly number[]) => (input: Uint8Array) => {
  const items = itemsOf(input, bytes);
  if (items === undefined || items === 0n) return undefined;
  const discount = discounts[Math.min(Number(items), discounts.length) - 1]!;
  return (items * gas * BigInt(discount)) / 1000n;
};

/** A gas for each round. The last byte says whether it is the last block. */
function blake2fGas(input: Uint8Array): bigint | undefined {
  if (input.length !== BLAKE2F_BYTES || input[BLAKE2F_BYTES - 1]! > 1) return undefined;
  return bytesToBigInt(input.subarray(0, 4));
}

/**
 * By number of the standard address, with the prices.
 *
 * @source Ethereum Yellow Paper, appendix E; EIP-196, 197, 1108 (Istanbul), 152, 4844, 2537, 7951
 */
const PRECOMPILES: ReadonlyMap<number, Precompile> = new Map<number, Precompile>([
  [0x01, { gas: always(3_000n), load: () => signer(recoveryWith) }],
  [0x02, { gas: byWords(60n, 12n), load: () => runSha256 }],
  [0x03, { gas: byWords(600n, 120n), load: () => runRipemd160 }],
  [0x04, { gas: byWords(15n, 3n), load: () => (input) => input.slice() }],
  [0x05, { gas: modexpGas, load: () => runModexp }],
  [
    0x06,
    {
      gas: (_, { istanbul }) => (istanbul ? 150n : 500n),
      load: () => bn254(({ runAddition }) => runAddition),
    },
  ],
  [
    0x07,
    {
      gas: (_, { istanbul }) => (istanbul ? 6_000n : 40_000n),
      load: () => bn254(({ runMultiplication }) => runMultiplication),
    },
  ],
  [0x08, { gas: bn254PairingGas, load: () => bn254(({ runPairing }) => runPairing) }],
  [0x09, { gas: blake2fGas, load: () => blake2f((run) => run) }],
  [
    0x0a,
    {
      gas: forLength(192, 50_000n),
      load: () => pointEvaluation(({ runPointEvaluation }) => runPointEvaluation),
    },
  ],
  [0x0b, { gas: forLength(256, 375n), load: () => bls12381((bls) => bls.runG1Addition) }],
  [
    0x0c,
    {
      gas: sumGas(160, 12_000n, G1_DISCOUNTS),
      load: () => bls12381((bls) => bls.runG1Multiplication),
    },
  ],
  [0x0d, { gas: forLength(512, 600n), load: () => bls12381((bls) => bls.runG2Addition) }],
  [
    0x0e,
    {
      gas: sumGas(288, 22_500n, G2_DISCOUNTS),
      load: () => bls12381((bls) => bls.runG2Multiplication),
    },
  ],
  [0x0f, { gas: blsPairingGas, load: () => bls12381((bls) => bls.runBlsPairing) }],
  [0x10, { gas: forLength(64, 5_500n), load: () => bls12381((bls) => bls.runG1Map) }],
  [0x11, { gas: forLength(128, 23_800n), load: () => bls12381((bls) => bls.runG2Map) }],
  [0x100, { gas: always(6_900n), load: () => p256(({ runP256Verify }) => runP256Verify) }],
]);

/**
 * Runs a precompile. The result is a promise only if the calculation had to be loaded, or `pause` gave a promise.
 *
 * @param id - number of the standard address; it must be active under the rules
 * @param input - must stay as it is until there is a result
 * @param gas - what the call may spend
 * @param pause - called after each piece of a few milliseconds. What it throws ends the run
 * @throws PlumblineError `EXECUTION_FAILED` for a modular exponentiation that is too large to be calculated here
 */
export function runPrecompile(
  id: number,
  input: Uint8Array,
  gas: bigint,
  rules: Rules,
  pause: Pause,
): PrecompileResult | Promise<PrecompileResult> {
  const precompile = PRECOMPILES.get(id);
  if (precompile === undefined || !activePrecompiles(rules).includes(id)) {
    const reason = `0x${id.toString(16)} is not a precompile of ${rules.hardfork}`;
    throw new PlumblineError('INTERNAL', reason, { reason });
  }
  const price = precompile.gas(input, rules);
  if (price === undefined) return failure(gas);
  if (price > gas) return failure(price);
  const result = (output: Output) =>
    output === undefined ? failure(gas) : { succeeded: true, gasUsed: price, output };
  const run = precompile.load();
  if (run instanceof Promise) return run.then((loaded) => outputOf(loaded, input, pause)).then(result);
  const output = outputOf(run, input, pause);
  return output instanceof Promise ? output.then(result) : result(output);
}

const failure = (gas: bigint): PrecompileResult => ({ succeeded: false, gasUsed: gas, output: new Uint8Array(0) });

function outputOf(run: Run, input: Uint8Array, pause: Pause): Output | Promise<Output> {
  const output = run(input);
  return output === undefined || output instanceof Uint8Array ? output : finish(output, pause);
}

/** Hash, v, r and s of 32 bytes each give an address padded to 32 bytes, or no bytes. */
function recoveryWith(recover: typeof signerOf): Run {
  return (given) => {
    const input = new Uint8Array(128);
    input.set(given.subarray(0, 128));
    const v = bytesToBigInt(input.subarray(32, 64));
    if (v !== 27n && v !== 28n) return new Uint8Array(0);
    const [hash, r, s] = [input.subarray(0, 32), input.subarray(64, 96), input.subarray(96)];
    const address = recover(hash, r, s, v === 28n ? 1 : 0);
    return address === undefined ? new Uint8Array(0) : padStart(address, 32);
  };
}
