import { describe, expect, it } from 'vitest';
import { rulesAt } from '../../src/evm/common.js';
import { activePrecompiles } from '../../src/evm/precompile-ids.js';
import { PRECOMPILE_LINES, runPrecompile } from '../../src/evm/precompiles.js';
import { RunCounts } from '../../src/evm/run-budget.js';
import type { CountedModule } from '../../src/networks/module-limits.js';
import type { Hardfork } from '../../src/networks/network.js';
import { bigIntToBytes, concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { PRECOMPILE_COUNTERS } from '../support/oracle/counters-precompiles.js';
import { precompileInputs } from '../support/precompile-inputs.js';
import { oracleResult } from '../support/precompile-oracle.js';
import { seededRandom } from '../support/random.js';
import { RANDOM_PRECOMPILES, randomPrecompileInput } from '../support/random-precompile-input.js';
import { randomBytes } from '../support/random-programs.js';

/** Forks that differ in the set of precompiles or in their prices. */
const FORKS = ['chainstart', 'byzantium', 'istanbul', 'berlin', 'cancun', 'prague', 'osaka'] as const;
const POINT_EVALUATION = 0x0a;

const SEED = Number(process.env.SEED ?? 20_251);
/** Curves take milliseconds a call, in both. */
const ROUNDS = Number(process.env.ROUNDS ?? 24);

const rulesOf = (hardfork: Hardfork) => rulesAt({ chainId: 1, forks: [{ hardfork, block: 0 }] }, 0, 0);

const show = ({ succeeded, gasUsed, output }: { succeeded: boolean; gasUsed: bigint; output: Uint8Array }) =>
  `${succeeded ? 'succeeded' : 'failed'}, ${gasUsed} gas, ${bytesToHex(output)}`;

async function expectSame(id: number, data: Uint8Array, gas: bigint, fork: (typeof FORKS)[number], name: string) {
  const expected = await oracleResult(id, data, gas, fork);
  const result = await runPrecompile(id, data, gas, rulesOf(fork), () => undefined);
  // A call with too little gas names the price, and spends what there is.
  const gasUsed = result.gasUsed < gas ? result.gasUsed : gas;
  expect(
    show({ ...result, gasUsed }),
    `${name}: 0x${id.toString(16)} in ${fork}, ${gas} gas, input ${bytesToHex(data)}`,
  ).toBe(show(expected));
  return expected;
}

describe('precompiles beside @ethereumjs/evm', () => {
  it.each(RANDOM_PRECOMPILES)(`give the same for random and malformed input, seed ${SEED}, id %i`, async (id) => {
    const below = seededRandom(SEED * 1_000 + id);
    const forks = FORKS.filter((fork) => activePrecompiles(rulesOf(fork)).includes(id));
    let successes = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const data = randomPrecompileInput(id, below);
      const fork = forks[below(forks.length)]!;
      const { succeeded, gasUsed } = await expectSame(id, data, 50_000_000n, fork, `round ${round}`);
      if (!succeeded) continue;
      successes++;
      await expectSame(id, data, gasUsed, fork, `round ${round}, just enough gas`);
      if (gasUsed > 0n) await expectSame(id, data, gasUsed - 1n, fork, `round ${round}, a gas too few`);
    }
    expect(successes).toBeGreaterThan(ROUNDS / 8);
  });

  it('give the same for known input under every fork', async () => {
    for (const [id, data] of precompileInputs()) {
      if (id === POINT_EVALUATION) continue;
      for (const fork of FORKS) {
        if (!activePrecompiles(rulesOf(fork)).includes(id)) continue;
        await expectSame(id, data, 10_000_000n, fork, 'known');
      }
    }
  });
});

describe('runs of BLAKE2f that take turns', () => {
  it(`each give what @ethereumjs/evm gives, seed ${SEED}`, async () => {
    const below = seededRandom(SEED);
    // Around the ends of pieces, and several pieces long.
    const inputs = [49_999, 50_000, 50_001, 100_000, 123_457].map((rounds, i) =>
      concatBytes(bigIntToBytes(BigInt(rounds), 4), randomBytes(below, 208), Uint8Array.of(i % 2)),
    );
    const gas = 1_000_000n;
    const rules = rulesOf('istanbul');
    // They are loaded once one has run; after that all begin in the same turn.
    await runPrecompile(0x09, inputs[0]!, gas, rules, () => undefined);
    let pauses = 0;
    const pause = async () => {
      pauses++;
    };
    const results = await Promise.all(inputs.map((input) => runPrecompile(0x09, input, gas, rules, pause)));
    expect(pauses).toBeGreaterThan(3);
    for (const [i, input] of inputs.entries()) {
      expect(show(results[i]!)).toBe(show(await oracleResult(0x09, input, gas, 'istanbul')));
    }
  });
});

describe('the prover’s lines for precompiles', () => {
  it('are those of the hooks in the interpreter', () => {
    for (const [id, data] of precompileInputs()) {
      if (id === POINT_EVALUATION) continue;
      for (const succeeded of [true, false]) {
        const [expected, counts] = [new RunCounts(), new RunCounts()];
        const result = succeeded ? {} : { exceptionError: { error: 'x' } };
        PRECOMPILE_COUNTERS.get(id)?.(expected, data, result as never);
        const add = (module: string, lines?: number) => counts.add(module as CountedModule, lines);
        PRECOMPILE_LINES.get(id)?.({ add }, data, succeeded);
        expect(counts.read(), `0x${id.toString(16)} ${bytesToHex(data)}`).toEqual(expected.read());
      }
    }
  });

  it('count a point evaluation that holds, and one that fails', () => {
    const linesOf = (data: Uint8Array, succeeded: boolean) => {
      const lines: Record<string, number> = {};
      const add = (module: string, more = 1) => {
        lines[module] = (lines[module] ?? 0) + more;
      };
      PRECOMPILE_LINES.get(POINT_EVALUATION)!({ add }, data, succeeded);
      return lines;
    };
    expect(linesOf(new Uint8Array(192), true)).toEqual({ PRECOMPILE_BLS_POINT_EVALUATION_EFFECTIVE_CALLS: 1 });
    expect(linesOf(new Uint8Array(192), false)).toEqual({ PRECOMPILE_POINT_EVALUATION_FAILURE_EFFECTIVE_CALLS: 1 });
    expect(linesOf(new Uint8Array(0), false)).toEqual({});
  });
});
