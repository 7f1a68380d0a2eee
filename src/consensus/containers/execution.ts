import { equalBytes } from '../../primitives/bytes.js';
import type { BeaconNetwork } from '../networks/beacon-network.js';
import { rootFromBranch } from '../ssz/merkle.js';
import { capellaExecutionHeader, denebExecutionHeader, type LightClientHeader } from './headers.js';
import { layoutAtSlot } from './layouts.js';

/** Generalized index of the execution header in the body. @source ethereum/consensus-specs@a08d8a6e specs/capella/light-client/sync-protocol.md */
export const EXECUTION_INDEX = 25;

/** Root of the execution header, by the fork of the slot. @throws PlumblineError `FORK_UNSUPPORTED` */
export function executionRoot(network: BeaconNetwork, { beacon, execution }: LightClientHeader): Uint8Array {
  const type = layoutAtSlot(network, beacon.slot) === 'capella' ? capellaExecutionHeader : denebExecutionHeader;
  return type.hashTreeRoot(execution);
}

/** Whether the body of the beacon header holds the execution header. @throws PlumblineError `FORK_UNSUPPORTED` */
export function holdsExecution(network: BeaconNetwork, header: LightClientHeader): boolean {
  const { beacon, execution, executionBranch } = header;
  if (
    layoutAtSlot(network, beacon.slot) === 'capella' &&
    (execution.blobGasUsed !== 0n || execution.excessBlobGas !== 0n)
  )
    return false;
  const root = rootFromBranch(executionRoot(network, header), EXECUTION_INDEX, executionBranch);
  return equalBytes(root, beacon.bodyRoot);
}
