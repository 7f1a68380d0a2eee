import { readFinalized } from '../../chain/light/checkpoint.js';
import { invalidParameter, messageOf } from '../../errors.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { RestGroup } from '../../upstream/rest-group.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { printJson, printLines } from './lines.js';

/** What one server names. */
interface Named {
  readonly server: string;
  readonly root?: Hex;
  readonly slot?: number;
  readonly problem?: string;
}

const FINALIZED = '/eth/v1/beacon/headers/finalized';

/** `plumbline checkpoint`: the finalized beacon blocks that servers name, and whether they agree. */
export const checkpointCommand: Command = {
  help: `plumbline checkpoint --server URL [--server URL ...] [options]

  --server URL  beacon node or checkpoint server; name several of different operators
  --json        one JSON object

Prints the root of the finalized beacon block that each server names, computed from its header. If the servers name blocks of
different slots, all are asked for the oldest one. Use the root as --checkpoint of plumbline serve only if operators that you
trust agree on it.

Exit codes: 0 all servers name the same block, 1 they differ or one did not answer, 2 the arguments cannot be used.`,

  async run(args) {
    const options = {
      server: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
    } as const;
    const { values } = readArguments(args, options, { count: 0, name: 'SERVER' });
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
