import { beaconBlockHeader } from '../../consensus/containers.js';
import { isPlumblineError, PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import { malformed, readObject } from '../../proof/json-reader.js';
import type { RestGroup } from '../../upstream/rest-group.js';
import type { LayerOneEvidence } from '../chain.js';

/** A trusted beacon block. */
export interface TrustedBeaconBlock {
  /** Root of the block, 32 bytes. */
  readonly root: Uint8Array;
  readonly level: LayerOneEvidence['level'];
}

/** What a checkpoint can be taken from. */
export interface CheckpointSources {
  /** Root of a beacon block that the caller trusts, 32 bytes. */
  readonly given: Uint8Array | undefined;
  /** Root of the network's profile, 32 bytes. */
  readonly builtin: Uint8Array | undefined;
  /** Servers, and how many origins of them must agree. */
  readonly servers: { readonly group: RestGroup; readonly agreeing: number } | undefined;
}

const FINALIZED = '/eth/v1/beacon/headers/finalized';

/**
 * The checkpoints to try without a stored state, the preferred one first.
 *
 * @throws PlumblineError `CHECKPOINT_NEEDED` if there is no source
 */
export function checkpointsOf({ given, builtin, servers }: CheckpointSources): (() => Promise<TrustedBeaconBlock>)[] {
  if (given !== undefined) return [async () => ({ root: given, level: 'checkpoint' })];
  const found: (() => Promise<TrustedBeaconBlock>)[] = [];
  if (builtin !== undefined) found.push(async () => ({ root: builtin, level: 'builtin' }));
  if (servers !== undefined)
    found.push(async () => ({ root: await agreedRoot(servers.group, servers.agreeing), level: 'servers' }));
  if (found.length > 0) return found;
  const reason =
    'layer 1 is followed from a beacon block that you trust: give its root in layerOne.checkpoint, or name servers in layerOne.checkpointServers';
  throw new PlumblineError('CHECKPOINT_NEEDED', reason, { reason });
}

/**
 * The root of a finalized beacon block that enough origins name. They finalize at different times: if they differ, the newest
 * slot that enough of them have reached is asked for.
 *
 * @throws PlumblineError `UPSTREAM_DISAGREEMENT`; `PROOF_MALFORMED`, of the endpoints
 */
async function agreedRoot({ group }: RestGroup, needed: number): Promise<Uint8Array> {
  const key = ({ root }: { readonly root: Uint8Array }) => bytesToHex(root);
  const ask = async (path: string) =>
    (await group.requestAll(path, [], { needed, accept: readFinalized, key })).value.root;
  try {
    return await ask(FINALIZED);
  } catch (error) {
    if (!isPlumblineError(error, 'UPSTREAM_DISAGREEMENT')) throw error;
  }
  const { votes } = await group.requestAll(FINALIZED, [], {
    needed,
    accept: readFinalized,
    key: () => '',
    wait: 'all',
  });
  const reached = new Map<string, number>();
  for (const vote of votes)
    if ('value' in vote) reached.set(vote.from.origin, Math.max(vote.value.slot, reached.get(vote.from.origin) ?? 0));
  // One that names an old block, or none that is there, does not decide for the others.
  const slot = [...reached.values()].sort((a, b) => b - a)[needed - 1]!;
  return ask(`/eth/v1/beacon/headers/${slot}`);
}

/**
 * Reads the answer of `/eth/v1/beacon/headers/…`. The root is computed from the header, not read.
 *
 * @throws PlumblineError `PROOF_MALFORMED`, also for a block that is not final
 * @source ethereum/beacon-APIs apis/beacon/blocks
 */
export function readFinalized(answer: unknown): { readonly root: Uint8Array; readonly slot: number } {
  const { finalized, data } = readObject(answer, '');
  if (finalized !== true) throw malformed('finalized', 'is not true');
  const { header } = readObject(data, 'data');
  const { message } = readObject(header, 'data.header');
  const beacon = beaconBlockHeader.fromJson(message, 'data.header.message');
  return { root: beaconBlockHeader.hashTreeRoot(beacon), slot: Number(beacon.slot) };
}
