import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
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

/** What failed, each with its file, and the first line of its reason. */
const FAILURES = {
  vitest: ({ testResults }) =>
    testResults.flatMap(({ name, message, assertionResults }) => {
      const file = relative(root, name);
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      if (failed.length === 0) return message ? [`${file}: ${firstLine(message)}`] : [];
      return failed.map(({ fullName, failureMessages }) => `${file} › ${fullName}: ${firstLine(failureMessages[0])}`);
    }),
  playwright({ suites }) {
    const of = ({ specs = [], suites: inner = [] }) => [...specs, ...inner.flatMap(of)];
    return suites
      .flatMap(of)
      .filter(({ ok }) => !ok)
      .map(({ file, title, tests }) => {
        const { error } = tests.flatMap(({ results }) => results).find((result) => result.error) ?? {};
        return `test/page/${file} › ${title}: ${firstLine(error?.message)}`;
      });
  },
};

function firstLine(text = '') {
  return stripVTControlCharacters(text).split('\n', 1)[0];
}

/** Runs one runner, which writes its results as JSON. A run without results counts as failed. */
async function runSuite(name, args, stdio) {
  const file = `${RESULTS}/${name}.json`;
  const code = await run(bin(name), args, { env: { ...process.env, PLUMBLINE_RESULTS: file }, stdio });
  try {
    const report = JSON.parse(await readFile(file, 'utf8'));
    const counts = COUNTS[name](report);
    counts.failures = FAILURES[name](report);
    if (code !== 0 && counts.failed === 0) counts.failed = 1;
    return counts;
  } catch (error) {
    console.error(`no results of ${name}: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0, failures: [`${name} itself: exit code ${code}`] };
  }
}

/**
 * Runs vitest and, beside it, playwright. Prints what failed and `N passed, N failed, N skipped` over both, and sets the exit
 * code.
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
  for (const failure of counts.flatMap(({ failures }) => failures)) console.log(`failed: ${failure}`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
