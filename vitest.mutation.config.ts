import { defineConfig } from 'vitest/config';
import { MUTATED_FOLDERS } from './scripts/lib/mutation-folders.mjs';

/** The tests of one folder, for Stryker (scripts/mutation.mjs). */
export default defineConfig({
  test: {
    include: MUTATED_FOLDERS[process.env.PLUMBLINE_MUTATED ?? ''],
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
