/**
 * The rolldown plugin that leaves out of dependencies what no node of ours runs, and puts aside what few calls reach. It
 * works on the text of @ethereumjs and its like at their pinned versions. Whatever does not apply any more fails the build.
 */
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { hardforksDict } from '../../node_modules/@ethereumjs/common/dist/esm/hardforks.js';
import { root } from './run.mjs';

const MODULES = `${root}/node_modules/`;
const PRECOMPILES = '@ethereumjs/evm/dist/esm/precompiles';
const NO_SECP256K1 = ["import { secp256k1 } from '@noble/curves/secp256k1.js';", ''];

/** File, text in it, what takes its place. */
const REPLACED = [
  // Curves are handed in and loaded when a precompile needs them (src/evm/interpreter/lazy-curves.ts).
  ['@ethereumjs/evm/dist/esm/evm.js', 'opts.bls ?? new NobleBLS()', 'opts.bls'],
  ['@ethereumjs/evm/dist/esm/constructors.js', 'opts.bn254 = new NobleBN254();', ''],
  // Block access lists are in no fork yet.
  [
    '@ethereumjs/evm/dist/esm/evm.js',
    'opts.blockLevelAccessList ?? createBlockLevelAccessList()',
    'opts.blockLevelAccessList',
  ],
  // The curves themselves come from where they are (below).
  [
    `${PRECOMPILES}/index.js`,
    'import { MCLBLS, NobleBLS } from "./bls12_381/index.js";',
    'const [MCLBLS, NobleBLS] = [];',
  ],
  [
    `${PRECOMPILES}/index.js`,
    'import { NobleBN254, RustBN254 } from "./bn254/index.js";',
    'const [NobleBN254, RustBN254] = [];',
  ],
  // State and rules are always handed in.
  ['@ethereumjs/evm/dist/esm/constructors.js', 'opts.stateManager = new SimpleStateManager();', ''],
  ['@ethereumjs/evm/dist/esm/constructors.js', 'opts.common = new Common({ chain: Mainnet });', ''],
  // Whoever only needs the order of the curve, or hashes a key, does without the curve.
  ['@ethereumjs/util/dist/esm/constants.js', ...NO_SECP256K1],
  [
    '@ethereumjs/util/dist/esm/constants.js',
    'secp256k1.Point.CURVE().n',
    '0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n',
  ],
  [
    '@ethereumjs/util/dist/esm/account.js',
    '        pubKey = secp256k1.Point.fromBytes(pubKey).toBytes(false).slice(1);',
    "        throw new Error('only whole keys are taken');",
  ],
];

/** Our module of the pairing curves, taken from the index of the interpreter, where they stand no more. */
const CURVES = '/evm/interpreter/curves.js';
const CURVES_THERE = `export { NobleBLS } from '${MODULES}${PRECOMPILES}/bls12_381/index.js';
export { NobleBN254 } from '${MODULES}${PRECOMPILES}/bn254/index.js';
`;

/** Modules that stand for others: logging is off, EOF is in no fork, and nobody asks for fork ids or profiles. */
const STAND_INS = new Map([
  [
    'debug/src/browser.js',
    'const off = Object.assign(() => {}, { enabled: false, extend: () => off });\nexport default () => off;',
  ],
  [
    '@ethereumjs/evm/dist/esm/eof/container.js',
    `const none = () => { throw new Error('EOF is not built in'); };
     export const EOFContainerMode = {};
     export class EOFContainer { constructor() { none(); } }
     export const validateEOF = none;`,
  ],
  [
    '@ethereumjs/evm/dist/esm/eof/errors.js',
    `export const EOFErrorMessage = {};
     export const validationErrorMsg = () => 'EOF is not built in';
     export const validationError = () => { throw new Error('EOF is not built in'); };`,
  ],
  ['@ethereumjs/evm/dist/esm/eof/stackDelta.js', 'export const stackDelta = {};'],
  // Tries read through stores of ours, which keep what they read.
  [
    'lru-cache/dist/esm/index.js',
    "export class LRUCache { constructor() { throw new Error('caches of tries are not built in'); } }",
  ],
  ['@ethereumjs/evm/dist/esm/logger.js', 'export class EVMPerformanceLogger {}\nexport class Timer {}'],
  [
    '@ethereumjs/common/dist/esm/crc.js',
    "export const crc32 = () => { throw new Error('fork ids are not built in'); };",
  ],
]);

