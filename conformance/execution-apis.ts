import { parseGenesis } from '../src/chain/devnet/state/genesis-json.js';
import { messageOf } from '../src/errors.js';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../src/hosts/provider/provider.js';
import type { Area, Material, Report } from './area.js';
import { type Answer, differsFromRecord, differsInShape, parseIoFile } from './io-file.js';

/** Methods of the rows "skip" (docs/spec/json-rpc.md 8), and why. */
const SKIPPED: readonly (readonly [RegExp, string])[] = [
  [/^testing_/, 'blocks are made by evm_mine'],
  [/^txpool_content$/, 'the transactions of the recorded pool are in no block'],
];
/** The same for single files. */
const SKIPPED_FILES: readonly (readonly [RegExp, string])[] = [
  [
    /execution-apis\/debug_getRawBlock\/get-block-n\.io$/,
    'the block has an uncle, which is not kept (docs/decisions.md 10)',
  ],
];
const SIMULATE = 'eth_simulateV1';
/** Of the files of eth_simulateV1 so many have to pass. */
const SIMULATE_SHARE = 50 / 55;
const METHOD_FOLDER = /^[a-z0-9]+_[A-Za-z0-9]+$/;
const METHOD_NOT_FOUND = -32601;

/** What a file is run on. */
type Served = Pick<PlumblineNode, 'handle' | 'close'>;

/** Where suites are: the folder of that name, the one of the suite that was generated here, the directory itself. */
function suitesOf(material: Material): string[] {
  return ['execution-apis', 'rpc-suite', '.'].filter(
    (folder) => material.has(`${folder}/genesis.json`) && material.has(`${folder}/chain.rlp`),
  );
}

function methodsOf(material: Material, suite: string): string[] {
  return material.list(suite, METHOD_FOLDER).map((path) => path.slice(path.lastIndexOf('/') + 1));
}

/** A node on the suite's chain. Nothing is sealed, so that every file finds the same head. */
async function openSuite(material: Material, suite: string): Promise<PlumblineNode> {
  return createInlineNode({
    kernelBuild: material.build,
    chain: {
      kind: 'devnet',
      genesis: material.json(`${suite}/genesis.json`),
      importBlocks: material.bytes(`${suite}/chain.rlp`),
      mining: 'manual',
    },
  });
}

async function ask(node: Served, body: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const response = await node.handle(new Request('http://localhost/', { method: 'POST', headers, body }));
  return (await response.json()) as Answer;
}

