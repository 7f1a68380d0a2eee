import type { BeaconBlock } from '../../chain/devnet/layer-one/beacon-block.js';
import type { SimulatedBeacon } from '../../chain/devnet/layer-one/simulated-beacon.js';
import type { LightClientObjects, ObjectKind } from '../../consensus/containers/layouts.js';
import { forkAt, periodAt } from '../../consensus/networks/beacon-network.js';
import { toJson } from '../../consensus/ssz/to-json.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { nextTurn } from '../../scheduling/turns.js';

/** What HTTP answers to a request of the beacon API. */
export interface BeaconAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** @source ethereum/consensus-specs@a08d8a6e specs/altair/light-client/p2p-interface.md, MAX_REQUEST_LIGHT_CLIENT_UPDATES */
const MAX_UPDATES = 128;

const ROOT = /^0x[0-9a-f]{64}$/;
const NUMBER = /^\d{1,15}$/;
const NO_SIGNATURE: Hex = `0x${'00'.repeat(96)}`;

const ok = (body: unknown): BeaconAnswer => ({ status: 200, body });
const refuse = (status: 400 | 404, message: string): BeaconAnswer => ({ status, body: { code: status, message } });
const NO_BLOCK = refuse(404, 'the beacon chain has no such block, or no longer');

/** What a request asks for beside its route. */
interface Asked {
  /** The last part of a path that names a block. */
  readonly part: string;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal | undefined;
}

type Handle = (chain: SimulatedBeacon, newest: BeaconBlock, asked: Asked) => Answered;
type Answered = BeaconAnswer | Promise<BeaconAnswer>;

/** Answers by path. */
const ROUTES: readonly (readonly [RegExp, Handle])[] = [
  [/^\/eth\/v1\/beacon\/headers\/([^/]+)$/, headerAnswer],
  [/^\/eth\/v1\/beacon\/light_client\/bootstrap\/([^/]+)$/, bootstrapAnswer],
  [/^\/eth\/v1\/beacon\/light_client\/updates$/, updatesAnswer],
  [
    /^\/eth\/v1\/beacon\/light_client\/finality_update$/,
    (chain, newest) => ok(objectOf(chain, newest, chain.finalityUpdate(newest))),
  ],
  [
    /^\/eth\/v1\/beacon\/light_client\/optimistic_update$/,
    (chain, newest) => {
      const { attestedHeader, syncAggregate, signatureSlot } = chain.finalityUpdate(newest);
      return ok(objectOf(chain, newest, { attestedHeader, syncAggregate, signatureSlot }));
    },
  ],
];

/**
 * Answers a GET of the beacon API.
 *
 * @param target - path from `/eth` on, with the query
 * @param signal - ends the making of many updates
 * @source docs/spec/consensus.md 8
 */
export async function answerBeaconRequest(
  chain: SimulatedBeacon,
  target: string,
  signal?: AbortSignal,
): Promise<BeaconAnswer> {
  const at = target.indexOf('?');
  const path = at < 0 ? target : target.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : target.slice(at));
  if (path === '/eth/v1/beacon/genesis') return ok({ data: genesisOf(chain.network) });
  for (const [pattern, handle] of ROUTES) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const newest = chain.newest();
    return newest === undefined
      ? refuse(404, 'the beacon chain has no blocks yet: the clock is before its second period')
      : handle(chain, newest, { part: match[1] ?? '', query, signal });
  }
  return refuse(404, 'this route is not simulated');
}

function genesisOf({ genesisTime, genesisValidatorsRoot, forks }: SimulatedBeacon['network']) {
  return {
    genesis_time: String(genesisTime),
    genesis_validators_root: genesisValidatorsRoot,
    genesis_fork_version: forks[0]!.version,
  };
}

function objectOf({ network }: SimulatedBeacon, { slot }: BeaconBlock, data: LightClientObjects[ObjectKind]) {
  return { version: forkAt(network, slot).name, data: toJson(data) };
}

function headerAnswer(chain: SimulatedBeacon, newest: BeaconBlock, { part }: Asked): BeaconAnswer {
  const id = part.toLowerCase();
  if (!['finalized', 'head'].includes(id) && !ROOT.test(id) && !NUMBER.test(id)) {
    return refuse(400, 'the block must be finalized, head, a slot, or a root of 32 bytes');
  }
  const block = blockOf(chain, newest, id);
  if (block === undefined) return NO_BLOCK;
  const header = { message: toJson(block.header.beacon), signature: NO_SIGNATURE };
  const data = { root: bytesToHex(block.root), canonical: true, header };
  return ok({ execution_optimistic: false, finalized: block.slot < newest.slot, data });
}

function blockOf(chain: SimulatedBeacon, newest: BeaconBlock, id: string): BeaconBlock | undefined {
  if (id === 'head') return newest;
  if (id === 'finalized') return newest.parent;
  return NUMBER.test(id) ? chain.blockAt(Number(id)) : chain.blockWithRoot(id as Hex);
}

function bootstrapAnswer(chain: SimulatedBeacon, newest: BeaconBlock, { part }: Asked): BeaconAnswer {
  const root = part.toLowerCase();
  if (!ROOT.test(root)) return refuse(400, 'the block root must be 0x and 64 hex digits');
  const block = chain.blockWithRoot(root as Hex);
  if (block === undefined || block.slot >= newest.slot) return NO_BLOCK;
  return ok(objectOf(chain, block, chain.bootstrap(block)));
}

async function updatesAnswer(
  chain: SimulatedBeacon,
  newest: BeaconBlock,
  { query, signal }: Asked,
): Promise<BeaconAnswer> {
  const [start, count] = [query.get('start_period') ?? '', query.get('count') ?? ''];
  if (!NUMBER.test(start) || !NUMBER.test(count) || Number(count) === 0) {
    return refuse(400, 'start_period and count must be whole numbers, count above zero');
  }
  const end = Math.min(Number(start) + Math.min(Number(count), MAX_UPDATES), periodAt(chain.network, newest.slot) + 1);
  const updates: unknown[] = [];
  // The chain begins with period 1.
  for (let period = Math.max(Number(start), 1); period < end; period++) {
    await nextTurn();
    signal?.throwIfAborted();
    const update = chain.update(period);
    updates.push(objectOf(chain, newest, update));
  }
  return ok(updates);
}
