import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { MUTATED_FOLDERS } from './scripts/lib/mutation-folders.mjs';

/** The fastest file first: the first test that fails ends the run of a mutant. */
class FastestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).reverse();
  }
}

/** The tests of one folder, for Stryker (scripts/mutation.mjs). */
export default defineConfig({
  test: {
    include: MUTATED_FOLDERS[process.env.PLUMBLINE_MUTATED ?? ''],
    sequence: { sequencer: FastestFirst },
    isolate: false,
    // Many mutants make a test wait for ever: each of these costs this long.
    testTimeout: 5_000,
    hookTimeout: 5_000,
  },
});
