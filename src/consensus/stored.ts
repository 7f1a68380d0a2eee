import { sha256 } from '@noble/hashes/sha2.js';
import { isPlumblineError, PlumblineError } from '../errors.js';
import type { BeaconNetwork } from '../networks/network.js';
import { concatBytes, equalBytes } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import { judge } from '../proof/verdict.js';
import {
  bytes32,
  denebExecutionHeader,
  gloasLightClientHeader,
  isValidLightClientHeader,
  type LightClientHeader,
  lightClientHeader,
  type SyncCommittee,
  syncCommittee,
  uint64,
} from './containers.js';
import { type Contradiction, checkKeys, type LightClientStore } from './rules.js';
import { sizesOf } from './slots.js';
import { container, isZero, type SszType, uint } from './ssz.js';

/**
 * Formats of the bytes: which of the two headers come from containers of Gloas. A change of their layout needs another number. An earlier
 * release wrote the first.
 */
const FORMATS = [
  { format: 1n, finalized: false, optimistic: false },
  { format: 2n, finalized: false, optimistic: true },
  { format: 3n, finalized: true, optimistic: true },
] as const;
type Format = (typeof FORMATS)[number];

interface StoredStore {
  readonly format: bigint;
  readonly genesisValidatorsRoot: Uint8Array;
  readonly finalized: LightClientHeader;
  readonly optimistic: LightClientHeader;
  readonly current: SyncCommittee;
  /** All zero where it is not known. */
  readonly next: SyncCommittee;
  /** Place in `CONTRADICTIONS`; 0 for none. */
  readonly contradiction: bigint;
  readonly contradictionSlot: bigint;
}

const CONTRADICTIONS: readonly (Contradiction['reason'] | undefined)[] = [
  undefined,
  'EQUIVOCATION',
  'NEXT_COMMITTEE_DIFFERS',
];

function storedType(network: BeaconNetwork, { finalized, optimistic }: Format) {
  // The layout of Deneb holds headers of all forks before Gloas.
  const headerOf = (isOfGloas: boolean) =>
    (isOfGloas ? gloasLightClientHeader : lightClientHeader(denebExecutionHeader)) as SszType<LightClientHeader>;
  const committee = syncCommittee(sizesOf(network).committeeSize);
  return container<StoredStore>({
    format: uint64,
    genesisValidatorsRoot: bytes32,
    finalized: headerOf(finalized),
    optimistic: headerOf(optimistic),
    current: committee,
    next: committee,
    contradiction: uint(1),
    contradictionSlot: uint64,
  });
}

/** A store as bytes, with a checksum: about 51 KB with committees of 512. */
export function storeToBytes(network: BeaconNetwork, store: LightClientStore): Uint8Array {
  const [finalized, optimistic] = [store.finalized, store.optimistic].map((header) => 'executionBlockHash' in header);
  const format = FORMATS.find((one) => one.finalized === finalized && one.optimistic === optimistic)!;
  const type = storedType(network, format);
  const committee = syncCommittee(sizesOf(network).committeeSize);
  const bytes = type.encode({
    format: format.format,
    genesisValidatorsRoot: hexToBytes(network.genesisValidatorsRoot),
    finalized: store.finalized,
    optimistic: store.optimistic,
    current: store.current,
    next: store.next ?? committee.decode(new Uint8Array(committee.size!), ''),
    contradiction: BigInt(CONTRADICTIONS.indexOf(store.contradiction?.reason)),
    contradictionSlot: BigInt(store.contradiction?.slot ?? 0),
  });
  return concatBytes(sha256(bytes), bytes);
}

/**
 * The store of `storeToBytes`. Checksum, execution headers and keys are checked again; the committees and that the headers
 * are final are believed, as they are only as safe as the storage. The age is not checked.
 *
 * @throws PlumblineError `STORE_CORRUPT` for damaged bytes, another format or another network; `FORK_UNSUPPORTED`
 */
export function storeFromBytes(network: BeaconNetwork, bytes: Uint8Array): LightClientStore {
  const [checksum, payload] = [bytes.subarray(0, 32), bytes.subarray(32)];
  if (!equalBytes(sha256(payload), checksum)) throw corrupt('the checksum is another');
  // The first member; SSZ has integers of 8 bytes, little-endian.
  const number = payload.length < 8 ? 0n : new DataView(payload.buffer, payload.byteOffset).getBigUint64(0, true);
  const format = FORMATS.find((one) => one.format === number);
  if (format === undefined) throw corrupt('the format is another');
  const stored = decode(storedType(network, format), payload);
  const genesis = hexToBytes(network.genesisValidatorsRoot);
  if (!equalBytes(stored.genesisValidatorsRoot, genesis)) throw corrupt('it is of another network');
  const { finalized, optimistic, current } = stored;
  if (![finalized, optimistic].every((header) => isValidLightClientHeader(network, header)))
    throw corrupt('an execution header is false');
  const hasNext = !isZero(stored.next);
  const refusal = judge(() => {
    checkKeys(current, 'current');
    if (hasNext) checkKeys(stored.next, 'next');
  });
  if (refusal !== undefined) throw corrupt(`${refusal.at} ${refusal.message}`);
  const reason = CONTRADICTIONS[Number(stored.contradiction)];
  return {
    finalized,
    optimistic,
    current,
    next: hasNext ? stored.next : undefined,
    contradiction: reason && { reason, slot: Number(stored.contradictionSlot) },
  };
}

function decode(type: ReturnType<typeof storedType>, payload: Uint8Array): StoredStore {
  try {
    return type.decode(payload, 'stored');
  } catch (error) {
    throw isPlumblineError(error, 'PROOF_MALFORMED') ? corrupt(error.message) : error;
  }
}

function corrupt(reason: string): PlumblineError<'STORE_CORRUPT'> {
  return new PlumblineError('STORE_CORRUPT', `the stored consensus of layer 1 cannot be used: ${reason}`, {
    table: 'consensus',
    reason,
  });
}
