import { sha256 } from '@noble/hashes/sha2.js';
import type { BeaconBlock, SimulatedBeacon } from '../../chain/devnet/layer-one/simulated-beacon.js';
import {
  computeForkDataRoot,
  containersOf,
  type LightClientObjects,
  layoutAtSlot,
  type ObjectKind,
  uint64,
} from '../../consensus/containers.js';
import { computeSyncCommitteePeriodAtSlot, FAR_FUTURE_EPOCH, forkAt, sizesOf } from '../../consensus/slots.js';
import { type SszType, toJson } from '../../consensus/ssz.js';
import type { BeaconFork, BeaconNetwork } from '../../networks/network.js';
import { concatBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import { nextTurn } from '../../scheduling/turns.js';

/** What HTTP answers to a request of the beacon API. */
export interface BeaconAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Name of the object's fork, for the header `Eth-Consensus-Version`. */
  readonly version?: string;
  /** The object, or the list of updates, as bytes of SSZ in hex, where these are wanted. `body` is then null. */
  readonly ssz?: Hex;
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
  /** Objects are wanted as bytes of SSZ. */
  readonly isSsz: boolean;
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
    (chain, newest, asked) => objectAnswer(chain, newest, 'finalityUpdate', chain.finalityUpdate(newest), asked),
  ],
  [
    /^\/eth\/v1\/beacon\/light_client\/optimistic_update$/,
    (chain, newest, asked) => {
      const { attestedHeader, syncAggregate, signatureSlot } = chain.finalityUpdate(newest);
      const update = { attestedHeader, syncAggregate, signatureSlot };
      return objectAnswer(chain, newest, 'optimisticUpdate', update, asked);
    },
  ],
];

/**
 * Answers a GET of the beacon API.
 *
 * @param target - path from `/eth` on, with the query
 * @param isSsz - whether objects of light clients are wanted as bytes of SSZ
 * @param signal - ends the making of many updates
 * @source docs/spec/consensus.md 8
 */
export async function answerBeaconRequest(
  chain: SimulatedBeacon,
  target: string,
  isSsz = false,
  signal?: AbortSignal,
): Promise<BeaconAnswer> {
  const at = target.indexOf('?');
  const path = at < 0 ? target : target.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : target.slice(at));
  if (path === '/eth/v1/beacon/genesis') return ok({ data: genesisOf(chain.network) });
  if (path === '/eth/v1/config/spec') return ok({ data: specOf(chain.network) });
  for (const [pattern, handle] of ROUTES) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const newest = chain.newest();
    return newest === undefined
      ? refuse(404, 'the beacon chain has no blocks yet: the clock is before its second period')
      : handle(chain, newest, { part: match[1] ?? '', query, isSsz, signal });
  }
  return refuse(404, 'this route is not simulated');
}

function genesisOf(network: BeaconNetwork) {
  return {
    genesis_time: String(network.genesisTime),
    genesis_validators_root: network.genesisValidatorsRoot,
    genesis_fork_version: forksOf(network)[0]!.version,
  };
}

/** Forks before the first that the network names, all of them from genesis on. */
const EARLIER = ['phase0', 'altair', 'bellatrix', 'capella', 'deneb', 'electra', 'fulu', 'gloas'];

/** All forks of the network. */
function forksOf({ forks }: BeaconNetwork): readonly BeaconFork[] {
  const first = EARLIER.indexOf(forks[0]!.name);
  return [
    ...EARLIER.slice(0, first).map((name, i): BeaconFork => ({ name, epoch: 0, version: `0x0${i}e70300` })),
    ...forks,
  ];
}

/** @source ethereum/consensus-specs@a08d8a6e specs/electra/beacon-chain.md */
const MAX_BLOBS_ELECTRA = 9;

/** Values of `/eth/v1/config/spec` that light clients read. @source ethereum/beacon-APIs apis/config/spec.yaml */
function specOf(network: BeaconNetwork): Record<string, string> {
  const { slotsPerEpoch, epochsPerPeriod, committeeSize } = sizesOf(network);
  const { genesisTime, secondsPerSlot, depositChainId } = network;
  return {
    PRESET_BASE: 'minimal',
    CONFIG_NAME: 'plumbline-simulated',
    MIN_GENESIS_TIME: String(genesisTime),
    GENESIS_DELAY: '0',
    SECONDS_PER_SLOT: String(secondsPerSlot),
    SLOT_DURATION_MS: String(secondsPerSlot * 1000),
    SLOTS_PER_EPOCH: String(slotsPerEpoch),
    EPOCHS_PER_SYNC_COMMITTEE_PERIOD: String(epochsPerPeriod),
    SYNC_COMMITTEE_SIZE: String(committeeSize),
    ...Object.fromEntries(
      forksOf(network).flatMap(({ name, epoch, version }) => {
        if (name === 'phase0') return [['GENESIS_FORK_VERSION', version]];
        const fork = name.toUpperCase();
        return [
          [`${fork}_FORK_VERSION`, version],
          [`${fork}_FORK_EPOCH`, epoch === undefined ? FAR_FUTURE_EPOCH : String(epoch)],
        ];
      }),
    ),
    MAX_BLOBS_PER_BLOCK_ELECTRA: String(MAX_BLOBS_ELECTRA),
    DEPOSIT_CHAIN_ID: String(depositChainId),
    DEPOSIT_NETWORK_ID: String(depositChainId),
  };
}

