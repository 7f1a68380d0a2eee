import type { Hasher, HashScheme } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { formatTrace, parseBlockTraces } from '../src/state/trace.js';
import { checkTraces } from '../src/state/trace-check.js';
import { decodeTrieLog } from '../src/state/trie-log.js';
import { WitnessState } from '../src/state/witness-state.js';
import { type Area, differs, type Report } from './area.js';
import { differsDeep } from './differs-deep.js';
import { rememberingHasher } from './remembering-hasher.js';

interface Chain {
  seed: number;
  emptyRoot: string;
  blocks: { blockNumber: number; trieLog: string; root: string; nextFreeNode: number; traces: unknown[] }[];
}

async function runChain(hasher: Hasher, chain: Chain, report: Report): Promise<void> {
  const name = `${hasher.scheme} chain ${chain.seed}`;
  const state = new WitnessState(hasher);
  for (const block of chain.blocks) {
    await report.check(`${name} block ${block.blockNumber}`, () => {
      const { changes } = decodeTrieLog(hexToBytes(block.trieLog));
      const traces = state.apply(changes).map(formatTrace);
      const { topRoot, nextFreeNode } = state.accounts;
      return (
        differsDeep(block.traces, traces) ??
        differs([block.root, block.nextFreeNode], [bytesToHex(topRoot), nextFreeNode])
      );
    });
  }
  await report.check(`${name} checked`, () => {
    const blocks = parseBlockTraces(chain.blocks.map(({ traces }) => traces));
    const verdict = checkTraces(hasher, hexToBytes(chain.emptyRoot, 32), blocks, { order: true });
    if (!verdict.verified) return `${verdict.reason}: ${verdict.message}`;
    const roots = chain.blocks.map(({ root }) => root);
    return differs(roots, verdict.blockRoots.map(bytesToHex));
  });
}

/** Blocks of generated chains, applied from the empty state: their traces, in identical order and content. */
export const generatedTracesArea: Area = {
  name: 'state/generated-blocks traces',
  usesKernel: true,
  files: (material) => material.list('state', /^generated-blocks-.*\.json$/),
  async run(material, report) {
    for (const file of this.files(material)) {
      const { scheme, chains } = material.json<{ scheme: HashScheme; chains: Chain[] }>(file);
      const hasher = await loadHasher(scheme, { build: material.build });
      for (const chain of chains) await runChain(rememberingHasher(hasher), chain, report);
    }
  },
};
