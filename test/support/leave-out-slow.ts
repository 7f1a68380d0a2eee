import { beforeEach } from 'vitest';
import { SLOW_TESTS } from '../../scripts/lib/mutation-folders.mjs';

const slow = SLOW_TESTS[process.env.PLUMBLINE_MUTATED ?? ''];

/** For mutants (vitest.mutation.config.ts): leaves out what takes long and finds little that other tests do not. */
beforeEach(({ skip, task }) => {
  skip(slow?.test(task.fullTestName) ?? false);
});
