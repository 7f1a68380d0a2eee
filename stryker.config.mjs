const folder = process.env.PLUMBLINE_MUTATED;

/** Mutants of one folder of src, which scripts/mutation.mjs names. docs/mutation.md says what came of it. */
export default {
  plugins: ['./scripts/lib/mutation-runner.mjs'],
  testRunner: 'in-process',
  // Each run evaluates the tests anew, and no module is ever given back.
  maxTestRunnerReuse: 150,
  mutate: [`src/${folder}/**/*.ts`, '!src/**/*.generated.ts'],
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  concurrency: 2,
  // Stryker would read it with a TypeScript before 7; nothing in it has to be rewritten.
  tsconfigFile: 'none',
  // Fixtures stay outside the sandbox: tests look for them in the folders above, and find those of the repository.
  tempDirName: 'build/mutation/sandbox',
  ignorePatterns: ['/build', '/dist', '/demo', '/bench', '/docs', '/assembly', '/test-results', '/test/fixtures'],
  incremental: true,
  incrementalFile: `build/mutation/${folder}.json`,
  reporters: ['clear-text', 'html', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, skipFull: true },
  htmlReporter: { fileName: `build/mutation/${folder}.html` },
  // A test that waits for ever ends sooner, by the limit of the runner.
  timeoutMS: 6_000,
  allowConsoleColors: false,
};
