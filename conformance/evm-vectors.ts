import { bls12_381 } from '@noble/curves/bls12-381.js';
import { rulesAt } from '../src/evm/common.js';
import { runPrecompile } from '../src/evm/precompiles.js';
import type { Hardfork } from '../src/networks/network.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { archiveFiles } from './archive.js';
import { type Area, differs, type Report } from './area.js';

const ARCHIVE = 'state-tests/evm-vectors.tar.gz';
const STATE_TESTS = 'state-tests/general-state-tests.tar.gz';
const GENERATED = 'evm-vectors/precompiles-generated.json';
const PRECOMPILES = 'evm-vectors/precompiles/';

/** Files of precompiles, without `fail-`: the precompile, and the fork whose prices the file has. */
const FILES: Readonly<Record<string, readonly [id: number, fork: Hardfork]>> = {
  ecRecover: [0x01, 'osaka'],
  modexp: [0x05, 'byzantium'],
  modexp_eip2565: [0x05, 'berlin'],
  modexp_eip7883: [0x05, 'osaka'],
  bn256Add: [0x06, 'istanbul'],
  bn256ScalarMul: [0x07, 'istanbul'],
  bn256Pairing: [0x08, 'istanbul'],
  blake2F: [0x09, 'istanbul'],
  blake2f: [0x09, 'istanbul'],
  pointEvaluation: [0x0a, 'cancun'],
  blsG1Add: [0x0b, 'prague'],
  blsG1Mul: [0x0c, 'prague'],
  blsG1MultiExp: [0x0c, 'prague'],
  blsG2Add: [0x0d, 'prague'],
  blsG2Mul: [0x0e, 'prague'],
  blsG2MultiExp: [0x0e, 'prague'],
  blsPairing: [0x0f, 'prague'],
  blsMapG1: [0x10, 'prague'],
  blsMapG2: [0x11, 'prague'],
  p256Verify: [0x100, 'osaka'],
};

/** Hex has no prefix here. A failing call has neither gas nor output. */
interface Vector {
  Name: string;
  Input: string;
  Expected?: string;
  Gas?: number;
}

/** A call and what is expected of it: gas and output, or that it fails. */
interface Call {
  readonly id: number;
  readonly fork: Hardfork;
  readonly input: string;
  readonly gas?: number;
  readonly output?: string;
}

/** More than a call of any file costs. */
const ENOUGH_GAS = 1_000_000_000n;

/** A call with just enough gas and with one too few; one that fails, with plenty. */
async function checkCall({ id, fork, input, gas: price, output }: Call): Promise<string | undefined> {
  const rules = rulesAt({ chainId: 1, forks: [{ hardfork: fork, block: 0 }] }, 0, 0);
  const outcome = async (gas: bigint) => {
    const result = await runPrecompile(id, hexToBytes(input), gas, rules, () => undefined);
    // A price above the gas takes all of it.
    return [result.succeeded, result.gasUsed > gas ? gas : result.gasUsed, bytesToHex(result.output)];
  };
  const failed = (gas: bigint) => [false, gas, '0x'];
  if (price === undefined) return differs(failed(ENOUGH_GAS), await outcome(ENOUGH_GAS));
  const gas = BigInt(price);
  const difference = differs([true, gas, output], await outcome(gas));
  if (difference !== undefined || gas === 0n) return difference;
  return differs(failed(gas - 1n), await outcome(gas - 1n));
}

async function checkVectors(archive: Uint8Array, report: Report): Promise<void> {
  for (const { name, text } of archiveFiles(archive)) {
    if (!name.startsWith(PRECOMPILES)) continue;
    const file = name.slice(PRECOMPILES.length).replace('.json', '');
    const precompile = FILES[file.replace('fail-', '')];
    if (precompile === undefined) {
      report.skip(file, 'no precompile is known for it');
      continue;
    }
    const [id, fork] = precompile;
    for (const { Name, Input, Expected, Gas } of JSON.parse(text()) as Vector[]) {
      const outcome = Gas === undefined ? {} : { gas: Gas, output: `0x${Expected}` };
      await report.check(`${file}, ${Name}`, () => checkCall({ id, fork, input: `0x${Input}`, ...outcome }));
    }
  }
}

const KZG_FILE = 'eip4844_blobs/point_evaluation_precompile_external_vectors.json';
/** The case of the consensus specifications that a state test was made from: all its data is the input. */
const KZG_CASE = /verify_kzg_proof_case_(correct_proof)?[^\]]*/;
const POINT_EVALUATION = 0x0a;
const HOLDS = { gas: 50_000, output: `0x${'1000'.padStart(64, '0')}${bls12_381.fields.Fr.ORDER.toString(16)}` };

async function checkPointEvaluations(archive: Uint8Array, report: Report): Promise<void> {
  for (const { name, text } of archiveFiles(archive)) {
    if (!name.endsWith(KZG_FILE)) continue;
    const cases = JSON.parse(text()) as Record<string, { transaction: { data: [string] } }>;
    for (const [title, { transaction }] of Object.entries(cases)) {
      const [label, correct] = KZG_CASE.exec(title) ?? [title];
      const call = { id: POINT_EVALUATION, fork: 'cancun', input: transaction.data[0] } as const;
      await report.check(label, () => checkCall(correct === undefined ? call : { ...call, ...HOLDS }));
    }
  }
}

/** The archive also has `testcases_NAME.json`: operands and results of arithmetic instructions. This area does not read them. */
const precompilesArea: Area = {
  name: 'evm-vectors/precompiles',
  usesKernel: false,
  files: (material) => [ARCHIVE, STATE_TESTS, GENERATED].filter(material.has),
  async run(material, report) {
    if (material.has(GENERATED)) {
      for (const call of material.json<{ cases: (Call & { name: string })[] }>(GENERATED).cases) {
        await report.check(`0x${call.id.toString(16)} in ${call.fork}, ${call.name}`, () => checkCall(call));
      }
    }
    if (material.has(ARCHIVE)) await checkVectors(material.bytes(ARCHIVE), report);
    if (material.has(STATE_TESTS)) await checkPointEvaluations(material.bytes(STATE_TESTS), report);
  },
};

export const EVM_VECTOR_AREAS: readonly Area[] = [precompilesArea];
