import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { bin, type Packed, packPackage, root, run } from './project.js';

/** A consumer that imports every door there is, and uses what a wallet would. */
const EVERY_DOOR = `import { createNode, devnet, linea, PlumblineError, type Hex, type PlumblineNode } from 'plumbline';
import * as worker from 'plumbline/worker';
import { createInlineNode, type NodeInfo } from 'plumbline/inline';
import * as serviceWorker from 'plumbline/service-worker';
import { hexToBytes, loadHasher, verifyLineaProof } from 'plumbline/verify';
import { lineaActions, type PlumblineRpcSchema } from 'plumbline/viem';
import { loadCalldataSizer, priorityFeePerGas, type Prices } from 'plumbline/fees';

export const nothing: Record<string, never>[] = [worker, serviceWorker];
export async function estimate(key: string): Promise<Hex> {
  const node: PlumblineNode = await createNode({ chain: { kind: 'light', network: linea, endpoints: [key] } });
  node.on('answer', ({ class: kind, level }) => console.log(kind, level));
  const { gasLimit, evidence } = await node.explainEstimate([{ to: '0x' }]);
  const total: Hex = evidence.totalFee;
  const { chainId }: NodeInfo = (await createInlineNode({ chain: { kind: 'devnet', network: devnet() } })).info;
  const verdict = verifyLineaProof(await loadHasher('mimc'), { address: hexToBytes('0x'), storageKeys: [], stateRoot: hexToBytes('0x') }, {});
  if (!verdict.verified) throw new PlumblineError('INTERNAL', verdict.reason, { reason: String(chainId) });
  return gasLimit + total.slice(2) as Hex;
}
export const tools: unknown[] = [loadCalldataSizer, priorityFeePerGas satisfies Function];
export type Schema = PlumblineRpcSchema[0]['ReturnType'];
export const { estimateLineaFees } = lineaActions()({ request: async () => ({}) });
export type { Prices };
// @ts-expect-error a mistake has to be one, or nothing is checked here
createNode({ chain: { kind: 'no such kind' } });
`;

/** A program of Node's, without the types of a page. */
const NODE_DOORS = `import { serve } from 'plumbline/node';
import { createInlineNode } from 'plumbline/inline';
import { verifyLineaProof } from 'plumbline/verify';
import { encodeForSizing } from 'plumbline/fees';
export const run = async (): Promise<number> => (await serve(await createInlineNode(), { port: 0 })).port;
export const others = [verifyLineaProof, encodeForSizing];
// @ts-expect-error a mistake has to be one, or nothing is checked here
serve('no node');
`;

const config = (resolution: 'bundler' | 'nodenext', lib: readonly string[], file: string): string =>
  JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      lib,
      module: resolution === 'bundler' ? 'esnext' : 'nodenext',
      moduleResolution: resolution,
      types: file === 'node.ts' ? ['node'] : [],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noPropertyAccessFromIndexSignature: true,
      isolatedModules: true,
      verbatimModuleSyntax: true,
      skipLibCheck: false,
      noEmit: true,
    },
    files: [file],
  });

/** TypeScript 6 takes ten times as long: each set of doors and each way of resolution once. */
const COMPILERS = [
  ['TypeScript 7', bin('tsc'), ['page.bundler', 'page.nodenext', 'node.bundler', 'node.nodenext']],
  ['TypeScript 6', `${root}/docs/api/node_modules/.bin/tsc`, ['page.bundler', 'node.nodenext']],
] as const;

describe('the types of the packed package', () => {
  let packed: Packed;
  let project: string;

  beforeAll(async () => {
    packed = await packPackage();
    const page = ['es2022', 'dom', 'dom.iterable'];
    project = packed.project(
      'types',
      {
        'page.ts': EVERY_DOOR,
        'node.ts': NODE_DOORS,
        'page.bundler.json': config('bundler', page, 'page.ts'),
        'page.nodenext.json': config('nodenext', page, 'page.ts'),
        'node.bundler.json': config('bundler', ['es2022'], 'node.ts'),
        'node.nodenext.json': config('nodenext', ['es2022'], 'node.ts'),
      },
      ['@types/node', 'undici-types'],
    );
  });

  describe.each(COMPILERS)('%s, strict, libraries checked as well', (_, compiler, names) => {
    test.each(names)('%s', async (name) => {
      expect(await run(compiler, ['-p', `${name}.json`], project)).toBe('');
    });
  });

  test('every door leads to a file, and scripts say that they are scripts', () => {
    const inside = join(project, 'node_modules/plumbline');
    const { exports } = JSON.parse(readFileSync(join(inside, 'package.json'), 'utf8')) as {
      exports: Record<string, string | { types: string; default: string }>;
    };
    for (const [door, target] of Object.entries(exports)) {
      const { types, default: code } = typeof target === 'string' ? { types: target, default: target } : target;
      expect(existsSync(join(inside, types)), `${door}: ${types}`).toBe(true);
      const names = code.includes('*') ? readdirSync(join(inside, dirname(code))) : [basename(code)];
      const [before, after = ''] = basename(code).split('*');
      expect(
        names.filter((name) => name.startsWith(before!) && name.endsWith(after)),
        door,
      ).not.toEqual([]);
    }
    for (const door of ['./worker', './worker-devnet', './service-worker', './kernel.wasm']) {
      const { types } = exports[door] as { types: string };
      const text = readFileSync(join(inside, types), 'utf8');
      expect(text).toMatch(/^\/\*\*\n \* Doors? `plumbline\/[\s\S]+\*\/\nexport \{\};\n$/);
    }
  });

  test('publint finds nothing to say', async () => {
    expect(await run(bin('publint'), ['run', packed.tarball, '--strict'], root)).toMatch(/All good!/);
  });

  // `esm-only`: there is no CommonJS build on purpose, and resolution before `exports` (`node10`) cannot see the doors.
  // Node from 20.19 on can `require` modules (node.test.ts does it).
  test('attw finds every door typed', async () => {
    const printed = await run(bin('attw'), [packed.tarball, '--profile', 'esm-only', '--no-color'], root);
    const { exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
      exports: Record<string, unknown>;
    };
    for (const door of Object.keys(exports).filter((name) => !name.includes('*'))) {
      expect(printed).toContain(`"plumbline${door.slice(1)}"`);
    }
  });
});
