import type { Log, Receipt } from '../../ethereum/receipt.js';
import { malformed, member, readArray, readBytes, readCount, readNumber256, readObject } from '../json-reader.js';

const MAX_TOPICS = 4;
/** A transaction type is at most 0x7f (EIP-2718). */
const MAX_TYPE = 0x7f;

/**
 * Reads the fields of a JSON-RPC receipt that the receipts root commits to. A receipt has a status, or a state root before
 * Byzantium.
 *
 * @param at - its path in the answer
 * @throws PlumblineError `PROOF_MALFORMED`
 * @source ethereum/execution-apis@033ca6e6 src/schemas/receipt.yaml; EIP-658
 */
export function readReceipt(json: unknown, at: string): Receipt {
  const receipt = readObject(json, at);
  const type = receipt.type === undefined ? 0 : readCount(receipt.type, member(at, 'type'));
  if (type > MAX_TYPE) throw malformed(member(at, 'type'), `is above ${MAX_TYPE}`);
  const list = member(at, 'logs');
  return {
    type,
    ...readOutcome(receipt, at),
    cumulativeGasUsed: readNumber256(receipt.cumulativeGasUsed, member(at, 'cumulativeGasUsed')),
    logs: readArray(receipt.logs, list).map((log, i) => readLog(log, `${list}[${i}]`)),
  };
}

function readOutcome(receipt: Readonly<Record<string, unknown>>, at: string) {
  if (receipt.status === undefined || receipt.status === null) {
    return { succeeded: true, stateRoot: readBytes(receipt.root, member(at, 'root'), 32) };
  }
  const status = readCount(receipt.status, member(at, 'status'));
  if (status > 1) throw malformed(member(at, 'status'), 'is neither 0 nor 1');
  return { succeeded: status === 1 };
}

function readLog(json: unknown, at: string): Log {
  const log = readObject(json, at);
  const topics = readArray(log.topics, member(at, 'topics'));
  if (topics.length > MAX_TOPICS) throw malformed(member(at, 'topics'), `has ${topics.length} entries`);
  return {
    address: readBytes(log.address, member(at, 'address'), 20),
    topics: topics.map((topic, i) => readBytes(topic, `${at}.topics[${i}]`, 32)),
    data: readBytes(log.data, member(at, 'data')),
  };
}
