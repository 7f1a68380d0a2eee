import type { BeaconNetwork } from '../networks/network.js';
import { concatBytes, equalBytes } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import { malformed, readArray, readObject } from '../proof/json-reader.js';
import { forkAt, forkUnsupported, sizesOf, timeOfSlot } from './slots.js';
import {
  bytesUpTo32,
  byteVector,
  type ContainerType,
  chunksOf,
  container,
  hashPair,
  isValidNormalizedMerkleBranch,
  rootFromBranch,
  type SszType,
  uint,
  vector,
} from './ssz.js';

/**
 * What beacon nodes serve to light clients: headers, committees and updates, with their layouts by fork. Beside each beacon header comes
 * the execution header that its body holds, which is the layer-1 block. From Gloas on there is only the hash of a layer-1 block: the newest
 * whose payload is part of the chain before this beacon block (docs/spec/glamsterdam.md 3 to 6).
 *
 * @source ethereum/consensus-specs@a08d8a6e specs/altair/light-client/sync-protocol.md and those of Capella, Deneb, Electra and Gloas
 */

export const bytes32: SszType<Uint8Array> = byteVector(32);
export const uint64: SszType<bigint> = uint(8);

/** A branch of this many siblings of 32 bytes, from the leaf upwards. */
const branch = (depth: number): SszType<readonly Uint8Array[]> => vector(bytes32, depth);

/** @source ethereum/consensus-specs@a08d8a6e specs/phase0/beacon-chain.md */
export interface BeaconBlockHeader {
  readonly slot: bigint;
  readonly proposerIndex: bigint;
  readonly parentRoot: Uint8Array;
  readonly stateRoot: Uint8Array;
  readonly bodyRoot: Uint8Array;
}

/** Both blob fields are zero in a header of Capella, which has none. @source ethereum/consensus-specs@a08d8a6e specs/deneb/beacon-chain.md */
export interface ExecutionPayloadHeader extends CapellaExecutionHeader {
  readonly blobGasUsed: bigint;
  readonly excessBlobGas: bigint;
}

interface CapellaExecutionHeader {
  readonly parentHash: Uint8Array;
  /** 20 bytes. */
  readonly feeRecipient: Uint8Array;
  readonly stateRoot: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  /** 256 bytes. */
  readonly logsBloom: Uint8Array;
  readonly prevRandao: Uint8Array;
  readonly blockNumber: bigint;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Unix time in seconds. */
  readonly timestamp: bigint;
  /** At most 32 bytes. */
  readonly extraData: Uint8Array;
  readonly baseFeePerGas: bigint;
  readonly blockHash: Uint8Array;
  readonly transactionsRoot: Uint8Array;
  readonly withdrawalsRoot: Uint8Array;
}

/** A beacon header with the execution header that its body holds: in containers of Capella to Fulu. */
export interface PayloadLightClientHeader {
  readonly beacon: BeaconBlockHeader;
  readonly execution: ExecutionPayloadHeader;
  /** 4 siblings of 32 bytes. */
  readonly executionBranch: readonly Uint8Array[];
}

/** A beacon header with the hash of a layer-1 block: in containers of Gloas, also for a header of an earlier fork. */
export interface GloasLightClientHeader {
  readonly beacon: BeaconBlockHeader;
  /** Of the newest payload that is part of the chain before this block, 32 bytes; of a header before Gloas: of its own. */
  readonly executionBlockHash: Uint8Array;
  /** 11 siblings of 32 bytes, filled with zeros in front for a header before Gloas. */
  readonly executionBranch: readonly Uint8Array[];
}

export type LightClientHeader = PayloadLightClientHeader | GloasLightClientHeader;

export const beaconBlockHeader: SszType<BeaconBlockHeader> = container<BeaconBlockHeader>({
  slot: uint64,
  proposerIndex: uint64,
  parentRoot: bytes32,
  stateRoot: bytes32,
  bodyRoot: bytes32,
});

const capellaMembers = {
  parentHash: bytes32,
  feeRecipient: byteVector(20),
  stateRoot: bytes32,
  receiptsRoot: bytes32,
  logsBloom: byteVector(256),
  prevRandao: bytes32,
  blockNumber: uint64,
  gasLimit: uint64,
  gasUsed: uint64,
  timestamp: uint64,
  extraData: bytesUpTo32,
  baseFeePerGas: uint(32),
  blockHash: bytes32,
  transactionsRoot: bytes32,
  withdrawalsRoot: bytes32,
};

