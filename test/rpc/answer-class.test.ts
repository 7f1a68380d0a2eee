import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Chain } from '../../src/chain/chain.js';
import { linea } from '../../src/networks/linea.js';
import type { RpcContext } from '../../src/rpc/methods/context.js';
import { answerClass } from '../../src/rpc/protocol/answer-report.js';
import { methodTable } from '../../src/rpc/tables/method-table.js';

/** Rows of the README's table of methods: names, class on a devnet, class on a light node. */
const rows = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, names, devnet]) => names?.startsWith('`') && /^(proved|computed|held|forwarded)$/.test(devnet ?? ''))
  .map(([, names = '', devnet, light]) => {
    const patterns = [...names.matchAll(/`(\w+)(…?)`/g)].map(
      ([, name, more]) => new RegExp(`^${name}${more === '' ? '$' : ''}`),
    );
    if (/\buncles\b/.test(names)) patterns.push(/^eth_getUncle/);
    return { patterns, devnet, light };
  });
const rowsOf = (method: string) => rows.filter(({ patterns }) => patterns.some((pattern) => pattern.test(method)));

describe('classes of answers', () => {
  test.each(['devnet', 'light'] as const)('every method on a %s as the README has it', (kind) => {
    const table = methodTable({ chain: { kind, network: linea } as Chain } as RpcContext);
    expect(table.names.length).toBeGreaterThan(48);
    const listed = table.names.map((name) => [name, rowsOf(name).map((row) => row[kind])]);
    const said = table.names.map((name) => [name, [answerClass(kind, table.find(name).name)]]);
    expect(said).toEqual(listed);
  });

  test('a replica as a light node', () => {
    const table = methodTable({ chain: { kind: 'replica', network: linea } as Chain } as RpcContext);
    for (const name of table.names) expect(answerClass('replica', name), name).toBe(answerClass('light', name));
  });
});
