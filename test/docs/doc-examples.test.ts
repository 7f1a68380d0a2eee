import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../packaging/project.js';
import { checkingProgram, docExamples, ENTRY_FILES } from './doc-examples.js';

const folder = join(root, 'build/doc-examples');
const all = docExamples();
const run = all.filter(({ snippet }) => snippet?.how === 'node');

/** Its program, which imports the entry points from their sources. */
function moduleOf(text: string): string {
  const files: Readonly<Record<string, string>> = {
    ...ENTRY_FILES,
    'plumbline-l2/inline': 'src/hosts/opening/inline.ts',
  };
  const imports = text.replace(/from '(plumbline-l2[^']*)'/g, (_, name: string) => {
    return `from '${relative(folder, join(root, files[name]!)).replaceAll('\\', '/')}'`;
  });
  return `const { claimed } = globalThis.docExamples;\n${checkingProgram(imports)}\nexport {};\n`;
}

describe('examples in the comments of public functions', () => {
  const claims: [expression: string, value: unknown, claim: unknown][] = [];

  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
    for (const { name, snippet } of run) writeFileSync(join(folder, `${name}.ts`), moduleOf(snippet!.text));
    const claimed = (...claim: (typeof claims)[number]) => claims.push(claim);
    Object.assign(globalThis, { docExamples: { claimed } });
  });

  afterAll(() => {
    Reflect.deleteProperty(globalThis, 'docExamples');
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(run.map(({ name }) => name))('%s', async (name) => {
    claims.length = 0;
    await import(/* @vite-ignore */ join(folder, `${name}.ts`));
    for (const [expression, value, claim] of claims) expect(value, expression).toEqual(claim);
    if (name !== 'beaconNetwork') expect(claims.length).toBeGreaterThan(0);
  });
});