const capella = container<CapellaExecutionHeader>(capellaMembers);
const withoutBlobs = (header: CapellaExecutionHeader): ExecutionPayloadHeader => ({
  ...header,
  blobGasUsed: 0n,
  excessBlobGas: 0n,
});

/** 15 members; the blob fields are neither written nor hashed. */
const capellaExecutionHeader: SszType<ExecutionPayloadHeader> = {
  ...capella,
  decode: (bytes, path) => withoutBlobs(capella.decode(bytes, path)),
  fromJson: (value, path) => withoutBlobs(capella.fromJson(value, path)),
};

/** 17 members. */
export const denebExecutionHeader: ContainerType<ExecutionPayloadHeader> = container<ExecutionPayloadHeader>({
  ...capellaMembers,
  blobGasUsed: uint64,
  excessBlobGas: uint64,
});

/** Siblings of the execution header in the body of a block. */
const EXECUTION_DEPTH = 4;

export function lightClientHeader(execution: SszType<ExecutionPayloadHeader>): SszType<PayloadLightClientHeader> {
  return container<PayloadLightClientHeader>({
    beacon: beaconBlockHeader,
    execution,
    executionBranch: branch(EXECUTION_DEPTH),
  });
}

export const gloasLightClientHeader: SszType<GloasLightClientHeader> = container<GloasLightClientHeader>({
  beacon: beaconBlockHeader,
  executionBlockHash: bytes32,
  executionBranch: branch(11),
});

export interface SyncCommittee {
  /** Keys of the members, 48 bytes each. A validator can be a member more than once. */
  readonly pubkeys: readonly Uint8Array[];
  /** Sum of the keys, 48 bytes. */
  readonly aggregatePubkey: Uint8Array;
}

interface SyncAggregate {
  /** A bit for each member, least significant first. */
  readonly syncCommitteeBits: Uint8Array;
  /** 96 bytes. */
  readonly syncCommitteeSignature: Uint8Array;
}

/** @source ethereum/consensus-specs@a08d8a6e specs/altair/light-client/sync-protocol.md, for all light-client containers */
export interface LightClientBootstrap {
  readonly header: LightClientHeader;
  readonly currentSyncCommittee: SyncCommittee;
  readonly currentSyncCommitteeBranch: readonly Uint8Array[];
}

interface LightClientOptimisticUpdate {
  readonly attestedHeader: LightClientHeader;
  readonly syncAggregate: SyncAggregate;
  readonly signatureSlot: bigint;
}

export interface LightClientFinalityUpdate extends LightClientOptimisticUpdate {
  readonly finalizedHeader: LightClientHeader;
  readonly finalityBranch: readonly Uint8Array[];
}

export interface LightClientUpdate extends LightClientFinalityUpdate {
  readonly nextSyncCommittee: SyncCommittee;
  readonly nextSyncCommitteeBranch: readonly Uint8Array[];
}

/** The objects that a beacon node serves to light clients. */
export interface LightClientObjects {
  readonly bootstrap: LightClientBootstrap;
  readonly update: LightClientUpdate;
  readonly finalityUpdate: LightClientFinalityUpdate;
  readonly optimisticUpdate: LightClientOptimisticUpdate;
}

export type ObjectKind = keyof LightClientObjects;

/** The forks that changed what a light client reads; Fulu has the layout of Electra. */
export type Layout = 'capella' | 'deneb' | 'electra' | 'gloas';

const LAYOUTS: readonly Layout[] = ['capella', 'deneb', 'electra', 'gloas'];

/** Generalized indices in the state. */
export interface StateIndices {
  readonly currentSyncCommittee: number;
  readonly nextSyncCommittee: number;
  readonly finalizedRoot: number;
}

/** @source ethereum/consensus-specs@a08d8a6e, sync-protocol.md of specs/gloas, specs/electra and specs/altair */
export function stateIndices(layout: Layout): StateIndices {
  if (layout === 'gloas') return { currentSyncCommittee: 2945, nextSyncCommittee: 2946, finalizedRoot: 735 };
  return layout === 'electra'
    ? { currentSyncCommittee: 86, nextSyncCommittee: 87, finalizedRoot: 169 }
    : { currentSyncCommittee: 54, nextSyncCommittee: 55, finalizedRoot: 105 };
}

