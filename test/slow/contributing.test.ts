import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

/*
 * The steps of CONTRIBUTING.md, tried as written in copies of the repository: how many source files each needs, and that the quick tests
 * say by name what else belongs to it. Slow, because each copy is type-checked and tested by itself.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Paths that a copy does not need, or makes itself. */
const LEFT_OUT =
  /(?:^|[\\/])node_modules(?:[\\/]|$)|^(?:\.git|dist|build|test-results|src[\\/]rpc[\\/].*\.generated\.ts)(?:[\\/]|$)/;

/** A copy of the repository, with the same packages, kernels and dictionary. */
class Copy {
  readonly directory = mkdtempSync(join(tmpdir(), 'plumbline-contributing-'));
  readonly #changed = new Set<string>();

  constructor() {
    onTestFinished(() => rmSync(this.directory, { recursive: true }));
    const isSource = (path: string) => !LEFT_OUT.test(relative(root, path));
    for (const name of readdirSync(root))
      if (isSource(join(root, name)))
        cpSync(join(root, name), join(this.directory, name), { recursive: true, filter: isSource });
    // The description of the methods is made with the TypeScript of the reference.
    for (const packages of ['node_modules', 'docs/api/node_modules'])
      symlinkSync(join(root, packages), join(this.directory, packages));
    mkdirSync(join(this.directory, 'build'));
  }

  /** Files of `src` that were written. */
  get sources(): string[] {
    return [...this.#changed].filter((file) => file.startsWith('src/')).sort();
  }

  write(file: string, text: string): void {
    this.#changed.add(file);
    mkdirSync(dirname(join(this.directory, file)), { recursive: true });
    writeFileSync(join(this.directory, file), text);
  }

  /** Puts text after a text that the file has once. */
  insert(file: string, after: string, text: string): void {
    const parts = readFileSync(join(this.directory, file), 'utf8').split(after);
    expect(parts, file).toHaveLength(2);
    this.write(file, parts.join(after + text));
  }

  run(...[command, ...args]: [string, ...string[]]): { readonly passed: boolean; readonly output: string } {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: this.directory,
      encoding: 'utf8',
      // Nothing here needs a browser, also where a missing one is an error.
      env: { ...process.env, NO_COLOR: '1', CHROMIUM_PATH: 'none', CI: '' },
    });
    return { passed: status === 0, output: stdout + stderr };
  }

  /** Makes the generated modules, and checks the types of `src`. */
  compiles(): void {
    for (const script of ['scripts/build-methods.mjs', 'scripts/build-openrpc.mjs'])
      expect(this.run('node', script)).toMatchObject({ passed: true });
    expect(this.run('node_modules/.bin/tsc', '-p', 'tsconfig.build.json', '--noEmit')).toEqual({
      passed: true,
      output: '',
    });
  }

  quick(...files: string[]) {
    return this.run('node_modules/.bin/vitest', 'run', '--project', 'quick', ...files);
  }

  passes(...files: string[]): void {
    const { passed, output } = this.quick(...files);
    expect({ passed, output: passed ? '' : output }).toEqual({ passed: true, output: '' });
  }

  /** The quick tests of these files fail, and name what is missing. */
  names(missing: string, ...files: string[]): void {
    for (const file of files) {
      const { passed, output } = this.quick(file);
      expect({ file, passed }).toEqual({ file, passed: false });
      expect(output, file).toContain(missing);
    }
  }
}

