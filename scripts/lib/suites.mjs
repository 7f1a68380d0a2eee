import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { bin, root, run } from './run.mjs';

const RESULTS = `${root}/build/results`;

/** Counts of each runner, in its own words. */
const COUNTS = {
  vitest: (report) => ({
    passed: report.numPassedTests,
    failed: report.numFailedTests + (report.success || report.numFailedTests > 0 ? 0 : 1),
    skipped: report.numPendingTests + report.numTodoTests,
  }),
  playwright: ({ stats }) => ({
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected,
    skipped: stats.skipped,
  }),
};

/** Runs one runner, which writes its results as JSON. A run without results counts as failed. */
async function runSuite(name, args, stdio) {
  const file = `${RESULTS}/${name}.json`;
  const code = await run(bin(name), args, { env: { ...process.env, PLUMBLINE_RESULTS: file }, stdio });
  try {
    const counts = COUNTS[name](JSON.parse(await readFile(file, 'utf8')));
    if (code !== 0 && counts.failed === 0) counts.failed = 1;
    return counts;
  } catch (error) {
    console.error(`no results of ${name}: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/**
 * Runs vitest and, beside it, playwright. Prints `N passed, N failed, N skipped` over both, and sets the exit code.
 *
 * @param projects - of vitest
 * @param files - of vitest: those that have one of these words in their path; all when empty
 * @param pages - the same of playwright; undefined leaves playwright out
 */
export async function runSuites({ projects, files, pages }) {
  await rm(RESULTS, { recursive: true, force: true });
  await mkdir(RESULTS, { recursive: true });
  const args = ['--reporter=default', '--reporter=json', `--outputFile.json=${RESULTS}/vitest.json`, ...files];
  const running = [runSuite('vitest', ['run', ...projects.flatMap((name) => ['--project', name]), ...args], 'inherit')];
  // Pages wait for what they show, and leave a processor idle meanwhile: playwright runs beside vitest, and its output stands
  // below that of vitest.
  if (pages !== undefined) {
    const log = `${RESULTS}/playwright.log`;
    const output = await open(log, 'w');
    running.push(runSuite('playwright', ['test', ...pages], ['ignore', output.fd, output.fd]));
    await Promise.all(running);
    await output.close();
    process.stdout.write(await readFile(log, 'utf8'));
  }
  const counts = await Promise.all(running);
  const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map((key) =>
    counts.reduce((sum, count) => sum + count[key], 0),
  );
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