/** Layout of the fork with this name. @throws PlumblineError `FORK_UNSUPPORTED` */
function layoutOfFork(network: BeaconNetwork, fork: string, epoch?: number): Layout {
  const layout = fork === 'fulu' ? 'electra' : LAYOUTS.find((name) => name === fork);
  // An endpoint can write anything here.
  if (layout === undefined) throw forkUnsupported(network.name, fork.slice(0, 32), epoch);
  return layout;
}

/** Layout of the fork that a slot belongs to. @throws PlumblineError `FORK_UNSUPPORTED` */
export function layoutAtSlot(network: BeaconNetwork, slot: bigint): Layout {
  const fork = forkAt(network, Number(slot));
  return layoutOfFork(network, fork.name, fork.epoch);
}

/** The slot of an object of Gloas may be past the fork of a network whose epoch of it is not known. @throws PlumblineError `FORK_UNSUPPORTED` */
export function requireScheduled({ name, forks }: BeaconNetwork, layout: Layout): void {
  if (layout === 'gloas' && !forks.some((fork) => fork.name === 'gloas' && fork.epoch !== undefined))
    throw forkUnsupported(name, 'gloas');
}

/** @param size - members */
export function syncCommittee(size: number): SszType<SyncCommittee> {
  return container<SyncCommittee>({ pubkeys: vector(byteVector(48), size), aggregatePubkey: byteVector(48) });
}

/** The header of a layout. Each writes only what it has read, so that the union of both is safe here. */
function headerOf(layout: Layout): SszType<LightClientHeader> {
  const type =
    layout === 'gloas'
      ? gloasLightClientHeader
      : lightClientHeader(layout === 'capella' ? capellaExecutionHeader : denebExecutionHeader);
  return type as SszType<LightClientHeader>;
}

type Containers = { readonly [K in ObjectKind]: SszType<LightClientObjects[K]> };

const depth = (gindex: number) => Math.floor(Math.log2(gindex));

/** The containers of a layout. @param committeeSize - members of a sync committee */
export function containersOf(layout: Layout, committeeSize: number): Containers {
  const indices = stateIndices(layout);
  const header = headerOf(layout);
  const committee = syncCommittee(committeeSize);
  const finality = { finalizedHeader: header, finalityBranch: branch(depth(indices.finalizedRoot)) };
  const signed = {
    syncAggregate: container<SyncAggregate>({
      syncCommitteeBits: byteVector(committeeSize / 8),
      syncCommitteeSignature: byteVector(96),
    }),
    signatureSlot: uint64,
  };
  return {
    bootstrap: container<LightClientBootstrap>({
      header,
      currentSyncCommittee: committee,
      currentSyncCommitteeBranch: branch(depth(indices.currentSyncCommittee)),
    }),
    update: container<LightClientUpdate>({
      attestedHeader: header,
      nextSyncCommittee: committee,
      nextSyncCommitteeBranch: branch(depth(indices.nextSyncCommittee)),
      ...finality,
      ...signed,
    }),
    finalityUpdate: container<LightClientFinalityUpdate>({ attestedHeader: header, ...finality, ...signed }),
    optimisticUpdate: container<LightClientOptimisticUpdate>({ attestedHeader: header, ...signed }),
  };
}

/** Generalized index of the execution header in the body. @source ethereum/consensus-specs@a08d8a6e specs/capella/light-client/sync-protocol.md */
export const EXECUTION_INDEX = 25;

/**
 * Generalized index in the body of the hash that a container of Gloas has, by the fork of the slot: of `parent_block_hash` in the bid, before
 * Gloas of `block_hash` in the execution header.
 *
 * @source ethereum/consensus-specs@a08d8a6e specs/gloas/light-client/sync-protocol.md
 */
export const BLOCK_HASH_INDICES: { readonly [L in Layout]: number } = {
  capella: 412,
  deneb: 812,
  electra: 812,
  gloas: 2856,
};