describe('by the steps of CONTRIBUTING.md', () => {
  test('a method is one source file and its test; the quick tests name it where documents lack it', () => {
    const copy = new Copy();
    copy.write(
      'src/rpc/methods/eth_answer.ts',
      `import type { Hex } from '../../primitives/hex.js';
import { OF_THE_NODE } from '../method-rows.js';
import { defineMethod } from './context.js';

export const eth_answer = defineMethod<[question: string], Hex>('eth_answer', OF_THE_NODE, () => '0x2a');
`,
    );
    copy.compiles();
    copy.names('eth_answer', 'test/rpc/method-info.test.ts', 'test/docs/tools.test.ts');
    expect(copy.quick('test/docs/tools.test.ts').output).toContain('× every method has a test');
    copy.write(
      'test/rpc/eth_answer.test.ts',
      `import { expect, expectTypeOf, test } from 'vitest';
import { devNode } from '../support/dev-node.js';

test('the answer', async () => {
  const { node } = await devNode();
  const answer = await node.request({ method: 'eth_answer', params: ['?'] });
  expectTypeOf(answer).toEqualTypeOf<\`0x\${string}\`>();
  expect(answer).toBe('0x2a');
});
`,
    );
    copy.passes('test/rpc/eth_answer.test.ts', 'test/unit/imports.test.ts', 'test/unit/rpc-proxy.test.ts');
    expect(copy.quick('test/docs/tools.test.ts').output).toContain('✓ every method has a test');
    expect(copy.sources).toEqual(['src/rpc/methods/eth_answer.ts']);
  });

  test('a warning is two source files: its type, and the place that finds it', () => {
    const copy = new Copy();
    copy.insert(
      'src/preview/preview.ts',
      'export type PreviewWarning = { readonly severity: Severity } & (\n',
      "  | { readonly code: 'to-itself'; readonly account: Hex }\n",
    );
    copy.insert(
      'src/preview/preview-calls.ts',
      'await warnOfApprovals(allApprovals, allTransfers, { own, users, called, stood }, warn);\n',
      `  for (const { message } of ran) {
    const from = bytesToHex(message.from);
    if (message.to !== undefined && from === bytesToHex(message.to))
      warn({ code: 'to-itself', severity: 'note', account: from });
  }
`,
    );
    copy.write(
      'test/rpc/to-itself.test.ts',
      `import { expect, test } from 'vitest';
import { accountAt, devNode } from '../support/dev-node.js';

test('a transfer to oneself', async () => {
  const { node } = await devNode();
  const account = accountAt(0);
  const { warnings } = await node.previewTransaction({ from: account, to: account, value: '0x1' });
  expect(warnings).toEqual([{ code: 'to-itself', severity: 'note', account }]);
});
`,
    );
    copy.compiles();
    copy.passes('test/rpc/to-itself.test.ts');
    expect(copy.sources).toEqual(['src/preview/preview-calls.ts', 'src/preview/preview.ts']);
  });

  test('a network is one source file: its name, and its profile in the table', () => {
    const copy = new Copy();
    copy.insert('src/networks/networks.ts', "export type NetworkName = 'linea'", " | 'linea-tomorrow'");
    copy.insert(
      'src/networks/networks.ts',
      "  'linea-sepolia': lineaSepolia,\n",
      "  'linea-tomorrow': { ...lineaSepolia, name: 'linea-tomorrow', chainId: 59_199 },\n",
    );
    copy.compiles();
    copy.passes('test/unit/networks.test.ts', 'test/rpc/node-options.test.ts');
    expect(copy.sources).toEqual(['src/networks/networks.ts']);
    // A profile that is not one is named.
    copy.insert(
      'src/networks/networks.ts',
      "name: 'linea-tomorrow',",
      " hashSchemes: [{ fromBlock: 1, scheme: 'mimc' }],",
    );
    copy.names('linea-tomorrow', 'test/unit/networks.test.ts');
  });

  test('an error code is one source file; the quick tests name it where its test is missing', () => {
    const copy = new Copy();
    copy.insert(
      'src/errors.ts',
      'export interface ErrorDetails {\n',
      '  /** The sky is cloudy. Remedy: wait. */\n  SKY_CLOUDY: { okta: number };\n',
    );
    copy.write(
      'test/rpc/sky-cloudy.test.ts',
      `import { expect, test } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import { toRpcError } from '../../src/rpc/rpc-errors.js';

test('a cloudy sky', () => {
  const message = 'the sky is cloudy, wait';
  expect(toRpcError(new PlumblineError('SKY_CLOUDY', message, { okta: 8 }))).toEqual({
    ...{ code: -32000, message, reason: 'SKY_CLOUDY', details: { okta: 8 } },
  });
});
`,
    );
    copy.compiles();
    copy.passes('test/rpc/sky-cloudy.test.ts');
    copy.names('SKY_CLOUDY', 'test/rpc/error-messages.test.ts');
    expect(copy.sources).toEqual(['src/errors.ts']);
  });
});
