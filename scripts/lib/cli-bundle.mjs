/**
 * The package of the command: cli/dist, with the command and `serve`, and all that both need. A few files: opening the hundreds of
 * modules, one after the other, is most of the time to a first answer.
 */
import { rm } from 'node:fs/promises';
import { rolldown } from 'rolldown';
import { closuresIn } from './closures.mjs';
import { withRest } from './rest-groups.mjs';
import { BUNDLE_INPUT, CLI_DIST, MODULES, SOURCE_MAPS } from './ship.mjs';

const SERVE = `${MODULES}/hosts/cli/server.js`;
const CLI = `${MODULES}/hosts/cli/cli.js`;

/** What is installed beside the command. */
const OUTSIDE = [/^node:(?!child_process|process)/, 'ws', 'hono', /^hono\//, /^@hono\//];

/**
 * The entry point that is imported: nothing is added to what it exports. The option for all does not go with groups. It is a module of
 * its own, so that the command's own `import()` of the server does not lead to its file.
 */
const EXPORTED = '\0serve';
const STRICT_SERVE = {
  name: 'strict-serve',
  buildStart() {
    this.emitFile({ type: 'chunk', name: 'serve', fileName: 'serve.js', id: EXPORTED, preserveSignature: 'strict' });
  },
  resolveId: (id) => (id === EXPORTED ? id : undefined),
  load: (id) => (id === EXPORTED ? `export * from ${JSON.stringify(SERVE)};` : undefined),
};

/**
 * commander can have programs as commands, and would load for these what starts processes; ours has none. An `import` of
 * `node:process` reads all that it exports, and so opens the standard streams and lists the options of Node.
 */
const FOR_COMMANDER = new Map([
  ['node:child_process', 'export default {};'],
  ['node:process', 'export default globalThis.process;'],
]);
const LIGHT_COMMANDER = {
  name: 'light-commander',
  resolveId: (id) => (FOR_COMMANDER.has(id) ? `\0${id}` : undefined),
  load: (id) => FOR_COMMANDER.get(id.slice(1)),
};

/** The first that holds decides; what has no rule stays a chunk of its own. Each is below those that come after it. */
function groupsOf(output) {
  const { chunks, closure, modulesOf } = closuresIn(output);
  const [serve, cli, verify] = ['server', 'cli', 'verify'].map((name) => closure([`/hosts/cli/${name}.js`]));
  const [light, devnet] = ['light', 'devnet'].map((kind) => closure([`/hosts/opening/open-${kind}.js`]));
  // One file for all that `serve` begins with: each more takes time to find, read and link.
  const start = closure([
    ...['commands', 'serve', 'server'].map((name) => `/hosts/cli/${name}.js`),
    ...['inline', 'open-devnet'].map((name) => `/hosts/opening/${name}.js`),
    '/hosts/options/require-known.js',
    ...['evm', 'hash', 'trie'].map((name) => `/kernel/wasm/${name}.simd.generated.js`),
    '/fees/general.generated.js',
  ]);
  const proofs = closure(['/proof/linea-proof.js', '/kernel/hasher.js']);
  const execution = closure(['/estimate/estimation.js']);
  const settlement = closure(['/chain/light/settlement/settlement.js']);
  const storedDevnet = closure(['/chain/devnet/storage/find-stored.js', '/chain/devnet/checkpoint-loader.js']);
  const rules = [
    ['start', (chunk) => start.has(chunk)],
    ['proofs', (chunk) => verify.has(chunk) && (light.has(chunk) || proofs.has(chunk))],
    ['light', (chunk) => light.has(chunk)],
    ['execution', (chunk) => execution.has(chunk)],
    ['settlement', (chunk) => settlement.has(chunk)],
    ['stored-devnet', (chunk) => storedDevnet.has(chunk)],
  ];
  const groupOf = new Map();
  for (const chunk of chunks.values()) {
    const rule = rules.find(([, holds]) => holds(chunk));
    if (rule !== undefined && (!chunk.isEntry || start.has(chunk)))
      for (const id of modulesOf(chunk)) groupOf.set(id, rule[0]);
  }
  return withRest(
    output,
    rules.map(([name]) => name),
    groupOf,
    { common: start, kinds: [light, devnet, cli, serve, verify], apart: [] },
  );
}

/** @returns what the bundler made of it */
export async function bundleCli() {
  const input = { ...BUNDLE_INPUT, external: OUTSIDE, plugins: [LIGHT_COMMANDER, SOURCE_MAPS] };
  // Without the optimization that puts what is shared into entries: what each uses is to be seen.
  const alone = await rolldown({
    ...input,
    input: { cli: CLI, serve: SERVE },
    logLevel: 'silent',
    experimental: { chunkOptimization: false },
  });
  const { output: parts } = await alone.generate({ format: 'esm' });
  const groups = groupsOf(parts);
  await alone.close();
  const build = await rolldown({
    ...input,
    input: { cli: CLI },
    plugins: [STRICT_SERVE, ...input.plugins],
    preserveEntrySignatures: 'allow-extension',
  });
  await rm(CLI_DIST, { recursive: true, force: true });
  const { output } = await build.write({
    dir: CLI_DIST,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups, includeDependenciesRecursively: false },
    // So that a printed stack can be read.
    minify: false,
    comments: { legal: false, jsdoc: false, annotation: true },
    sourcemap: 'hidden',
  });
  await build.close();
  const [made, meant] = [output, parts].map((chunks) => chunks.find(({ name }) => name === 'serve').exports.sort());
  if (`${made}` !== `${meant}`) throw new Error(`serve exports ${made}, not ${meant}`);
  return output;
}
