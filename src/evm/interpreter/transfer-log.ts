import type { Log } from '../../ethereum/receipt.js';
import type { EvmLog } from '../../kernel/evm.js';
import { hexToBytes } from '../../primitives/hex.js';

/** Address of the logs that stand for ether transfers, 20 bytes (ERC-7528). They are recognized by this object. */
const ETHER_ADDRESS = hexToBytes('0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', 20);

/** A log of the kernel. */
export function logOf({ address, topics, data, isTransfer }: EvmLog): Log {
  return { address: isTransfer ? ETHER_ADDRESS : address, topics, data };
}

/**
 * Whether a log was added for a transfer of ether, and not by a contract.
 *
 * @source ERC-7528; ethereum/execution-apis@033ca6e6 tests/eth_simulateV1, `traceTransfers`
 */
export function isTransferLog(log: Log): boolean {
  return log.address === ETHER_ADDRESS;
}