/** Precompiles that few calls reach, by the chunk that holds them: ecrecover and its curve, and all others. */
const LATER = {
  ecrecover: ['01-ecrecover'],
  precompiles: [
    ...['03-ripemd160', '05-modexp', '06-bn254-add', '07-bn254-mul', '08-bn254-pairing', '09-blake2f'],
    ...['0a-kzg-point-evaluation', '0b-bls12-g1add', '0c-bls12-g1msm', '0d-bls12-g2add', '0e-bls12-g2msm'],
    ...['0f-bls12-pairing', '10-bls12-map-fp-to-g1', '11-bls12-map-fp2-to-g2', '100-p256verify'],
  ],
};
const LATER_MODULE = 'later-precompiles:';
/** Behind the path of a precompile: the module itself, not what stands for it. */
const ITSELF = '?itself';

const nameOf = (file) => `precompile${file.slice(0, file.indexOf('-'))}`;
const laterModule = (files) =>
  files.map((file) => `export { ${nameOf(file)} } from '${MODULES}${PRECOMPILES}/${file}.js${ITSELF}';`).join('\n');
/** The interpreter waits for whatever a precompile answers. */
const laterPrecompile = (file, chunk) =>
  `let run;
   export async function ${nameOf(file)}(input) {
     run ??= (await import('${LATER_MODULE}${chunk}')).${nameOf(file)};
     return run(input);
   }`;

for (const [chunk, files] of Object.entries(LATER)) {
  for (const file of files) STAND_INS.set(`${PRECOMPILES}/${file}.js`, laterPrecompile(file, chunk));
}

/** Improvement proposals of the forks up to the last that a network of ours can have; it is taken from the library. */
async function activeEips() {
  const { HARDFORKS } = await import(pathToFileURL(`${root}/dist/networks/network.js`).href);
  // Those forks change no rules of the interpreter (src/evm/interpreter/machine.ts).
  const last = HARDFORKS.filter((fork) => !fork.startsWith('bpo')).at(-1);
  const forks = Object.keys(hardforksDict);
  if (!forks.includes(last)) throw new Error(`@ethereumjs/common does not know the fork ${last}`);
  return new Set(forks.slice(0, forks.indexOf(last) + 1).flatMap((fork) => hardforksDict[fork].eips ?? []));
}

/** What is always false here, throughout the interpreter; the minifier then drops what depends on it. */
const FALSE = [
  // Rules of no fork that our networks have.
  [/[\w.]*\bcommon\.isActivatedEIP\((\d+)\)/g, (active) => (text, eip) => (active.has(Number(eip)) ? text : 'false')],
  // Debug output and profiles.
  [/\b(?:this|this\._evm|evm)\.DEBUG\b(?! = )/g, () => () => 'false'],
  [/\bopts\._debug !== undefined/g, () => () => 'false'],
  [/\bthis\.(?:_optsCached\.profiler|profilerOpts)\?\.enabled === true/g, () => () => 'false'],
];

/** The path of a dependency's file, below node_modules, whichever way the system writes it. */
function dependencyPath(id) {
  const path = id.replaceAll('\\', '/');
  const at = path.lastIndexOf('/node_modules/');
  return at < 0 ? '' : path.slice(at + '/node_modules/'.length);
}

export function slimDependencies() {
  const missing = new Set([
    ...REPLACED.map(([file]) => file),
    ...STAND_INS.keys(),
    ...FALSE.map(([pattern]) => pattern),
  ]);
  let active;
  return {
    name: 'slim-dependencies',
    async buildStart() {
      active = await activeEips();
    },
    resolveId(id) {
      if (id.startsWith(LATER_MODULE) || id.endsWith(ITSELF)) return id;
    },
    async load(id) {
      if (id.replaceAll('\\', '/').endsWith(CURVES)) return CURVES_THERE;
      if (id.startsWith(LATER_MODULE)) return laterModule(LATER[id.slice(LATER_MODULE.length)]);
      if (id.endsWith(ITSELF)) return readFile(id.slice(0, -ITSELF.length), 'utf8');
      const file = dependencyPath(id);
      missing.delete(file);
      return STAND_INS.get(file);
    },
    transform(code, id) {
      const file = dependencyPath(id);
      let changed = code;
      for (const [of, text, instead] of REPLACED) {
        if (file !== of) continue;
        if (!changed.includes(text))
          throw new Error(`${file} has no "${text}" any more: see scripts/lib/slim-dependencies.mjs`);
        changed = changed.replace(text, instead);
      }
      if (file.startsWith('@ethereumjs/evm/')) {
        for (const [pattern, instead] of FALSE) {
          const without = changed.replace(pattern, instead(active));
          if (without !== changed) missing.delete(pattern);
          changed = without;
        }
      }
      return changed === code ? undefined : changed;
    },
    buildEnd(error) {
      if (error === undefined && missing.size > 0) throw new Error(`not found to slim: ${[...missing].join(', ')}`);
    },
  };
}
