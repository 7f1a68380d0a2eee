import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { METHOD_INFO } from '../../src/rpc/method-info.js';
import type { MethodInfo } from '../../src/rpc/method-rows.js';
import { ANVIL_METHODS, BESU_METHODS, HARDHAT_METHODS } from '../support/tool-methods.js';

const L2: Readonly<Record<string, MethodInfo>> = METHOD_INFO.l2;
/** Methods that are there to say why they cannot be had. test/rpc/dev-tools.test.ts asks them. */
const REFUSED = ['anvil_setMinGasPrice', 'anvil_setRpcUrl', 'hardhat_setMinGasPrice'];

/** Files that ask methods. */
const TESTS = readdirSync(new URL('../', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((file) => /^(rpc|light|clients|unit)[\\/](?!.*node_modules).*\.test\.ts$/.test(file))
  .map((file) => new URL(file.replaceAll('\\', '/'), new URL('../', import.meta.url)));

interface Row {
  readonly name: string;
  readonly tools: readonly boolean[];
  readonly here: string;
  readonly note: string;
}

/** Rows of the last table of docs/tools.md. */
function rows(): Row[] {
  const text = readFileSync(new URL('../../docs/tools.md', import.meta.url), 'utf8');
  return text
    .slice(text.indexOf('| method | anvil | Hardhat | Besu |'))
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, name]) => name?.startsWith('`'))
    .map(([, name, anvil, hardhat, besu, here, note]) => {
      const tools = [anvil, hardhat, besu].map((mark) => ({ yes: true, '–': false })[mark!]!);
      return { name: name!.slice(1, -1), tools, here: here!, note: note! };
    });
}

function expectedHere(name: string): string {
  const answers = L2[name]?.answers;
  if (answers === undefined) return 'no';
  if (REFUSED.includes(name)) return 'refused';
  if (answers.devnet === 'off') return 'light';
  return answers.light === 'off' ? 'devnet' : 'all';
}

test('docs/tools.md has all methods of the tools and our own, each once, in order', () => {
  const names = new Set([...ANVIL_METHODS, ...HARDHAT_METHODS, ...BESU_METHODS, ...Object.keys(L2)]);
  expect(rows().map(({ name }) => name)).toEqual([...names].sort());
});

test('its columns are those of the tools and of the code', () => {
  for (const { name, tools, here } of rows()) {
    const lists = [ANVIL_METHODS, HARDHAT_METHODS, BESU_METHODS].map((list) => list.includes(name));
    expect({ name, tools, here }).toEqual({ name, tools: lists, here: expectedHere(name) });
  }
});

test('what is missing or refused has a reason', () => {
  for (const { name, here, note } of rows()) if (here === 'no' || here === 'refused') expect(note, name).not.toBe('');
});

test('every method has a test', () => {
  const named = new Set(TESTS.flatMap((file) => readFileSync(file, 'utf8').match(/\b[a-z]\w*[_.]\w+/g) ?? []));
  expect(Object.keys(L2).filter((name) => !named.has(name))).toEqual([]);
});
