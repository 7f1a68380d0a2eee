import type { LayerOneBlock } from '../../consensus/containers.js';
import { type ConsensusAnswer, judgeConsensus } from '../../consensus/judge-consensus.js';
import type { AnswerValidator } from '../../upstream/group.js';
import { type BeaconEndpoints, LayerOneFollower, type LayerOneFollowerParts } from './layer-one-follower.js';

/** Answers of beacon nodes from a trusted block to a final one: all that is needed to verify it again. */
export interface ConsensusAnswers {
  /** Root of the trusted beacon block, 32 bytes. */
  readonly checkpoint: Uint8Array;
  readonly bootstrap: unknown;
  readonly answers: readonly ConsensusAnswer[];
  readonly finalized: LayerOneBlock;
  /** How old the checkpoint may be, milliseconds. */
  readonly maxAgeMs: number;
}

/**
 * Follows layer 1 anew from a trusted block, and keeps the answers that were accepted.
 *
 * @param checkpoint - root of the trusted beacon block, 32 bytes
 * @throws PlumblineError as `LayerOneFollower.finalized`
 */
export async function collectAnswers(
  parts: Omit<LayerOneFollowerParts, 'checkpoints' | 'record' | 'onProgress'>,
  checkpoint: Uint8Array,
): Promise<ConsensusAnswers> {
  let bootstrap: unknown;
  const answers: ConsensusAnswer[] = [];
  const beacon: BeaconEndpoints = {
    endpoints: parts.beacon.endpoints,
    async get<T>(path: string, options: Parameters<BeaconEndpoints['get']>[1]) {
      let accepted: unknown;
      const accept: AnswerValidator<unknown, unknown> = async (answer, from) => {
        const read = await options.accept(answer, from);
        accepted = answer;
        return read;
      };
      const read = await parts.beacon.get(path, { ...options, accept });
      if (path.includes('/bootstrap/')) bootstrap = accepted;
      else if (path.includes('/updates?')) answers.push({ kind: 'updates', answer: accepted });
      else {
        // A newer finality update comes in the place of a late one.
        if (answers.at(-1)?.kind === 'finality_update') answers.pop();
        answers.push({ kind: 'finality_update', answer: accepted });
      }
      return read as T;
    },
  };
  const follower = new LayerOneFollower({
    ...parts,
    beacon,
    checkpoints: { given: checkpoint, builtin: undefined, servers: undefined },
  });
  const finalized = await follower.finalized();
  const { network, clock, checkpointMaxAgeMs: maxAgeMs } = parts;
  const from = { root: checkpoint, bootstrap };
  const verdict = await judgeConsensus({ network, from, answers, now: clock.now(), maxAgeMs });
  // The newest update may bring nothing that those before did not.
  if (!verdict.verified && verdict.reason === 'NOT_RELEVANT') answers.pop();
  return { checkpoint, bootstrap, answers, finalized, maxAgeMs };
}
