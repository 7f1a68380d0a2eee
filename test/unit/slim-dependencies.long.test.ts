import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { slimDependencies } from '../../scripts/lib/slim-dependencies.mjs';

const EVM = fileURLToPath(new URL('../../node_modules/@ethereumjs/evm/dist/esm/', import.meta.url));
const text = (file: string) => readFile(EVM + file, 'utf8');

async function started() {
  const plugin = slimDependencies();
  await plugin.buildStart();
  return plugin;
}

/*
 * What the bundles leave out of the interpreter is found by its text. A version of it that is worded otherwise has to fail
 * the build: bundled without what was meant to stand in its place, it would compute something else, or nothing.
 */
describe('a dependency that has changed fails the build', () => {
  test.each([
    ['evm.js', 'opts.bls ?? new NobleBLS()'],
    ['evm.js', 'opts.blockLevelAccessList ?? createBlockLevelAccessList()'],
    ['constructors.js', 'opts.bn254 = new NobleBN254();'],
    ['constructors.js', 'opts.stateManager = new SimpleStateManager();'],
    ['precompiles/index.js', 'import { MCLBLS, NobleBLS } from "./bls12_381/index.js";'],
  ])('%s without "%s"', async (file, part) => {
    const plugin = await started();
    const code = await text(file);
    expect(code).toContain(part);
    expect(() => plugin.transform(code, EVM + file)).not.toThrow();
    expect(() => plugin.transform(code.replace(part, `${part} /* reworded */`.replace(' ', '  ')), EVM + file)).toThrow(
      /has no .* any more: see scripts\/lib\/slim-dependencies\.mjs/,
    );
  });

  test('files that are there no more are named', async () => {
    const plugin = await started();
    const named = () => plugin.buildEnd();
    expect(named).toThrow(/not found to slim: .*evm\.js/);
    expect(named).toThrow(/01-ecrecover\.js/);
    expect(named).toThrow(/isActivatedEIP/);
    // What has failed already is not hidden behind that.
    expect(() => plugin.buildEnd(new Error('other'))).not.toThrow();
  });
});

test('rules of forks that networks can have stay, those of later ones are folded', async () => {
  const plugin = await started();
  const file = `${EVM}opcodes/any.js`;
  const folded = (eip: number) => plugin.transform(`if (common.isActivatedEIP(${eip})) x();`, file);
  // Berlin, London, Shanghai, Cancun, Prague, Osaka; EIP-7928 is of Amsterdam, EIP-3540 of no fork.
  for (const eip of [2929, 3541, 3860, 1153, 6780, 2537, 7702, 7823, 7883]) expect(folded(eip)).toBeUndefined();
  for (const eip of [7928, 3540, 6800]) expect(folded(eip)).toBe('if (false) x();');
});