/** The answer with an object of a light client, of the fork of this block. */
function objectAnswer<K extends Exclude<ObjectKind, 'update'>>(
  { network }: SimulatedBeacon,
  { slot }: BeaconBlock,
  kind: K,
  data: LightClientObjects[K],
  { isSsz }: Asked,
): BeaconAnswer {
  const version = forkAt(network, slot).name;
  if (!isSsz) return { ...ok({ version, data: toJson(data) }), version };
  return { status: 200, body: null, version, ssz: bytesToHex(containerAt(network, slot, kind).encode(data)) };
}

function containerAt<K extends ObjectKind>(
  network: BeaconNetwork,
  slot: number,
  kind: K,
): SszType<LightClientObjects[K]> {
  return containersOf(layoutAtSlot(network, BigInt(slot)), sizesOf(network).committeeSize)[kind];
}

function headerAnswer(chain: SimulatedBeacon, newest: BeaconBlock, { part }: Asked): BeaconAnswer {
  const id = part.toLowerCase();
  if (!['finalized', 'head', 'genesis'].includes(id) && !ROOT.test(id) && !NUMBER.test(id)) {
    return refuse(400, 'the block must be finalized, head, genesis, a slot, or a root of 32 bytes');
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
  // `genesis` is known, but the chain begins later.
  return NUMBER.test(id) ? chain.blockAt(Number(id)) : chain.blockWithRoot(id as Hex);
}

function bootstrapAnswer(chain: SimulatedBeacon, newest: BeaconBlock, asked: Asked): BeaconAnswer {
  const root = asked.part.toLowerCase();
  if (!ROOT.test(root)) return refuse(400, 'the block root must be 0x and 64 hex digits');
  const block = chain.blockWithRoot(root as Hex);
  if (block === undefined || block.slot >= newest.slot) return NO_BLOCK;
  return objectAnswer(chain, block, 'bootstrap', chain.bootstrap(block), asked);
}

async function updatesAnswer(
  chain: SimulatedBeacon,
  newest: BeaconBlock,
  { query, isSsz, signal }: Asked,
): Promise<BeaconAnswer> {
  const [start, count] = [query.get('start_period') ?? '', query.get('count') ?? ''];
  if (!NUMBER.test(start) || !NUMBER.test(count) || Number(count) === 0) {
    return refuse(400, 'start_period and count must be whole numbers, count above zero');
  }
  const end = Math.min(
    Number(start) + Math.min(Number(count), MAX_UPDATES),
    computeSyncCommitteePeriodAtSlot(chain.network, newest.slot) + 1,
  );
  const updates: unknown[] = [];
  const chunks: Uint8Array[] = [];
  // The chain begins with period 1.
  for (let period = Math.max(Number(start), 1); period < end; period++) {
    await nextTurn();
    signal?.throwIfAborted();
    const update = chain.update(period);
    const slot = Number(update.attestedHeader.beacon.slot);
    if (isSsz) chunks.push(sszChunk(chain.network, slot, containerAt(chain.network, slot, 'update').encode(update)));
    else updates.push({ version: forkAt(chain.network, slot).name, data: toJson(update) });
  }
  return isSsz ? { status: 200, body: null, ssz: bytesToHex(concatBytes(...chunks)) } : ok(updates);
}

/**
 * An update in the answer of a list: its length and its fork digest as eight bytes, the digest, and the update.
 *
 * @source ethereum/beacon-APIs apis/beacon/light_client/updates.yaml
 */
function sszChunk(network: BeaconNetwork, slot: number, update: Uint8Array): Uint8Array {
  const digest = forkDigest(network, slot);
  return concatBytes(uint64.encode(BigInt(digest.length + update.length)), digest, update);
}

/**
 * Digest of a slot, four bytes. The chain has no blob schedule, so the parameters of Electra count, from its epoch 0 on.
 *
 * @source ethereum/consensus-specs@a08d8a6e specs/fulu/beacon-chain.md, compute_fork_digest
 */
function forkDigest(network: BeaconNetwork, slot: number): Uint8Array {
  const root = computeForkDataRoot(network, hexToBytes(forkAt(network, slot).version, 4));
  const blobs = sha256(concatBytes(uint64.encode(0n), uint64.encode(BigInt(MAX_BLOBS_ELECTRA))));
  return root.subarray(0, 4).map((byte, i) => byte ^ blobs[i]!);
}
