/**
 * `npm test`: installs, builds, gets itself a Chromium where there is none, runs vitest (Node, and the browser) and playwright,
 * and closes with `N passed, N failed, N skipped` over all of them. `npm run test:quick` runs what takes a moment in Node
 * instead, without a build of the library, and `npm run test:slow` the long suites. Words after `--`, such as
 * `npm run test:slow -- soak`, run only those files of vitest that have one of them in their path.
 */
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { buildDemo, buildGenerated } from './build.mjs';
import { ensureBrowser, NONE } from './lib/browser.mjs';
import { bin, root, run } from './lib/run.mjs';

const suite = ['quick', 'slow'].find((name) => process.argv.includes(`--${name}`)) ?? 'all';
const filters = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
await (suite === 'quick' ? buildGenerated() : buildDemo());
const browser = suite === 'quick' ? undefined : await ensureBrowser();
// All that is started below uses this one.
process.env.CHROMIUM_PATH = browser ?? NONE;
const total = { passed: 0, failed: 0, skipped: 0 };
let broken = false;

const resultsDirectory = `${root}/build/results`;
await rm(resultsDirectory, { recursive: true, force: true });
await mkdir(resultsDirectory, { recursive: true });

/** Runs one runner, which writes its results as JSON, and adds them up. A run without results counts as broken. */
async function runSuite(command, args, file, count, stdio = 'inherit') {
  const env = { ...process.env, PLUMBLINE_RESULTS: `${resultsDirectory}/${file}` };
  const code = await run(command, args, { env, stdio });
  try {
    const counts = count(JSON.parse(await readFile(`${resultsDirectory}/${file}`, 'utf8')));
    for (const key of Object.keys(total)) total[key] += counts[key];
    if (code !== 0 && counts.failed === 0) broken = true;
  } catch (error) {
    console.error(`no results of ${command}: ${error.message}`);
    broken = true;
  }
}

const projects = suite === 'all' ? ['node', ...(browser === undefined ? [] : ['browser'])] : [suite];
const results = `${resultsDirectory}/vitest.json`;
const vitestArguments = [
  'run',
  ...projects.flatMap((project) => ['--project', project]),
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${results}`,
  ...filters,
];
const vitest = runSuite(bin('vitest'), vitestArguments, 'vitest.json', (report) => ({
  passed: report.numPassedTests,
  failed: report.numFailedTests + (report.success || report.numFailedTests > 0 ? 0 : 1),
  skipped: report.numPendingTests + report.numTodoTests,
}));

// Pages wait for what they show, and leave a processor idle meanwhile: playwright runs beside vitest, and its output stands
// below that of vitest.
if (suite === 'all' && browser !== undefined && filters.length === 0) {
  const log = `${resultsDirectory}/playwright.log`;
  const output = await open(log, 'w');
  const count = ({ stats }) => ({
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected,
    skipped: stats.skipped,
  });
  await Promise.all([
    vitest,
    runSuite(bin('playwright'), ['test'], 'playwright.json', count, ['ignore', output.fd, output.fd]),
  ]);
  await output.close();
  process.stdout.write(await readFile(log, 'utf8'));
}
await vitest;
if (suite !== 'quick' && browser === undefined) {
  console.warn('Left out: what needs a browser. No Chromium was found or could be had; CHROMIUM_PATH can name one.');
}
if (broken) total.failed++;
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
