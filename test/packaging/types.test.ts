import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { bin, type Packed, packPackage, root, run } from './project.js';

/** A consumer that imports every entry point, and uses what a wallet would. */
const EVERY_ENTRY = `import { createNode, devnet, linea, PlumblineError, type Hex, type PlumblineNode } from 'plumbline-l2';
import * as worker from 'plumbline-l2/worker';
import * as inline from 'plumbline-l2/inline';
import * as page from 'plumbline-l2';
import { createInlineNode, type NodeInfo } from 'plumbline-l2/inline';
import * as serviceWorker from 'plumbline-l2/service-worker';
import { hexToBytes, loadHasher, verifyLineaProof } from 'plumbline-l2/verify';
import { lineaActions, type PlumblineRpcSchema } from 'plumbline-l2/viem';
import { type Asked, NodeProvider, useBalance } from 'plumbline-l2/react';
import { plumblineConnector, plumblineTransport } from 'plumbline-l2/wagmi';
import { PlumblineFee } from 'plumbline-l2/fee-element';
import { KeyFollower, openState, openStatePages, type StateTrace, type WorldState } from 'plumbline-l2/state';
import { hashAddress, type Hasher } from 'plumbline-l2/hash';
import { loadCalldataSizer, priorityFeePerGas, type Prices } from 'plumbline-l2/fees';

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
export async function apply(name: string, hasher: Hasher): Promise<readonly StateTrace[]> {
  const pages = await openStatePages(name);
  const state: WorldState = await openState({ scheme: 'poseidon2', pages });
  const { root, traces } = state.applyBlockTraced(0, [{ address: hexToBytes('0x'), destroyed: false, slots: [] }]);
  await pages.commit(state.takePages());
  return hashAddress(hasher, root) instanceof KeyFollower ? [] : traces;
}
export type Schema = PlumblineRpcSchema[0]['ReturnType'];
export const { estimateLineaFees } = lineaActions()({ request: async () => ({}) });
export type { Prices };
export const kits: unknown[] = [NodeProvider, plumblineConnector, plumblineTransport, PlumblineFee];
export const status = (): Asked<{ wei: bigint }>['status'] => useBalance('0x').status;
// Both open nodes, so both have the networks.
type Networks = Pick<typeof page, 'linea' | 'lineaSepolia' | 'devnet' | 'NETWORKS'>;
export const doors: readonly Networks[] = [page, inline];
export const network: page.Network = inline.NETWORKS[('linea' satisfies inline.NetworkName)];
// @ts-expect-error a mistake has to be one, or nothing is checked here
createNode({ chain: { kind: 'no such kind' } });
`;

/** A program of Node's, without the types of a page. */
const NODE_DOORS = `import { devnet, linea, lineaSepolia, NETWORKS, type Network, type NetworkName, serve } from 'plumbline-l2-cli';
import { createInlineNode } from 'plumbline-l2/inline';
import { verifyLineaProof } from 'plumbline-l2/verify';
import { plumbline } from 'plumbline-l2/vite';
import { fixture, plumblineDevnet } from 'plumbline-l2/hardhat';
import { encodeForSizing } from 'plumbline-l2/fees';
import { openState } from 'plumbline-l2/state';
import { loadHasher } from 'plumbline-l2/hash';
export const run = async (): Promise<number> => (await serve(await createInlineNode(), { port: 0 })).port;
export const networks: readonly Network[] = [linea, lineaSepolia, devnet(), NETWORKS['linea' satisfies NetworkName]];
export const others = [plumbline, fixture, plumblineDevnet, verifyLineaProof, encodeForSizing, openState, loadHasher];
// @ts-expect-error a mistake has to be one, or nothing is checked here
serve('no node');
`;

/** A program of CommonJS, as Node 20.19 runs it. */
const COMMON_JS = `import inline = require('plumbline-l2/inline');
import cli = require('plumbline-l2-cli');
const open = async (): Promise<number> => (await cli.serve(await inline.createInlineNode(), { port: 0 })).port;
// @ts-expect-error a mistake has to be one, or nothing is checked here
inline.createInlineNode({ chain: { kind: 'no such kind' } });
export = open;
`;

type Resolution = 'bundler' | 'node16' | 'nodenext';

const config = (resolution: Resolution, lib: readonly string[], file: string, more: object = {}): string =>
  JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      lib,
      module: resolution === 'bundler' ? 'esnext' : resolution,
      moduleResolution: resolution,
      types: file === 'page.ts' ? [] : ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noPropertyAccessFromIndexSignature: true,
      isolatedModules: true,
      verbatimModuleSyntax: true,
      skipLibCheck: false,
      noEmit: true,
      ...more,
    },
    files: [file],
  });

