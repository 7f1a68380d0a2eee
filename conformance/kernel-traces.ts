import type { HashScheme, KernelBuild } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { loadTrieKernel } from '../src/kernel/trie.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { openWorldState } from '../src/state/open-world-state.js';
import { formatTrace } from '../src/state/trace.js';
import { decodeTrieLog } from '../src/state/trie-log.js';
import type { WorldState } from '../src/state/world-state.js';
import { type Area, differs, type Report } from './area.js';
import { differsDeep } from './differs-deep.js';

interface Chain {
  seed: number;
  blocks: { trieLog: string; root: string; nextFreeNode: number; traces: unknown[] }[];
}

async function openState(scheme: HashScheme, build: KernelBuild): Promise<WorldState> {
  const hasher = await loadHasher(scheme, { build });
  return openWorldState(hasher, await loadTrieKernel(scheme, { build, undo: true, nodes: true }));
}

/** @param every - of so many blocks one is applied with traces, the others without */
async function runChain(state: WorldState, chain: Chain, every: number, report: Report): Promise<void> {
  const kind = every === 1 ? 'all traced' : `one in ${every} traced`;
  for (const [i, block] of chain.blocks.entries()) {
    const { blockNumber, changes } = decodeTrieLog(hexToBytes(block.trieLog));
    await report.check(`${state.scheme} chain ${chain.seed}, ${kind}, block ${blockNumber}`, () => {
      if (i % every > 0) return differs(block.root, bytesToHex(state.applyBlock(blockNumber, changes)));
      const { root, traces } = state.applyBlockTraced(blockNumber, changes);
      return (
        differsDeep(block.traces, traces.map(formatTrace)) ??
        differs([block.root, block.nextFreeNode], [bytesToHex(root), state.nextFreeNode()])
      );
    });
  }
  await report.check(`${state.scheme} chain ${chain.seed}, ${kind}, back to the first block and forward`, () => {
    const [first, second] = chain.blocks;
    const { blockNumber } = decodeTrieLog(hexToBytes(first!.trieLog));
    state.revertTo(blockNumber);
    const root = differs([first!.root, first!.nextFreeNode], [bytesToHex(state.root()), state.nextFreeNode()]);
    if (root !== undefined || second === undefined) return root;
    const { changes } = decodeTrieLog(hexToBytes(second.trieLog));
    const { traces } = state.applyBlockTraced(blockNumber + 1, changes);
    return differsDeep(second.traces, traces.map(formatTrace));
  });
}

/** Blocks of generated chains applied to the world state with traces: identical ones in identical order, on every build. */
export const kernelTracesArea: Area = {
  name: 'state/generated-blocks traces of the world state',
  usesKernel: true,
  files: (material) => material.list('state', /^generated-blocks-.*\.json$/),
  async run(material, report) {
    for (const file of this.files(material)) {
      const { scheme, chains } = material.json<{ scheme: HashScheme; chains: Chain[] }>(file);
      for (const chain of chains) {
        for (const every of [1, 3]) await runChain(await openState(scheme, material.build), chain, every, report);
      }
    }
  },
};
