import { expect, test } from 'vitest';
import { devNode } from '../support/dev-node.js';
import { FAILURE_ROWS, failureChain, faultsOf, runFailure } from '../support/failure-rows.js';

/* Slow because of its table, which is to be read; each row opens a node. */

test('failures of endpoints and of layer 1, as a table', async () => {
  const dev = await devNode();
  const root = await failureChain(dev);
  const wrong: string[] = [];
  process.stdout.write('| failure | reason | what the user reads |\n|---|---|---|\n');
  for (const row of FAILURE_ROWS) {
    const outcome = await runFailure(row, dev, root);
    process.stdout.write(`| ${row.name} | ${outcome.reason} | ${outcome.sentence} |\n`);
    wrong.push(...faultsOf(row, outcome).map((fault) => `${row.name}: ${fault}`));
  }
  expect(wrong).toEqual([]);
  expect(FAILURE_ROWS.length).toBeGreaterThanOrEqual(60);
});
