import { PlumblineError } from '../../../errors.js';
import { bytesToBigInt } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../../primitives/hex.js';
import { readArray, readBytes, readObject } from '../../../proof/json-reader.js';
import { answerRefused } from '../refused.js';

/** A finalization event. It covers the blocks `first` to `last`; the contract stores a root for `last` only. */
export interface FinalizationEvent {
  readonly first: number;
  readonly last: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** Topic of the finalization event of the rollup contract. @source docs/spec/json-rpc.md 6 */
export const DATA_FINALIZED: Hex = '0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb';

/**
 * Reads one log of the rollup contract.
 *
 * @param at - its path in the answer
 * @param address - of the rollup contract
 * @throws PlumblineError `ANSWER_REFUSED` for another event; `PROOF_MALFORMED`; `OUT_OF_RANGE`
 */
export function readFinalization(json: unknown, at: string, address: Hex): FinalizationEvent {
  const log = readObject(json, at);
  const topics = readArray(log.topics, `${at}.topics`).map((topic, i) => readBytes(topic, `${at}.topics[${i}]`, 32));
  const [topic, first, last] = topics;
  const data = readBytes(log.data, `${at}.data`, 64);
  const ours = typeof log.address === 'string' && log.address.toLowerCase() === address.toLowerCase();
  if (!ours || topic === undefined || bytesToHex(topic) !== DATA_FINALIZED || last === undefined) {
    throw answerRefused('finalization event', {
      verified: false,
      reason: 'OTHER_EVENT',
      at,
      message: 'is another event, or of another contract',
    });
  }
  return { first: blockNumberOf(first!), last: blockNumberOf(last), root: data.subarray(32).slice() };
}

/** A layer-2 block number from a word of 32 bytes. @throws PlumblineError `OUT_OF_RANGE` above 2^53 - 1 */
export function blockNumberOf(word: Uint8Array): number {
  const value = bytesToBigInt(word);
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  const details = { what: 'finalized block', value: value.toString(), limit: '2^53 - 1' };
  throw new PlumblineError('OUT_OF_RANGE', 'the number of the finalized block is above 2^53 - 1', details);
}