/** Root of the execution header, by the fork of the slot. @throws PlumblineError `FORK_UNSUPPORTED` */
export function getLcExecutionRoot(
  network: BeaconNetwork,
  { beacon, execution }: PayloadLightClientHeader,
): Uint8Array {
  const type = layoutAtSlot(network, beacon.slot) === 'capella' ? capellaExecutionHeader : denebExecutionHeader;
  return type.hashTreeRoot(execution);
}

/** Whether the body of the beacon header holds the execution header, or its hash. @throws PlumblineError `FORK_UNSUPPORTED` */
export function isValidLightClientHeader(network: BeaconNetwork, header: LightClientHeader): boolean {
  const { beacon, executionBranch } = header;
  const layout = layoutAtSlot(network, beacon.slot);
  if ('executionBlockHash' in header) {
    const index = BLOCK_HASH_INDICES[layout];
    return isValidNormalizedMerkleBranch(header.executionBlockHash, executionBranch, index, beacon.bodyRoot);
  }
  const { execution } = header;
  if (layout === 'gloas') return false;
  if (layout === 'capella' && (execution.blobGasUsed !== 0n || execution.excessBlobGas !== 0n)) return false;
  const root = rootFromBranch(getLcExecutionRoot(network, header), EXECUTION_INDEX, executionBranch);
  return equalBytes(root, beacon.bodyRoot);
}

/** A layer-1 block that a verified header proves. In some forks, a header proves less. Then a member is absent. */
export interface LayerOneBlock {
  readonly slot: number;
  /** Root of the beacon block, 32 bytes. */
  readonly beaconRoot: Uint8Array;
  readonly blockHash: Uint8Array;
  readonly number?: number;
  readonly stateRoot?: Uint8Array;
  /** Unix time of the slot, in seconds. */
  readonly timestamp: number;
}

/** The block that a header proves. @param header - of a store, so that it was verified */
export function layerOneBlock(network: BeaconNetwork, header: LightClientHeader): LayerOneBlock {
  const { beacon } = header;
  const slot = Number(beacon.slot);
  return {
    slot,
    beaconRoot: beaconBlockHeader.hashTreeRoot(beacon),
    timestamp: timeOfSlot(network, slot),
    ...('execution' in header
      ? {
          blockHash: header.execution.blockHash,
          number: Number(header.execution.blockNumber),
          stateRoot: header.execution.stateRoot,
        }
      : { blockHash: header.executionBlockHash }),
  };
}

/** Whether bit `i` is set; each byte has its least significant bit first. */
export function isPresent(bits: Uint8Array, i: number): boolean {
  return ((bits[i >> 3]! >> (i & 7)) & 1) === 1;
}

/** Number of set bits. */
export function countParticipants(bits: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < 8 * bits.length; i++) if (isPresent(bits, i)) count++;
  return count;
}

/** @source ethereum/consensus-specs@a08d8a6e specs/altair/beacon-chain.md */
const DOMAIN_SYNC_COMMITTEE = Uint8Array.of(7, 0, 0, 0);

/** Root of the version of a fork and the chain's genesis, 32 bytes. @param version - 4 bytes */
export function computeForkDataRoot(network: BeaconNetwork, version: Uint8Array): Uint8Array {
  return hashPair(chunksOf(version)[0]!, hexToBytes(network.genesisValidatorsRoot, 32));
}

/**
 * What a sync committee signs, 32 bytes. The version is that of the slot before the signature's.
 *
 * @source ethereum/consensus-specs@a08d8a6e specs/altair/light-client/sync-protocol.md, validate_light_client_update
 */
export function computeSigningRoot(
  network: BeaconNetwork,
  attested: BeaconBlockHeader,
  signatureSlot: number,
): Uint8Array {
  const version = hexToBytes(forkAt(network, Math.max(signatureSlot, 1) - 1).version, 4);
  const domain = concatBytes(DOMAIN_SYNC_COMMITTEE, computeForkDataRoot(network, version).subarray(0, 28));
  return hashPair(beaconBlockHeader.hashTreeRoot(attested), domain);
}

/** An object of a beacon node, with the layout that it came in. `containersOf` writes them. */
export interface LightClientObject<K extends ObjectKind> {
  readonly layout: Layout;
  readonly data: LightClientObjects[K];
  /** Its version is of Gloas and its members are not, or the other way round. */
  readonly isMislabelled?: true;
}

