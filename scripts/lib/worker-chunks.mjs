/**
 * Which modules of the worker share a chunk. Left alone, a bundler makes one of every set of modules with the same users:
 * 45 files for the start of a devnet, which a page waits for. These groups are few, and none is loaded for a small part
 * of it.
 */

import { closuresIn } from './closures.mjs';
import { withRest } from './rest-groups.mjs';

/** Modules whose dynamic import begins a use, by the ends of their paths. */
const ENTRY = '/hosts/worker/worker.js';
const LIGHT = '/hosts/opening/open-light.js';
const DEVNET = '/hosts/opening/open-devnet.js';
const REPLICA = '/hosts/opening/open-replica.js';
const FORK = '/hosts/opening/open-fork.js';
const ESTIMATION = '/estimate/estimation.js';
const SIZING = ['/kernel/calldata-sizer.js'];
const PROOFS = ['/proof/linea-proof.js', '/kernel/hasher.js'];
const STORE = ['/store/idb-store.js'];
const METERED = ['/store/metered-store.js'];
const CACHE = ['/chain/light/light-cache.js'];
const SETTLEMENT = ['/chain/light/settlement/settlement.js'];
const SEALS = ['/proof/seals.js'];
const CONTENTS = ['/chain/light/block-contents.js'];
const PREFETCH = ['/chain/light/state/prefetch-call.js'];
/** A light node asks its endpoints how they are as it opens. */
const STATUS = ['/hosts/opening/endpoint-check.js'];
/** Access lists of blocks, by which a first estimate knows the state of the newest. */
const LISTS = ['/chain/light/state/block-lists.js'];
/** Layer 1 followed by its consensus. */
const CONSENSUS = ['/chain/light/layer-one-follower.js', '/chain/light/light-client-record.js'];
/** What a node with a store name imports. */
const SHARING = ['/hosts/sharing/open-shared.js'];
/** Tables of Unicode, which are loaded with the first name and with nothing else. One file for both workers. */
const NORMALIZER = /\/@adraffy\/ens-normalize\//;
const FILES = ['/chain/devnet/import-blocks.js', '/hosts/opening/genesis-file.js'];
/** What a devnet with a store loads. */
const STORED_DEVNET = ['/chain/devnet/storage/find-stored.js', '/chain/devnet/checkpoint-loader.js'];
/** The same, and a devnet with one. */
const STORED = [...SHARING, ...METERED, ...STORE, ...STORED_DEVNET];
/** The lowest rows of ours; then texts, and libraries. */
const VM = /\/modules\/(?:errors|primitives|kernel|ethereum|accumulator|networks|scheduling)\b/;
const BASE = /\/(?:kernel|fees|chain)\/.*\.generated\.js$|\/node_modules\//;
/** The bundler's own helpers: a file of its own where it is left alone. */
const RUNTIME = '\0rolldown/runtime.js';

/**
 * @param output - what rolldown makes of the worker by itself: its chunks say who uses which module, without what is not used
 * @returns groups for `codeSplitting`
 */
