import type { LineaProofJson } from '../../src/accumulator/proof-shape.js';
import type { LayerOneRoots } from '../../src/chain/replica/sources.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { fixtureJson } from './fixtures.js';
import { type MockHandler, MockRpcError } from './mock-upstream-replies.js';

/** A block of `generated-blocks`, as far as a replica meets it. */
export interface GeneratedBlock {
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly trieLog: string;
  readonly parentRoot: string;
  readonly root: string;
}

/** A proof of the state after the last block. */
export interface GeneratedQuery {
  readonly address: string;
  readonly storageKeys: readonly string[];
  readonly stateRoot: string;
  readonly result: LineaProofJson;
}

/** A chain of `generated-blocks`; it begins with block 0 on the empty state. */
export interface GeneratedChain {
  readonly scheme: HashScheme;
  readonly seed: number;
  readonly blocks: readonly GeneratedBlock[];
  readonly queries: readonly GeneratedQuery[];
}

export function generatedChains(scheme: HashScheme): GeneratedChain[] {
  const file = fixtureJson<{ chains: GeneratedChain[] }>(`state/generated-blocks-${scheme}.json.gz`);
  return file.chains.map((chain) => ({ ...chain, scheme }));
}

/** What a self-run node with its state manager has, to be spoilt. */
export interface ShomeiContent {
  /** Logs in the order in which they are answered. */
  logs: { blockNumber: unknown; blockHash: string; trieLog: string }[];
  roots: Map<number, { parent: string; end: string }>;
  /** Ranges asked for, upper end excluded. */
  readonly asked: (readonly [number, number])[];
}

export function contentOf({ blocks }: GeneratedChain): ShomeiContent {
  return {
    logs: blocks.map(({ blockNumber, blockHash, trieLog }) => ({ blockNumber, blockHash, trieLog })),
    roots: new Map(blocks.map(({ blockNumber, parentRoot, root }) => [blockNumber, { parent: parentRoot, end: root }])),
    asked: [],
  };
}

/** Answers as Besu and Shomei do: numbers in decimal, at most 1000 blocks, blocks without a log left out silently. */
export function shomeiHandler(content: ShomeiContent): MockHandler {
  return (method, params) => {
    if (method === 'shomei_getTrieLogsByRange') {
      const [from, to] = params.map(decimal) as [number, number];
      if (to - from > 1000) throw new MockRpcError(-32602, 'Invalid params');
      content.asked.push([from, to]);
      return content.logs.filter(({ blockNumber }) => Number(blockNumber) >= from && Number(blockNumber) < to);
    }
    if (method === 'rollup_getZkEVMStateMerkleProofV0') {
      const { startBlockNumber, endBlockNumber } = params[0] as Record<string, unknown>;
      const [start, end] = [content.roots.get(Number(startBlockNumber)), content.roots.get(Number(endBlockNumber))];
      if (start === undefined || end === undefined) {
        const missing = start === undefined ? startBlockNumber : endBlockNumber;
        throw new MockRpcError(-32602, `BLOCK_MISSING_IN_CHAIN - block ${missing} is missing`);
      }
      return {
        zkParentStateRootHash: start.parent,
        zkEndStateRootHash: end.end,
        zkStateMerkleProof: [],
        zkStateManagerVersion: '3.0.0',
      };
    }
    throw new MockRpcError(-32601, 'Method not found');
  };
}

/** Layer 1 that holds roots of some blocks, to be added to and spoilt. */
export class HeldRoots implements LayerOneRoots {
  readonly roots = new Map<number, Uint8Array>();
  asked = 0;

  /** Finalizes blocks with the roots that the chain is known to have. */
  constructor({ blocks }: GeneratedChain, ends: Iterable<number> = blocks.keys()) {
    for (const end of ends) this.roots.set(end, hexToBytes(blocks[end]!.root, 32));
  }

  async newestFinalized(): Promise<number | undefined> {
    return this.roots.size === 0 ? undefined : Math.max(...this.roots.keys());
  }

  async rootOnLayerOne(block: number): Promise<Uint8Array | undefined> {
    this.asked++;
    return this.roots.get(block);
  }

  async finalizationsIn(first: number, last: number): Promise<readonly number[]> {
    return [...this.roots.keys()].filter((block) => block >= first && block <= last).sort((a, b) => a - b);
  }
}

function decimal(value: unknown): number {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))) return Number(value);
  throw new MockRpcError(-32602, 'Invalid block number params');
}
