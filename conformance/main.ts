/**
 * `npm run conformance`: runs every fixture of the repository, and those of ../shared/fixtures where they are there, on both
 * kernel builds; prints a line per area and closes with the count. `npm run conformance -- directory` runs those of that
 * directory alone, `npm run conformance -- AREA…` these areas. `--only PATTERN` limits areas of many files to those whose
 * names match the regular expression. Exit code 1 when a check failed or no check ran.
 */
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/errors.js';
import { preferEvmBuild } from '../src/kernel/evm-module.js';
import { FIXTURE_DIRECTORIES, missingFixtures } from '../test/support/fixtures.js';
import { type Area, type Material, openMaterial, type Report } from './area.js';
import { AREAS } from './areas.js';
import { filesBelow, foldersWithout } from './folders.js';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } });
const isArea = (name: string) => AREAS.some((area) => area.name === name);
const chosen = positionals.filter(isArea);
const [named, ...others] = positionals.filter((name) => !isArea(name));
const unusable = named === undefined || existsSync(named) ? others[0] : named;
if (unusable !== undefined) {
  console.error(`${unusable} is no area, and no directory to read. Areas: ${AREAS.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}
const only = values.only === undefined ? undefined : new RegExp(values.only);
const directories = named === undefined ? FIXTURE_DIRECTORIES : [resolve(named)];
const SHOWN_FAILURES = 5;

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

async function runArea(area: Area, material: Material, total: Tally): Promise<void> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const notes: string[] = [];
  const report: Report = {
    async check(name, body) {
      let problem: string | undefined;
      try {
        problem = await body();
      } catch (error) {
        problem = `threw ${messageOf(error)}`;
      }
      if (problem === undefined) tally.passed++;
      else if (++tally.failed <= SHOWN_FAILURES || area.showsEveryFailure === true)
        notes.push(`    FAILED ${name}: ${problem}`);
    },
    skip(name, reason) {
      tally.skipped++;
      notes.push(`    skipped ${name}: ${reason}`);
    },
    note(text) {
      notes.push(`    ${text}`);
    },
  };
  const started = performance.now();
  try {
    await area.run(material, report);
  } catch (error) {
    tally.failed++;
    notes.push(`    FAILED the area broke off: ${messageOf(error)}`);
  }
  if (tally.passed + tally.failed + tally.skipped === 0) {
    tally.failed++;
    notes.push('    FAILED the files are there, and no check ran');
  }
  const build = area.usesKernel ? ` (${material.build})` : '';
  const ms = Math.round(performance.now() - started);
  const counts = `${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`;
  console.log(`${`${area.name}${build}`.padEnd(44)} ${counts} in ${ms} ms`);
  for (const note of notes) console.log(note);
  total.passed += tally.passed;
  total.failed += tally.failed;
  total.skipped += tally.skipped;
}

const total: Tally = { passed: 0, failed: 0, skipped: 0 };
const read = new Set<string>();
const notice = named === undefined ? missingFixtures() : undefined;
const beside = notice === undefined ? ' and ../shared/fixtures' : '';
console.log(`fixtures: ${named ?? `test/fixtures${beside}`}`);
for (const area of AREAS.filter(({ name }) => chosen.length === 0 || chosen.includes(name))) {
  for (const build of area.usesKernel ? (['simd', 'scalar'] as const) : (['simd'] as const)) {
    const material = openMaterial(directories, build, only, (place) => read.add(place));
    if (area.files(material).length === 0) {
      console.log(`${area.name.padEnd(44)} absent`);
      break;
    }
    preferEvmBuild(build);
    await runArea(area, material, total);
  }
}
if (chosen.length === 0 && only === undefined) {
  // A file that is in several directories is read in the first, so its path counts, not its place.
  const existing = directories.filter((directory) => existsSync(directory));
  const paths = new Set(existing.flatMap((directory) => [...read].map((place) => relative(directory, place))));
  for (const folder of foldersWithout(new Set(existing.flatMap((directory) => filesBelow(directory))), paths))
    console.log(`${folder.padEnd(44)} no area reads it`);
}
if (notice !== undefined) console.log(notice);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