/** A text when a file's exchanges do not go as recorded. */
async function runFile(node: Served, text: string): Promise<string | undefined> {
  const { exchanges, specOnly } = parseIoFile(text);
  const compare = specOnly ? differsInShape : differsFromRecord;
  for (const { request, response } of exchanges) {
    const answer = await ask(node, request);
    const difference = compare(response, answer);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** The suite of ethereum/execution-apis on a chain that is imported block by block, with a table per method. */
const executionApisArea: Area = {
  name: 'execution-apis',
  usesKernel: false,
  showsEveryFailure: true,
  files: (material) => suitesOf(material).map((suite) => `${suite}/chain.rlp`),
  async run(material, report) {
    for (const suite of suitesOf(material)) await runSuite(material, suite, report);
  },
};

async function runSuite(material: Material, suite: string, report: Report): Promise<void> {
  const holder: { node?: PlumblineNode } = {};
  await report.check(`${suite}, import of chain.rlp`, async () => {
    const node = await openSuite(material, suite);
    holder.node = node;
    return wrongHead(material, suite, node);
  });
  const { node } = holder;
  if (node === undefined) return;
  // What is sent stays in the pool, so that comes last.
  const methods = methodsOf(material, suite).sort((a, b) => Number(isSend(a)) - Number(isSend(b)));
  for (const method of methods.filter((name) => name !== SIMULATE))
    await runMethod(node, material, suite, method, report);
  await node.close();
}

function isSend(method: string): boolean {
  return method.startsWith('eth_send');
}

async function runMethod(node: PlumblineNode, material: Material, suite: string, method: string, report: Report) {
  const paths = material.list(`${suite}/${method}`, /\.io$/);
  const skipped = SKIPPED.find(([pattern]) => pattern.test(method));
  if (skipped !== undefined) {
    report.skip(`${suite}/${method}, ${paths.length} files`, skipped[1]);
    return;
  }
  let passed = 0;
  for (const path of paths) {
    const left = SKIPPED_FILES.find(([pattern]) => pattern.test(path));
    if (left !== undefined) {
      report.skip(path, left[1]);
      continue;
    }
    await report.check(path, async () => {
      const text = new TextDecoder().decode(material.bytes(path));
      // Optional: the recorded node deletes old logs, and a devnet keeps them.
      const difference = await runFile(node, text.replaceAll(/,"deleteStrategy":\{[^}]*\}/g, ''));
      if (difference === undefined) passed++;
      return difference;
    });
  }
  report.note(`${suite}/${method} ${passed}/${paths.length}`);
}

/** The suite names the head of its chain, which has to be safe and final too. */
async function wrongHead(material: Material, suite: string, node: PlumblineNode): Promise<string | undefined> {
  if (!material.has(`${suite}/headfcu.json`)) return undefined;
  const { params } = material.json<{ params: [Record<string, unknown>] }>(`${suite}/headfcu.json`);
  const { headBlockHash, safeBlockHash, finalizedBlockHash } = params[0];
  const hashes: unknown[] = [];
  for (const tag of ['latest', 'safe', 'finalized']) {
    const block = (await node.request<UntypedMethod>({ method: 'eth_getBlockByNumber', params: [tag, false] })) as {
      hash: unknown;
    };
    hashes.push(block.hash);
  }
  const wanted = [headBlockHash, safeBlockHash, finalizedBlockHash];
  return wanted.every((hash, i) => hash === hashes[i]) ? undefined : `expected ${wanted}, got ${hashes}`;
}

/** The same for eth_simulateV1, of whose files a share has to pass. */
export const simulateArea: Area = simulations(`execution-apis/${SIMULATE}`, openSuite);

/** The same through a light node. Its only endpoint does not have eth_simulateV1. */
export const simulateLightArea: Area = simulations(
  `execution-apis/${SIMULATE}, light node`,
  async (material, suite) => {
    const devnet = await openSuite(material, suite);
    const endpoint = {
      request: async (call: { method: string; params?: readonly unknown[] }) => {
        if (call.method === SIMULATE) throw Object.assign(new Error('Method not found'), { code: METHOD_NOT_FOUND });
        return devnet.request<UntypedMethod>(call);
      },
    };
    const { network } = parseGenesis(material.json(`${suite}/genesis.json`));
    const light = await createInlineNode({
      kernelBuild: material.build,
      chain: { kind: 'light', network, endpoints: [{ provider: endpoint }], layerOne: [{ provider: devnet.l1 }] },
    });
    return {
      handle: (request) => light.handle(request),
      async close() {
        await light.close();
        await devnet.close();
      },
    };
  },
);

function simulations(name: string, open: (material: Material, suite: string) => Promise<Served>): Area {
  return {
    name,
    usesKernel: false,
    files: (material) => suitesOf(material).flatMap((suite) => simulationsOf(material, suite)),
    async run(material, report) {
      for (const suite of suitesOf(material)) await runSimulations(material, suite, open, report);
    },
  };
}

function simulationsOf(material: Material, suite: string): string[] {
  return material.list(`${suite}/${SIMULATE}`, /\.io$/);
}

async function runSimulations(
  material: Material,
  suite: string,
  open: (material: Material, suite: string) => Promise<Served>,
  report: Report,
): Promise<void> {
  const paths = simulationsOf(material, suite);
  if (paths.length === 0) return;
  const node = await open(material, suite);
  const probe = await ask(node, JSON.stringify({ id: 1, method: SIMULATE, params: [] }));
  if (probe.error?.code === METHOD_NOT_FOUND) {
    report.skip(`${paths.length} files`, 'the method is not served');
    await node.close();
    return;
  }
  const least = Math.ceil(paths.length * SIMULATE_SHARE);
  const problems: string[] = [];
  for (const path of paths) {
    const problem = await runFile(node, new TextDecoder().decode(material.bytes(path))).catch(messageOf);
    if (problem === undefined) await report.check(path, () => undefined);
    else problems.push(`${path}: ${problem}`);
  }
  const passed = paths.length - problems.length;
  report.note(`${suite}/${SIMULATE} ${passed}/${paths.length}, at least ${least} have to pass`);
  for (const problem of problems) report.note(`not as recorded: ${problem}`);
  await report.check(`${suite}, files that pass`, () => (passed >= least ? undefined : `${passed} of ${paths.length}`));
  await node.close();
}

export const EXECUTION_API_AREAS: readonly Area[] = [executionApisArea, simulateArea, simulateLightArea];
