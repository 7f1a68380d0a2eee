import type { Hasher, HashScheme } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { formatTrace, parseBlockTraces, type StateTrace } from '../src/state/trace.js';
import { checkTraces } from '../src/state/trace-check.js';
import { witnessBefore } from '../src/state/witness-state.js';
import { type Area, differs } from './area.js';
import { differsDeep } from './differs-deep.js';
import { rememberingHasher } from './remembering-hasher.js';
import { changesOfTraces } from './trace-changes.js';

/** A recorded answer of `rollup_getZkEVMStateMerkleProofV0`, with the state root after each block. */
interface RecordedTraces {
  scheme: HashScheme;
  firstBlock: number | null;
  zkParentStateRootHash: string;
  zkEndStateRootHash: string;
  blockRoots: string[];
  zkStateMerkleProof: unknown[][];
}

/** Lists of single tree operations, made by hand: traces, but not of a block. */
const HAND_MADE = /\/[^/]*-prover-insert-[^/]*$|\/(shomei|hand-made)-[^/]*$/;

const SHUFFLE_SEED = 0x5eed;

/** The items in another order, the same each time. */
function shuffled<T>(items: readonly T[]): T[] {
  const mixed = [...items];
  let state = SHUFFLE_SEED;
  for (let i = mixed.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const j = Math.floor((state / 2 ** 32) * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j]!, mixed[i]!];
  }
  return mixed;
}

/** Applies the changes of a block, shuffled, to what its traces show of the state before it. */
function reapplied(hasher: Hasher, traces: readonly StateTrace[], parentRoot: string) {
  const state = witnessBefore(hasher, traces);
  const root = differs(parentRoot, state === undefined ? parentRoot : bytesToHex(state.accounts.topRoot));
  if (root !== undefined || state === undefined) return root;
  const changes = shuffled(changesOfTraces(traces)).map((change) => ({ ...change, slots: shuffled(change.slots) }));
  const produced = state.apply(changes);
  // Old records leave `deletedValue` out.
  const expected = traces.map(formatTrace);
  const actual = produced.map((trace, i) => {
    const { deletedValue, ...json } = formatTrace(trace);
    return deletedValue === undefined || expected[i]?.deletedValue === undefined ? json : { ...json, deletedValue };
  });
  return differsDeep(expected, actual);
}

const recorded: Area = {
  name: 'state/traces',
  usesKernel: true,
  files: (material) => material.list('state/traces', /\.json$/),
  async run(material, report) {
    for (const file of this.files(material)) {
      const record = material.json<RecordedTraces>(file);
      const hasher = rememberingHasher(await loadHasher(record.scheme, { build: material.build }));
      const isBlocks = !HAND_MADE.test(file);
      const blocks = parseBlockTraces(record.zkStateMerkleProof);
      await report.check(`${file} checked`, () => {
        const parentRoot = hexToBytes(record.zkParentStateRootHash, 32);
        const verdict = checkTraces(hasher, parentRoot, blocks, { order: isBlocks });
        if (!verdict.verified) return `${verdict.reason}: ${verdict.message}`;
        const roots = verdict.blockRoots.map(bytesToHex);
        return (
          differs(record.zkEndStateRootHash, roots.at(-1) ?? record.zkParentStateRootHash) ??
          differsDeep(record.blockRoots, roots)
        );
      });
      if (!isBlocks) continue;
      for (const [b, traces] of blocks.entries()) {
        const parentRoot = record.blockRoots[b - 1] ?? record.zkParentStateRootHash;
        const name = `${file} block ${(record.firstBlock ?? 0) + b}`;
        const untold = traces.some(
          (t) => t.type === 'delete' && t.location === undefined && t.deletedValue === undefined,
        );
        if (untold) report.skip(name, 'an old record: it does not tell what account was deleted');
        else await report.check(name, () => reapplied(hasher, traces, parentRoot));
      }
    }
  },
};

/** State traces, as the state manager recorded them. */
export const TRACE_AREAS: readonly Area[] = [recorded];
