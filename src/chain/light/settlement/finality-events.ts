import { PlumblineError } from '../../../errors.js';
import { bytesToBigInt } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../../primitives/hex.js';
import { readArray, readBytes, readObject } from '../../../proof/json-reader.js';
import { answerRefused } from '../refused.js';

/** One finalization by its event; its blocks are `first` to `last`, and only `last` has a root. */
export interface FinalizationEvent {
  readonly first: number;
  readonly last: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** Topic of the event of the rollup contract. @source docs/spec/json-rpc.md 6 */
export const DATA_FINALIZED: Hex = '0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb';

/**
 * One log of the rollup contract.
 *
 * @param at - its place in the answer
 * @param address - of the rollup contract
 * @throws PlumblineError `ANSWER_REFUSED` for another kind of log; `PROOF_MALFORMED`; `OUT_OF_RANGE`
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
      message: 'is of another kind',
    });
  }
  return { first: blockNumberOf(first!), last: blockNumberOf(last), root: data.subarray(32).slice() };
}

/** Number of a layer-2 block in a word. @throws PlumblineError `OUT_OF_RANGE` above 2^53 - 1 */
export function blockNumberOf(word: Uint8Array): number {
  const value = bytesToBigInt(word);
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  const details = { what: 'finalized block', value: value.toString(), limit: '2^53 - 1' };
  throw new PlumblineError('OUT_OF_RANGE', 'the finalized block is above 2^53 - 1', details);
}
