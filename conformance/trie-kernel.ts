import { hashWord } from '../src/accumulator/keys.js';
import type { ProofItemJson } from '../src/accumulator/proof-shape.js';
import type { Hasher, HashScheme } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { loadTrieKernel, type TrieKernel } from '../src/kernel/trie.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { putStepwise, removeStepwise } from '../src/state/kernel-traces.js';
import { type Area, differs, type Material, type Report } from './area.js';
import type { OperationStep, Sequence } from './state.js';

/** One trie driven by the operations of a sequence, whole or leaf by leaf; a mark is the undo records kept since. */
class DrivenTrie {
  readonly trie: number;
  readonly #records: Uint8Array[] = [];

  constructor(
    readonly kernel: TrieKernel,
    readonly hasher: Hasher,
    readonly leafByLeaf: boolean,
  ) {
    this.trie = kernel.createTrie();
  }

  run(step: OperationStep): { effect?: string; position?: number } {
    const { kernel, trie } = this;
    if (step.op === 'mark') this.#records.length = 0;
    else if (step.op === 'rollback') {
      for (const record of this.#records.splice(0).reverse()) kernel.undo(record);
    } else {
      const hkey = hashWord(this.hasher, hexToBytes(step.key, 32));
      const hval = step.op === 'put' ? hashWord(this.hasher, hexToBytes(step.value, 32)) : undefined;
      if (this.leafByLeaf) {
        const { effect, steps } = hval ? putStepwise(kernel, trie, hkey, hval) : removeStepwise(kernel, trie, hkey);
        const at = steps.length > 1 ? steps[1] : steps[0];
        this.#records.push(kernel.takeUndo());
        return { effect, ...(at && { position: at.position }) };
      }
      const done = hval ? kernel.put(trie, hkey, hval) : kernel.remove(trie, hkey);
      kernel.commit();
      this.#records.push(kernel.takeUndo());
      return done;
    }
    kernel.commit();
    kernel.takeUndo();
    return {};
  }

  roots(): [number, string, string] {
    const { kernel, trie } = this;
    return [kernel.nextFreeNode(trie), bytesToHex(kernel.subRoot(trie)), bytesToHex(kernel.topRoot(trie))];
  }

  /** Positions and preimages of the proof of a key, or of its absence. */
  prove(key: Uint8Array): unknown {
    const { kernel, trie } = this;
    const nodes = (position: number) => kernel.gatherProof(trie, position).map(bytesToHex);
    const found = kernel.find(trie, hashWord(this.hasher, key));
    if (found.present) return [found.position, nodes(found.position)];
    return [found.left, nodes(found.left), found.right, nodes(found.right)];
  }
}

function nodesOf(item: ProofItemJson): unknown {
  if ('proof' in item) return [item.leafIndex, item.proof.proofRelatedNodes];
  const { leftLeafIndex, leftProof, rightLeafIndex, rightProof } = item;
  return [leftLeafIndex, leftProof.proofRelatedNodes, rightLeafIndex, rightProof.proofRelatedNodes];
}

async function runSequences(material: Material, file: string, leafByLeaf: boolean, report: Report): Promise<void> {
  const { scheme, sequences } = material.json<{ scheme: HashScheme; sequences: Sequence[] }>(file);
  const hasher = await loadHasher(scheme, { build: material.build });
  const kernel = await loadTrieKernel(scheme, { build: material.build, undo: true });
  for (const { seed, steps, proofs } of sequences) {
    const driven = new DrivenTrie(kernel, hasher, leafByLeaf);
    const name = `${scheme} ${leafByLeaf ? 'leaf by leaf ' : ''}sequence ${seed}`;
    for (const [i, step] of steps.entries()) {
      await report.check(`${name} step ${i} ${step.op}`, () => {
        const { effect, position } = driven.run(step);
        return differs(
          [step.effect ?? null, step.leafIndex ?? null, step.nextFreeNode, step.subRoot, step.topRoot],
          [effect ?? null, position ?? null, ...driven.roots()],
        );
      });
    }
    for (const [i, item] of proofs.entries()) {
      await report.check(`${name} proof ${i}`, () => {
        return differs(nodesOf(item), driven.prove(hexToBytes(item.key, 32)));
      });
    }
    kernel.dropTrie(driven.trie);
  }
}

/** The generated operations on the trie kernel itself, without the state above it. */
export const trieKernelArea: Area = {
  name: 'state/generated-ops on the trie kernel',
  usesKernel: true,
  files: (material) => material.list('state', /^generated-ops-.*\.json$/),
  async run(material, report) {
    for (const file of this.files(material)) {
      for (const leafByLeaf of [false, true]) await runSequences(material, file, leafByLeaf, report);
    }
  },
};
