import { defineConfig } from 'vitest/config';
import { MUTATED_FOLDERS } from './scripts/lib/mutation-folders.mjs';

/** The tests of one folder, for Stryker (scripts/mutation.mjs). */
export default defineConfig({
  test: {
    include: MUTATED_FOLDERS[process.env.PLUMBLINE_MUTATED ?? ''],
    isolate: false,
    // Many mutants make a test wait for ever: each of these costs this long.
    testTimeout: 5_000,
    hookTimeout: 5_000,
  },
});