const containerOf = <K extends ObjectKind>(network: BeaconNetwork, kind: K, layout: Layout) =>
  containersOf(layout, sizesOf(network).committeeSize)[kind];

/** Layout of the members of an object in JSON, whatever its version says. @throws PlumblineError `PROOF_MALFORMED`, `FORK_UNSUPPORTED` */
function layoutOfMembers(network: BeaconNetwork, kind: ObjectKind, data: unknown, path: string): Layout {
  const name = kind === 'bootstrap' ? 'header' : 'attested_header';
  const header = readObject(readObject(data, path)[name], `${path}.${name}`);
  if ('execution_block_hash' in header) return 'gloas';
  const { slot } = readObject(header.beacon, `${path}.${name}.beacon`);
  const layout = layoutAtSlot(network, uint64.fromJson(slot, `${path}.${name}.beacon.slot`));
  return layout === 'gloas' ? 'electra' : layout;
}

/**
 * Reads an answer of a beacon node: `{ version, data }` of JSON, or the bytes of a container. Those of Gloas have a length that no other
 * container has; of the others, the slot says which layout they have, and from Gloas on that of the fork before. An object whose version is of another fork than its members keeps
 * that version, so that it is refused by `checkLayout`.
 *
 * @throws PlumblineError `PROOF_MALFORMED`; `FORK_UNSUPPORTED` for another layout than that of Capella to Gloas
 */
export function objectFrom<K extends ObjectKind>(
  network: BeaconNetwork,
  kind: K,
  answer: unknown,
  path = '',
): LightClientObject<K> {
  if (answer instanceof Uint8Array) {
    const gloas = containerOf(network, kind, 'gloas');
    if (answer.length === gloas.size) return { layout: 'gloas', data: gloas.decode(answer, `${path}data`) };
    // Each container before Gloas begins with the offset of a header, and that header with its slot.
    const start = answer.length < 4 ? 0 : new DataView(answer.buffer, answer.byteOffset).getUint32(0, true);
    const own = layoutAtSlot(network, uint64.decode(answer.subarray(start, start + 8), `${path}data.slot`));
    const layout = own === 'gloas' ? 'electra' : own;
    return { layout, data: containerOf(network, kind, layout).decode(answer, `${path}data`) };
  }
  const { version, data } = readObject(answer, path);
  if (typeof version !== 'string') throw malformed(`${path}version`, 'is not text');
  const layout = layoutOfFork(network, version);
  requireScheduled(network, layout);
  const own = layoutOfMembers(network, kind, data, `${path}data`);
  if ((own === 'gloas') === (layout === 'gloas'))
    return { layout, data: containerOf(network, kind, layout).fromJson(data, `${path}data`) };
  return { layout, isMislabelled: true, data: containerOf(network, kind, own).fromJson(data, `${path}data`) };
}

/** Bytes of a fork digest, which stands before each update of an answer in SSZ. */
const DIGEST_BYTES = 4;
const LENGTH_BYTES = 8;

/**
 * Reads the answer to `updates`: a list of `{ version, data }` of JSON, or SSZ, with the length of each update and its fork
 * digest as 8 bytes, the digest, and the container. The digest is not looked at: it changes without a fork, and the slot says
 * the layout.
 *
 * @throws PlumblineError as `objectFrom`
 * @source ethereum/beacon-APIs apis/beacon/light_client/updates.yaml
 */
export function updatesFrom(network: BeaconNetwork, answer: unknown): LightClientObject<'update'>[] {
  const items = answer instanceof Uint8Array ? containersIn(answer) : readArray(answer, 'updates');
  return items.map((item, i) => objectFrom(network, 'update', item, `[${i}].`));
}

function containersIn(bytes: Uint8Array): Uint8Array[] {
  const containers: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const path = `[${containers.length}].length`;
    const begin = at + LENGTH_BYTES;
    const end = begin + Number(uint64.decode(bytes.subarray(at, begin), path));
    if (end > bytes.length || end < begin + DIGEST_BYTES) {
      throw malformed(path, `ends at ${end} of ${bytes.length} bytes`);
    }
    containers.push(bytes.subarray(begin + DIGEST_BYTES, end));
    at = end;
  }
  return containers;
}