const TYPESCRIPT_6 = `${root}/docs/api/node_modules/.bin/tsc`;

/** TypeScript 6 takes ten times as long: each set of doors and each way of resolution once. */
const COMPILERS = [
  [
    'TypeScript 7',
    bin('tsc'),
    [
      'page.bundler',
      'page.node16',
      'page.nodenext',
      'node.bundler',
      'node.node16',
      'node.nodenext',
      'commonjs.nodenext',
    ],
  ],
  ['TypeScript 6', TYPESCRIPT_6, ['page.bundler', 'node.nodenext', 'commonjs.nodenext']],
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
        'page.ts': EVERY_ENTRY,
        'node.ts': NODE_DOORS,
        'commonjs.cts': COMMON_JS,
        'page.bundler.json': config('bundler', page, 'page.ts'),
        // Declarations of ox, which viem's refer to, do not hold under node16.
        'page.node16.json': config('node16', page, 'page.ts', { skipLibCheck: true }),
        'page.nodenext.json': config('nodenext', page, 'page.ts'),
        'node.bundler.json': config('bundler', ['es2022'], 'node.ts'),
        'node.node16.json': config('node16', ['es2022'], 'node.ts'),
        'node.nodenext.json': config('nodenext', ['es2022'], 'node.ts'),
        'commonjs.nodenext.json': config('nodenext', ['es2022'], 'commonjs.cts'),
        'page.node10.json': config('bundler', page, 'page.ts', {
          moduleResolution: 'node10',
          ignoreDeprecations: '6.0',
        }),
      },
      ['@types/node', 'undici-types', 'plumbline-l2-cli', '@types/react', 'react', 'viem'],
    );
  });

  describe.each(COMPILERS)('%s, strict, libraries checked as well', (_, compiler, names) => {
    test.each(names)('%s', async (name) => {
      expect(await run(compiler, ['-p', `${name}.json`], project)).toBe('');
    });
  });

  // TypeScript 7 has no such resolution any more.
  test('TypeScript 6 under node10, which reads no `exports`, says where the types are and what to set', async () => {
    const printed = run(TYPESCRIPT_6, ['-p', 'page.node10.json', '--pretty', 'false'], project);
    await expect(printed).rejects.toThrow(
      /plumbline-l2\/inline[\s\S]+There are types at '.*inline\.d\.ts'.*Consider updating to 'node16', 'nodenext', or 'bundler'/,
    );
  });

  test('every entry point leads to a file, and scripts say that they are scripts', () => {
    const inside = join(project, 'node_modules/plumbline-l2');
    const { exports } = JSON.parse(readFileSync(join(inside, 'package.json'), 'utf8')) as {
      exports: Record<string, string | { types: string; default: string }>;
    };
    for (const [entry, target] of Object.entries(exports)) {
      const { types, default: code } = typeof target === 'string' ? { types: target, default: target } : target;
      expect(existsSync(join(inside, types)), `${entry}: ${types}`).toBe(true);
      const names = code.includes('*') ? readdirSync(join(inside, dirname(code))) : [basename(code)];
      const [before, after = ''] = basename(code).split('*');
      expect(
        names.filter((name) => name.startsWith(before!) && name.endsWith(after)),
        entry,
      ).not.toEqual([]);
    }
    for (const entry of ['./worker', './worker-devnet', './service-worker', './kernel.wasm']) {
      const { types } = exports[entry] as { types: string };
      const text = readFileSync(join(inside, types), 'utf8');
      expect(text).toMatch(/^\/\*\*\n \* Entry points [\s\S]+\*\/\nexport \{\};\n$/);
      expect(text).toContain(`\`plumbline-l2${entry.slice(1)}\``);
    }
  });

  test.each(['plumbline-l2', 'plumbline-l2-cli'] as const)('publint finds nothing to say of %s', async (name) => {
    expect(await run(bin('publint'), ['run', packed.tarballs[name], '--strict'], root)).toMatch(/All good!/);
  });

  // `esm-only`: there is no CommonJS build on purpose, and resolution before `exports` (`node10`) cannot see the entry points.
  // Node from 20.19 on can `require` modules (node.test.ts does it).
  test('attw finds every entry point typed', async () => {
    const printed = await run(
      bin('attw'),
      [packed.tarballs['plumbline-l2'], '--profile', 'esm-only', '--no-color'],
      root,
    );
    const { exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
      exports: Record<string, unknown>;
    };
    for (const entry of Object.keys(exports).filter((name) => !name.includes('*'))) {
      expect(printed).toContain(`"plumbline-l2${entry.slice(1)}"`);
    }
  });
});
