import { isPlumblineError } from '../../../errors.js';
import { bytesToHex } from '../../../primitives/hex.js';
import {
  loadSignerRecovery,
  maruSlot,
  type VerifiedMaruBlock,
  verifyMaruAnswers,
  verifyMaruPayload,
} from '../../../proof/seals.js';
import type { UpstreamRequestOptions } from '../../../upstream/group.js';
import type { RestGroup } from '../../../upstream/rest-group.js';
import { answerRefused, notReached } from '../refused.js';
import type { LightBlock } from './light-block.js';

/** An execution block that validators have sealed. */
export interface SealedHead {
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  /** Height of the execution block. */
  readonly number: number;
  /** @throws PlumblineError `ANSWER_REFUSED` unless the header matches the sealed block */
  check(block: LightBlock): void;
}

/**
 * The newest block that Maru has sealed; see `SealSource.head`.
 *
 * @param validators - addresses, 20 bytes each
 */
export async function readSealedHead(
  maru: RestGroup,
  validators: readonly Uint8Array[],
  options: UpstreamRequestOptions,
  lowest: number | undefined,
): Promise<SealedHead> {
  async function read(id: string, options: UpstreamRequestOptions): Promise<VerifiedMaruBlock> {
    const [block, header] = await Promise.all([
      maru.get(`/eth/v2/beacon/blocks/${id}`, options),
      maru.get(`/eth/v1/beacon/headers/${id}`, options),
    ]);
    await loadSignerRecovery();
    let verdict = verifyMaruAnswers(block, header, validators);
    // If a new block came between the two answers, the header of the first is asked for by its number.
    if (!verdict.verified && verdict.reason === 'ANSWERS_DIFFER' && id === 'head') {
      const own = await maru.get(`/eth/v1/beacon/headers/${maruSlot(block)}`, options);
      verdict = verifyMaruAnswers(block, own, validators);
    }
    if (!verdict.verified) throw answerRefused('sealed block', verdict);
    return verdict;
  }

  /** As `read`; after a refused answer each endpoint is asked by itself. */
  async function readAny(id: string, options: UpstreamRequestOptions): Promise<VerifiedMaruBlock> {
    try {
      return await read(id, options);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return readEach(id, options, 0).catch(() => {
        throw error;
      });
    }
  }

  /** The sealed block of the first endpoint that has one at `lowest` or above. Endpoints that failed before it are reported. */
  async function readEach(id: string, options: UpstreamRequestOptions, lowest: number): Promise<VerifiedMaruBlock> {
    const faulty: [endpoint: string, reason: string][] = [];
    let failure: unknown;
    for (const { id: endpoint } of maru.group.endpoints) {
      try {
        const sealed = await read(id, { ...options, endpoint });
        const { blockNumber } = sealed.block.payload;
        if (blockNumber < lowest) {
          const reason = `sealed block ${blockNumber} is stale, block ${lowest} or a higher one is expected`;
          throw notReached('sealed', undefined, reason);
        }
        for (const [id, reason] of faulty) maru.group.reportFalse(id, reason);
        return sealed;
      } catch (error) {
        if (options.signal?.aborted) throw error;
        if (isPlumblineError(error, 'TRUST_LEVEL_NOT_REACHED')) faulty.push([endpoint, 'its sealed block is stale']);
        else if (isRefusal(error)) faulty.push([endpoint, 'its sealed block was refused']);
        // A refused answer is a better reason than an endpoint that could not be reached.
        failure = failure === undefined || faulty.length === 1 ? error : failure;
      }
    }
    throw failure;
  }

  const sealed = await (lowest === undefined ? readAny('head', options) : readEach('head', options, lowest));
  const { payload } = sealed.block;
  return {
    blockHash: payload.blockHash,
    number: payload.blockNumber,
    check(block) {
      const verdict = verifyMaruPayload(payload, block);
      if (!verdict.verified) throw answerRefused(`sealed block ${bytesToHex(payload.blockHash)}`, verdict);
    },
  };
}

function isRefusal(error: unknown): boolean {
  return isPlumblineError(error, 'ANSWER_REFUSED') || isPlumblineError(error, 'PROOF_MALFORMED');
}
