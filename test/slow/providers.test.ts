import { expect, test } from 'vitest';
import { PROVIDER_ROWS, type ProviderOutcome, type ProviderRow, runRow } from '../support/provider-rows.js';

test('providers’ ways to say no, as a table', async () => {
  const lines: string[] = [];
  const wrong: string[] = [];
  for (const row of PROVIDER_ROWS) {
    const outcome = await runRow(row);
    lines.push(lineOf(row, outcome));
    const { isRight, reads } = outcome;
    if (reads !== row.reads || !isRight.beside || isRight.once === false) wrong.push(row.name);
  }
  const head =
    '| who | what the endpoint did | what is done | requests: once, always, beside another | what the user reads |';
  process.stdout.write(`${head}\n|---|---|---|---|---|\n${lines.join('\n')}\n`);
  expect(wrong).toEqual([]);
  expect(lines.length).toBeGreaterThan(20);
});

function lineOf({ name, did, done }: ProviderRow, { requests, reads }: ProviderOutcome): string {
  const counts = [requests.once ?? '–', requests.alone, requests.beside].join(', ');
  return `| ${name} | ${did} | ${done} | ${counts} | ${reads} |`;
}
