import type { LineaProofJson } from '../../../accumulator/proof-shape.js';
import { isPlumblineError } from '../../../errors.js';
import type { ProofAge } from '../../chain.js';
import { isUnreachable } from '../refused.js';
import type { Finality, FinalizedBlock, LayerOneFinality, RootedBlock } from './finality.js';
import type { FinalizationEvent } from './rollup-reader.js';
import type { ZkProofs, ZkQuestion } from './zk-proofs.js';

/** Most finalizations before the newest one that are tried. */
const OLDER = 3;

/** A proof, and its finalized block. */
export interface ProofAt {
  readonly proof: LineaProofJson;
  readonly at: RootedBlock;
  /** How far the block is behind the newest finalized one; left out if it is that. */
  readonly age?: ProofAge;
}

/** A proof of one finalized block. @param isOfTag - see `ZkProofs.prove` @throws as `ZkProofs.prove` */
export async function prove(
  finality: Finality,
  proofs: ZkProofs,
  question: ZkQuestion,
  at: RootedBlock,
  signal?: AbortSignal,
  isOfTag = false,
): Promise<ProofAt> {
  return { proof: await finality.using(at, () => proofs.prove(question, at, signal, isOfTag)), at };
}

/**
 * A proof of the newest finalized block that an endpoint has. Of two finalizations close to each other, an endpoint may have
 * only one (docs/spec/state-trie.md 7.1).
 *
 * @param questionAt - what to prove of a finalized block; undefined where that block cannot answer it, except for `at`
 * @param at - the newest finalized block
 * @throws PlumblineError `BLOCK_NOT_PROVABLE` with the newest block; as `ZkProofs.prove`
 */
export async function proveNewest(
  finality: Finality,
  proofs: ZkProofs,
  questionAt: (at: FinalizedBlock) => ZkQuestion | undefined,
  at: RootedBlock,
  signal?: AbortSignal,
): Promise<ProofAt> {
  try {
    return await prove(finality, proofs, questionAt(at)!, at, signal, true);
  } catch (missing) {
    if (!isPlumblineError(missing, 'BLOCK_NOT_PROVABLE')) throw missing;
    const { finalizationBefore } = await import('./settled-proofs.js');
    let older: FinalizedBlock | undefined = at;
    for (let step = 0; step < OLDER; step++) {
      // If older finalizations cannot be found, the error is about the newest block.
      older = older && (await finalizationBefore(finality, older, signal).catch(() => undefined));
      const question = older && questionAt(older);
      if (older?.root === undefined || question === undefined) break;
      const { number, root } = older;
      try {
        const found = await prove(finality, proofs, question, { ...older, root }, signal, true);
        return { ...found, age: { finalizations: step + 1, blocks: at.number - number } };
      } catch (error) {
        if (!isPlumblineError(error, 'BLOCK_NOT_PROVABLE')) throw error;
      }
    }
    // An internal error at every block is one of the endpoints.
    throw isInternal(missing.cause) ? missing.cause : missing;
  }
}

const isInternal = (error: unknown) => isPlumblineError(error, 'UPSTREAM_ERROR') && error.details.code === -32603;

/** Most layer-1 blocks in one request for events. Reduced if endpoints refuse the range. */
const WIDEST = 2048;
/** Least width of a range. If endpoints refuse that, the range is not the reason. */
const NARROWEST = 16;
/**
 * Most requests. Finalizations are two hours apart, 600 blocks of layer 1, and 16 hours at most
 * (docs/spec/json-rpc.md 2.2).
 */
const REQUESTS = 24;

/**
 * Finds the finalization before another one by their events. An event only tells where to look: what it stores is read from the
 * contract, as for every block.
 *
 * @param at - the later one, with the layer-1 block at which it was read
 * @returns undefined if none was found
 * @throws PlumblineError as `LayerOneFinality.anchorOf`
 */
export async function finalizationBefore(
  finality: Pick<LayerOneFinality, 'events' | 'anchorOf'>,
  at: FinalizedBlock,
  signal?: AbortSignal,
): Promise<FinalizedBlock | undefined> {
  let [to, width] = [at.layerOneBlock, WIDEST];
  for (let request = 0; request < REQUESTS && to >= 0; request++) {
    const from = Math.max(0, to - width + 1);
    let events: readonly FinalizationEvent[];
    try {
      events = await finality.events(from, to, signal);
    } catch (error) {
      // Endpoints limit ranges and report that in different ways, so any error makes the range smaller.
      const isNarrow = width <= NARROWEST || isUnreachable(error) || isPlumblineError(error, 'ABORTED');
      if (isNarrow || !isPlumblineError(error, 'UPSTREAM_ERROR')) throw error;
      width = Math.max(NARROWEST, width >> 2);
      continue;
    }
    const ends = events.map(({ first, last }) => (last < at.number ? last : first - 1));
    const number = Math.max(-1, ...ends.filter((end) => end < at.number));
    if (number >= 0) {
      const anchor = await finality.anchorOf(number, signal);
      return anchor && { number, ...anchor, layerOneBlock: at.layerOneBlock };
    }
    to = from - 1;
  }
  return undefined;
}
