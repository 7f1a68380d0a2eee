/**
 * `npm run bench -- [--json FILE] [--check] [--soak [MINUTES]] [area…]`: measures ratios within one run. With `--check` the exit code is 1
 * when a bar named in an area is missed. An area that is named brings those it stands on. With `--soak`, `server` also runs for that long, 30 minutes
 * if no number follows.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Figure } from './area.js';
import { AREAS } from './areas.js';

const args = process.argv
  .slice(2)
  .flatMap((arg, i, all) => (arg === '--soak' && !/^\d/.test(all[i + 1] ?? '') ? [arg, '30'] : [arg]));
const { values, positionals } = parseArgs({
  args,
  allowPositionals: true,
  options: { json: { type: 'string' }, check: { type: 'boolean', default: false }, soak: { type: 'string' } },
});
const unknown = positionals.filter((name) => !AREAS.some((area) => area.name === name));
if (unknown.length > 0) {
  console.error(`no such area: ${unknown.join(', ')}; there are ${AREAS.map((area) => area.name).join(', ')}`);
  process.exit(2);
}

function misses({ value, bar }: Figure): boolean {
  return (bar?.atLeast !== undefined && value < bar.atLeast) || (bar?.atMost !== undefined && value > bar.atMost);
}

const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, Node ${process.version}`;
console.log(machine);
const results: Record<string, Figure[]> = {};
let missed = 0;
const named = AREAS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const chosen = new Set(named.flatMap(({ name, standsOn = [] }) => [...standsOn, name]));
for (const area of AREAS) {
  if (!chosen.has(area.name)) continue;
  console.log(`\n${area.name}: ${area.question}`);
  const figures = await area.run({ soakMinutes: Number(values.soak ?? 0) });
  results[area.name] = figures;
  for (const figure of figures) {
    const bars = [
      figure.bar?.atLeast === undefined ? '' : `at least ${figure.bar.atLeast}`,
      figure.bar?.atMost === undefined ? '' : `at most ${figure.bar.atMost}`,
    ].filter(Boolean);
    const verdict = bars.length === 0 ? '' : ` [${bars.join(', ')}: ${misses(figure) ? 'MISSED' : 'met'}]`;
    if (misses(figure)) missed++;
    const note = figure.note === undefined ? '' : `  (${figure.note})`;
    console.log(`  ${figure.name.padEnd(58)} ${Number(figure.value.toPrecision(4))} ${figure.unit}${verdict}${note}`);
  }
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ machine, results }, undefined, 2)}\n`);
if (values.check && missed > 0) {
  console.error(`${missed} bar(s) missed`);
  process.exitCode = 1;
}
