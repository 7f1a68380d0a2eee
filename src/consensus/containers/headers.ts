import { container } from '../ssz/container.js';
import { bytesUpTo32, byteVector, type SszType, uint, vector } from '../ssz/ssz-type.js';

export const bytes32: SszType<Uint8Array> = byteVector(32);
export const uint64: SszType<bigint> = uint(8);

/** A branch of this many siblings of 32 bytes, from the leaf upwards. */
export const branch = (depth: number): SszType<readonly Uint8Array[]> => vector(bytes32, depth);

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

/** A beacon header with the execution header that its body holds. */
export interface LightClientHeader {
  readonly beacon: BeaconBlockHeader;
  readonly execution: ExecutionPayloadHeader;
  /** 4 siblings of 32 bytes. */
  readonly executionBranch: readonly Uint8Array[];
}

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
export const capellaExecutionHeader: SszType<ExecutionPayloadHeader> = {
  ...capella,
  decode: (bytes, path) => withoutBlobs(capella.decode(bytes, path)),
  fromJson: (value, path) => withoutBlobs(capella.fromJson(value, path)),
};

/** 17 members. */
export const denebExecutionHeader: SszType<ExecutionPayloadHeader> = container<ExecutionPayloadHeader>({
  ...capellaMembers,
  blobGasUsed: uint64,
  excessBlobGas: uint64,
});

/** Siblings of the execution header in the body of a block. */
const EXECUTION_DEPTH = 4;

export function lightClientHeader(execution: SszType<ExecutionPayloadHeader>): SszType<LightClientHeader> {
  return container<LightClientHeader>({
    beacon: beaconBlockHeader,
    execution,
    executionBranch: branch(EXECUTION_DEPTH),
  });
}
