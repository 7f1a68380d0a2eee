import { describe, expect, it } from 'vitest';
import { type Area, openMaterial } from '../../conformance/area.js';
import { arithmeticArea } from '../../conformance/evm-arithmetic.js';
import { blocksArea, estimateGasArea } from '../../conformance/execution.js';
import { stateTestsArea } from '../../conformance/state-tests.js';
import { FIXTURE_DIRECTORIES } from '../support/fixtures.js';

/** Of the official state tests the whole is run by `npm run conformance`. */
const SOME_STATE_TESTS = /generated|stExample|stRefundTest|stTransitionTest|eip3651_warm_coinbase/;

async function run(area: Area): Promise<{ passed: number; problems: string[] }> {
  const problems: string[] = [];
  let passed = 0;
  await area.run(openMaterial(FIXTURE_DIRECTORIES, 'scalar', SOME_STATE_TESTS), {
    async check(name, body) {
      const problem = await Promise.resolve()
        .then(body)
        .catch((error) => `threw ${error}`);
      if (problem === undefined) passed++;
      else problems.push(`${name}: ${problem}`);
    },
    skip: (name) => problems.push(`${name} was skipped`),
    note: () => {},
  });
  return { passed, problems };
}

describe('execution against recorded and generated data', () => {
  it('gives every recorded gas estimate and every search ceiling', async () => {
    const { passed, problems } = await run(estimateGasArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(50);
  });

  it('gives the gas, logs, estimates and state of every block', async () => {
    const { passed, problems } = await run(blocksArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(60);
  });

  it('gives the state root and logs of some state tests, under each fork', async () => {
    const { passed, problems } = await run(stateTestsArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(179);
  });

  it('gives every result of arithmetic', async () => {
    const { passed, problems } = await run(arithmeticArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(1_500);
  });
});
