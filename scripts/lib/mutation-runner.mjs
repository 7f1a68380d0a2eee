/**
 * Runs tests for Stryker in its own process: the files of tests are bundled once, each with all that it imports, and for each
 * mutant evaluated anew. A worker of vitest, which is started for each mutant, takes ten times as long.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { INSTRUMENTER_CONSTANTS } from '@stryker-mutator/api/core';
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  DryRunStatus,
  determineHitLimitReached,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { startTests } from '@vitest/runner';
import { rolldown } from 'rolldown';
import { globSync } from 'tinyglobby';
import { MUTATED_FOLDERS, SLOW_TESTS } from './mutation-folders.mjs';

const folder = process.env.PLUMBLINE_MUTATED ?? '';
const STAND_IN = new URL('./mutation-vitest.mjs', import.meta.url).href;
/** Time of a test, and of a hook. */
const LIMIT_MS = 5_000;

/** Modules keep their place for `import.meta.url`, and share nothing but the stand-in for vitest. */
const bundling = {
  name: 'mutated-tests',
  resolveId: (name) => (name === 'vitest' ? { id: STAND_IN, external: true } : undefined),
  // A name with a query is a module of its own.
  load(id) {
    const [path, query] = id.split('?');
    return query === undefined ? undefined : { code: readFileSync(path, 'utf8'), moduleType: 'ts' };
  },
  transform: (code, id) =>
    code.includes('import.meta.url')
      ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      : undefined,
};

async function bundle(files, directory) {
  if (existsSync(directory)) return;
  const made = `${directory}-${process.pid}`;
  mkdirSync(made, { recursive: true });
  for (const file of files) {
    const build = await rolldown({ input: file, platform: 'node', plugins: [bundling], logLevel: 'silent' });
    await build.write({ file: `${made}/${file.replaceAll('/', '-')}.mjs`, format: 'esm', codeSplitting: false });
    await build.close();
  }
  try {
    renameSync(made, directory);
  } catch {
    // Another process was first.
    rmSync(made, { recursive: true });
  }
}

const config = {
  root: process.cwd(),
  setupFiles: [],
  allowOnly: false,
  passWithNoTests: true,
  sequence: { seed: 1, hooks: 'stack', setupFiles: 'list', shuffle: false },
  maxConcurrency: 1,
  testTimeout: LIMIT_MS,
  hookTimeout: LIMIT_MS,
  retry: 0,
  includeTaskLocation: false,
  tags: [],
};

/** One run of one file, until the first test that fails. */
class FileRun {
  config = config;
  viteEnvironment = 'ssr';
  failed = false;
  results = [];

  constructor(namespace, file, url, { only, mutant, bail }) {
    Object.assign(this, { namespace, file, url, only, mutant, bail });
  }

  importFile() {
    return import(this.url);
  }

  onCollected([file]) {
    this.choose(file);
    this.namespace.activeMutant = this.mutant;
  }

  /** Leaves out tests that are not asked for. @returns whether anything is left */
  choose(suite) {
    let left = false;
    for (const task of suite.tasks) {
      const isChosen =
        task.type === 'suite'
          ? this.choose(task)
          : (this.only?.has(this.idOf(task)) ?? !SLOW_TESTS[folder]?.test(task.fullTestName));
      if (!isChosen) task.mode = 'skip';
      left ||= isChosen && task.mode !== 'skip';
    }
    if (!left) suite.mode = 'skip';
    return left;
  }

  onBeforeRunTask(test) {
    if (this.failed && this.bail) test.mode = 'skip';
  }

  onBeforeTryTask(test) {
    this.namespace.currentTestId = this.idOf(test);
  }

  onAfterRunTask(test) {
    this.namespace.currentTestId = undefined;
    const { state, duration = 0, errors } = test.result ?? {};
    if (state !== 'pass' && state !== 'fail') return;
    const id = this.idOf(test);
    const base = { id, name: test.fullTestName, fileName: this.file, timeSpentMs: duration };
    if (state === 'pass') this.results.push({ ...base, status: TestStatus.Success });
    else {
      this.failed = true;
      const failureMessage = errors?.[0]?.message ?? 'failed';
      this.results.push({ ...base, status: TestStatus.Failed, failureMessage });
    }
  }

  idOf(test) {
    return `${this.file}#${test.fullTestName}`;
  }

  /** @returns results; a hook that failed is one, too */
  async run() {
    const [file] = await startTests([this.file], this);
    const broken = brokenSuite(file);
    if (broken !== undefined && !this.failed) {
      const failureMessage = broken.result.errors?.[0]?.message ?? 'failed';
      const name = `${this.file} as a whole`;
      this.results.push({ id: name, name, timeSpentMs: 0, status: TestStatus.Failed, failureMessage });
    }
    return this.results;
  }
}

function brokenSuite(suite) {
  if (suite.result?.errors?.length > 0) return suite;
  for (const task of suite.tasks) {
    const broken = task.type === 'suite' ? brokenSuite(task) : undefined;
    if (broken !== undefined) return broken;
  }
  return undefined;
}

class InProcessRunner {
  runs = 0;

  /** What the instrumented code reads and writes. */
  namespace = {};

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE] = this.namespace;
    this.files = globSync(MUTATED_FOLDERS[folder]).sort();
    this.directory = resolve('build/mutated-tests');
    await bundle(this.files, this.directory);
    // A mutant may leave rejected promises behind.
    process.on('unhandledRejection', () => undefined);
  }

  async dryRun() {
    const tests = await this.run({ bail: false });
    const times = {};
    for (const { fileName, timeSpentMs } of tests) times[fileName] = (times[fileName] ?? 0) + timeSpentMs;
    writeFileSync(`${this.directory}/times.json`, JSON.stringify(times));
    const { mutantCoverage } = this.namespace;
    return { status: DryRunStatus.Complete, tests, mutantCoverage };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit }) {
    Object.assign(this.namespace, { hitCount: 0, hitLimit });
    const only = testFilter && new Set(testFilter);
    const tests = await this.run({ bail: true, only, mutant: activeMutant.id });
    this.namespace.activeMutant = undefined;
    const reached = determineHitLimitReached(this.namespace.hitCount, hitLimit);
    return toMutantRunResult(reached ?? { status: DryRunStatus.Complete, tests });
  }

  async run(options) {
    const { only, bail } = options;
    const files = only === undefined ? this.files : this.fastestFirst(only);
    const all = [];
    for (const file of files) {
      this.namespace.activeMutant = undefined;
      const url = `${pathToFileURL(`${this.directory}/${file.replaceAll('/', '-')}.mjs`).href}?${this.runs++}`;
      const results = await new FileRun(this.namespace, file, url, options).run();
      all.push(...results);
      if (bail && results.some(({ status }) => status === TestStatus.Failed)) break;
    }
    return all;
  }

  /** The files of these tests. The first test that fails ends the run of a mutant. */
  fastestFirst(ids) {
    this.times ??= JSON.parse(readFileSync(`${this.directory}/times.json`, 'utf8'));
    const files = new Set([...ids].map((id) => id.slice(0, id.indexOf('#'))));
    return [...files].sort((a, b) => this.times[a] - this.times[b]);
  }

  async dispose() {}
}

const create = () => new InProcessRunner();

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'in-process', create)];
