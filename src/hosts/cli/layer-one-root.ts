import { readFinalized } from '../../chain/light/checkpoint.js';
import type { FinalizedBlock, RootedBlock } from '../../chain/light/settlement/finality.js';
import { RollupReader } from '../../chain/light/settlement/rollup-reader.js';
import { finalizationBefore } from '../../chain/light/settlement/settled-proofs.js';
import { invalidParameter, messageOf, PlumblineError } from '../../errors.js';
import type { RollupNetwork } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { EndpointGroup } from '../../upstream/group.js';
import { RestGroup } from '../../upstream/rest-group.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { printJson, printLines } from './lines.js';

/** Most finalizations that are looked through for a root. */
const SEARCHED = 64;

/** Roots of the zk state on layer 1. */
export interface FoundRoot {
  /** The root that fits, or the newest one where none does. */
  readonly at: RootedBlock;
  readonly fits: boolean;
  /** Oldest block whose root was compared. 0: there is none before it. */
  readonly oldest: number;
  /** Origins that were asked. */
  readonly origins: readonly string[];
}

/**
 * Reads the rollup contract by the word of layer-1 endpoints, which must agree: the root of a block, or else the one among the
 * newest finalized blocks that a proof leads to.
 *
 * @param claimed - the root that the proof leads to, 32 bytes; undefined fits none
 * @param block - the only block whose root counts
 * @throws PlumblineError `BLOCK_NOT_PROVABLE` if layer 1 has no root for the block; of the endpoints
 */
export async function rootsOnLayerOne(
  endpoints: readonly string[],
  { rollup }: Pick<RollupNetwork, 'rollup'>,
  claimed: Uint8Array | undefined,
  block: number | undefined,
): Promise<FoundRoot> {
  const group = new EndpointGroup({ role: 'l1', endpoints });
  try {
    const origins = [...new Set(group.endpoints.map(({ origin }) => origin))];
    const reader = new RollupReader(group, { rollup, prove: false, agreeing: origins.length });
    const pinned = await reader.pin();
    const anchorOf = (number: number) => reader.anchorAt(pinned, number);
    const newest = await reader.currentAt(pinned);
    const number = block ?? newest;
    const anchor = await anchorOf(number);
    if (anchor?.root === undefined) {
      const text = `layer 1 has no root of block ${number}: no finalization ended there; the newest finalized block is ${newest}`;
      throw new PlumblineError('BLOCK_NOT_PROVABLE', text, { block: String(number) });
    }
    const first = { number, root: anchor.root, layerOneBlock: pinned.header.number };
    const finality = { events: reader.events.bind(reader), anchorOf };
    let [at, oldest]: [FinalizedBlock | undefined, number] = [first, number];
    for (let searched = 0; at !== undefined && searched < SEARCHED; searched++) {
      const { root } = at;
      if (claimed !== undefined && root !== undefined && equalBytes(root, claimed))
        return { at: { ...at, root }, fits: true, oldest: at.number, origins };
      oldest = at.number;
      at = block === undefined ? await finalizationBefore(finality, at) : undefined;
    }
    return { at: first, fits: false, oldest, origins };
  } finally {
    group.close();
  }
}

/** What one server names. */
interface Named {
  readonly server: string;
  readonly root?: Hex;
  readonly slot?: number;
  readonly problem?: string;
}

const FINALIZED = '/eth/v1/beacon/headers/finalized';

const OPTIONS = {
  server: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
} as const;

/** `plumbline checkpoint`: the finalized beacon blocks that servers name, and whether they agree. */
export const checkpointCommand: Command = {
  help: `plumbline checkpoint --server URL [--server URL ...] [options]

  --server URL  beacon node or checkpoint server; name several of different operators
  --json        one JSON object

Prints the root of the finalized beacon block that each server names, computed from its header. If the servers name blocks of
different slots, all are asked for the oldest one. Use the root as --checkpoint of plumbline serve only if operators that you
trust agree on it.

Exit codes: 0 all servers name the same block, 1 they differ or one did not answer, 2 the arguments cannot be used.`,

  options: OPTIONS,

  async run(args) {
    const { values } = readArguments(args, OPTIONS, { count: 0, name: 'SERVER' });
    const servers = values.server ?? [];
    if (servers.length === 0) throw invalidParameter('--server', 'is missing; name at least one beacon node');
    const newest = await Promise.all(servers.map((server) => ask(server, FINALIZED)));
    const slots = new Set(newest.flatMap(({ slot }) => (slot === undefined ? [] : [slot])));
    const oldest = `/eth/v1/beacon/headers/${Math.min(...slots)}`;
    const named = slots.size > 1 ? await Promise.all(servers.map((server) => ask(server, oldest))) : newest;
    const roots = new Set(named.map(({ root }) => root));
    const [root] = roots;
    const agreed = roots.size === 1 && root !== undefined;
    if (values.json) printJson({ agreed, ...(agreed && { root }), servers: named });
    else {
      for (const { server, root: own, slot, problem } of named)
        printLines(problem === undefined ? `${own}  slot ${slot}  ${server}` : `${problem}  ${server}`);
      printLines(agreed ? `All ${named.length} agree.` : 'The servers do not agree.');
    }
    return agreed ? EXIT.ok : EXIT.failed;
  },
};

async function ask(url: string, path: string): Promise<Named> {
  const group = new RestGroup({ role: 'l1-checkpoint', endpoints: [url], retries: 0 });
  const server = group.group.endpoints[0]!.origin;
  try {
    const { root, slot } = await group.get(path, { accept: readFinalized });
    return { server, root: bytesToHex(root), slot };
  } catch (error) {
    return { server, problem: messageOf(error) };
  } finally {
    group.close();
  }
}
