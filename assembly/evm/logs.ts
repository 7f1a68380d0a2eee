import { allocate, enlarge } from './allocator';
import { AMSTERDAM, FORK } from './forks';
import { logsTransfers } from './progress';
import { isZero, toBytes } from './word';

/**
 * Logs of the transaction, one after another: address (20) | topic count u32 | data length u32 | transfer u32 | topics (32
 * each) | data, padded to 8. A frame that fails takes its logs back with `cutLogs`.
 */
let logs: usize = 0;
let capacity: usize = 0;
export let logBytes: u32 = 0;
export let logCount: u32 = 0;

const LOG_HEADER: usize = 32;

export function logsAt(): usize {
  return logs;
}

export function cutLogs(bytes: u32, count: u32): void {
  logBytes = bytes;
  logCount = count;
}

/** Adds a log without topics and data. @returns where its topics begin */
export function addLog(address: usize, topics: u32, dataLength: u32, transfer: bool): usize {
  const bytes = LOG_HEADER + ((<usize>topics) << 5) + ((<usize>dataLength + 7) & ~7);
  const end = <usize>logBytes + bytes;
  if (end > capacity) {
    const wanted = max(max(end, capacity << 1), 4096);
    logs = capacity === 0 ? allocate(wanted) : enlarge(logs, capacity, <usize>logBytes, wanted);
    capacity = wanted;
  }
  const log = logs + logBytes;
  memory.copy(log, address, 20);
  store<u32>(log, topics, 20);
  store<u32>(log, dataLength, 24);
  store<u32>(log, <u32>transfer, 28);
  logBytes = <u32>end;
  logCount++;
  return log + LOG_HEADER;
}

/** Address of logs of transfers of ether (EIP-7708). */
const SYSTEM: usize = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0xfe,
]);
/** Address of the logs that stand for ether transfers where there are none of EIP-7708 (ERC-7528). */
const ETHER: usize = memory.data<u8>([
  0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee,
  0xee,
]);
/** Transfer(address,address,uint256) */
const TRANSFER: usize = memory.data<u8>([
  0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b, 0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa, 0x95, 0x2b, 0xa7,
  0xf1, 0x63, 0xc4, 0xa1, 0x16, 0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef,
]);

/**
 * Logs a transfer of ether: from Amsterdam on one between two accounts (EIP-7708), before that every one if they are traced.
 *
 * @param from - 20 bytes @param to - 20 bytes @param value - word
 */
export function logTransfer(from: usize, to: usize, value: usize): void {
  const isLogged = FORK >= AMSTERDAM;
  if (isLogged ? memory.compare(from, to, 20) === 0 : !logsTransfers) return;
  if (isZero(value)) return;
  const topics = addLog(isLogged ? SYSTEM : ETHER, 3, 32, !isLogged);
  memory.copy(topics, TRANSFER, 32);
  memory.fill(topics + 32, 0, 64);
  memory.copy(topics + 44, from, 20);
  memory.copy(topics + 76, to, 20);
  toBytes(value, topics + 96);
}