export function chunkGroups(output) {
  const { chunks, modulesOf, closure } = closuresIn(output);

  /** What some chunks come to load by dynamic imports, but for what begins a use of its own and what is not bundled. */
  function laterThan(some) {
    const found = new Set();
    const begins = new Set([DEVNET, REPLICA, ESTIMATION].map((end) => [...closure([end])][0]));
    const follow = (chunk) => {
      for (const name of chunk.dynamicImports) {
        const imported = chunks.get(name);
        if (imported === undefined || found.has(imported) || begins.has(imported)) continue;
        for (const one of closure([modulesOf(imported).at(-1)])) {
          if (found.has(one)) continue;
          found.add(one);
          follow(one);
        }
      }
    };
    for (const chunk of some) follow(chunk);
    return found;
  }

  const [entry, light, devnet, replica, estimation] = [ENTRY, LIGHT, DEVNET, REPLICA, ESTIMATION].map((end) =>
    closure([end]),
  );
  const [sizing, proofs, store, cache] = [SIZING, PROOFS, STORE, CACHE].map(closure);
  const [seals, contents, files, settlement] = [SEALS, CONTENTS, FILES, SETTLEMENT].map(closure);
  const [storedDevnet, metered] = [STORED_DEVNET, METERED].map(closure);
  const [sharing, prefetch, consensus] = [SHARING, PREFETCH, CONSENSUS].map(closure);
  const [status, lists] = [STATUS, LISTS].map(closure);
  const [recovery, pairing] = [['/kernel/recovery.js'], ['/evm/bls12381.js']].map(closure);
  // It is loaded as a node opens, and verifies nothing.
  const opening = closure(['/hosts/opening/open-consensus.js']);
  const later = laterThan(light);
  /** The first that holds decides; what has no rule stays a chunk of its own. */
  const rules = [
    ['shared', (chunk) => entry.has(chunk)],
    ['node', (chunk) => light.has(chunk) && (devnet.has(chunk) || estimation.has(chunk))],
    // What loads a kernel.
    ['node', (chunk) => sizing.has(chunk) && proofs.has(chunk)],
    ['light', (chunk) => light.has(chunk) || (cache.has(chunk) && !store.has(chunk) && !devnet.has(chunk))],
    // Slots of contracts: a devnet needs nothing else of what reads the rollup contract.
    ['node', (chunk) => settlement.has(chunk) && devnet.has(chunk) && !proofs.has(chunk)],
    ['zk', (chunk) => proofs.has(chunk) && (devnet.has(chunk) || storedDevnet.has(chunk))],
    ['proofs', (chunk) => proofs.has(chunk) || settlement.has(chunk)],
    // Too small for files: bundlers of consumers repeat them in others.
    ['node', (chunk) => store.has(chunk) || cache.has(chunk)],
    ['node', (chunk) => estimation.has(chunk) && (seals.has(chunk) || contents.has(chunk))],
    ['evm', (chunk) => estimation.has(chunk) || sizing.has(chunk)],
    ['prefetch', (chunk) => prefetch.has(chunk)],
    ['light', (chunk) => metered.has(chunk)],
    // Most light nodes load them; beside what few calls reach, all of that would come with them.
    ['status', (chunk) => status.has(chunk)],
    ['evm', (chunk) => lists.has(chunk) && devnet.has(chunk)],
    ['lists', (chunk) => lists.has(chunk)],
    ['sharing', (chunk) => sharing.has(chunk)],
    // Layer 1 followed by its consensus needs nothing of what executes.
    ['digests', (chunk) => devnet.has(chunk) && consensus.has(chunk)],
    ['curves', (chunk) => consensus.has(chunk) && recovery.has(chunk)],
    ['pairing', (chunk) => consensus.has(chunk) && pairing.has(chunk)],
    ['opening', (chunk) => opening.has(chunk)],
    ['consensus', (chunk) => consensus.has(chunk)],
    ['tries', (chunk) => devnet.has(chunk) && replica.has(chunk)],
    // Reading blocks and receipts needs nothing that admits transactions, nor the interpreter that comes with that.
    ['contents', (chunk) => devnet.has(chunk) && contents.has(chunk)],
    ['transactions', (chunk) => devnet.has(chunk) && later.has(chunk)],
    ['devnet', (chunk) => devnet.has(chunk)],
    ['stored-devnet', (chunk) => storedDevnet.has(chunk)],
    ['files', (chunk) => files.has(chunk)],
    ['normalizer', (chunk) => modulesOf(chunk).some((id) => NORMALIZER.test(id))],
  ];
  const groupOf = new Map();
  for (const chunk of chunks.values()) {
    const rule = rules.find(([, holds]) => holds(chunk));
    // Dynamic entries that are not part of a start are left alone: they are loaded by themselves.
    if (rule !== undefined) for (const id of modulesOf(chunk)) if (!id.endsWith(ENTRY)) groupOf.set(id, rule[0]);
  }
  groupOf.set(RUNTIME, 'shared');
  return withRest(
    output,
    rules.map(([name]) => name),
    groupOf,
    { common: entry, kinds: [light, devnet, replica], apart: [replica, closure([FORK]), contents, seals] },
  );
}

/**
 * @param output - as for `chunkGroups`, of the worker of a devnet
 * @returns groups of all that its entry imports, and one of what a stored devnet adds. The former are three, none above the
 *   244 KiB that webpack warns of: ours, which imports the interpreter, which imports the base
 */
export function devnetGroups(output) {
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const modulesFrom = (chunk, found = new Set()) => {
    for (const id of chunk.moduleIds) found.add(id);
    // Texts are no chunks.
    for (const name of chunk.imports) if (chunks.has(name)) modulesFrom(chunks.get(name), found);
    return found;
  };
  const entry = [...chunks.values()].find(({ isEntry }) => isEntry);
  const started = modulesFrom(entry);
  started.delete(entry.facadeModuleId);
  started.add(RUNTIME);
  const stored = new Set();
  for (const chunk of chunks.values()) {
    const id = chunk.facadeModuleId?.replaceAll('\\', '/');
    if (STORED.some((end) => id?.endsWith(end))) modulesFrom(chunk, stored);
  }
  const startOf = (id) => {
    if (VM.test(id) && !id.endsWith('.generated.js')) return 'worker-vm';
    return BASE.test(id) ? 'worker-base' : 'worker-devnet';
  };
  const groupOf = new Map();
  for (const { moduleIds } of chunks.values())
    for (const id of moduleIds)
      if (NORMALIZER.test(id.replaceAll('\\', '/'))) groupOf.set(id.replaceAll('\\', '/'), 'normalizer');
  for (const id of stored) groupOf.set(id.replaceAll('\\', '/'), 'stored');
  for (const id of started) groupOf.set(id.replaceAll('\\', '/'), startOf(id.replaceAll('\\', '/')));
  const starts = new Set([...chunks.values()].filter(({ moduleIds }) => moduleIds.some((id) => started.has(id))));
  return withRest(output, ['worker-vm', 'worker-base', 'worker-devnet', 'stored', 'normalizer'], groupOf, {
    common: starts,
    kinds: [],
    apart: [],
  });
}
