import type { Network } from '../../../networks/network.js';
import { hexToBytes } from '../../../primitives/hex.js';
import type { RestGroup } from '../../../upstream/rest-group.js';
import { answerRefused } from '../refused.js';
import type { LightBlock } from './light-block.js';
import type { SealedHead } from './sealed-head.js';

/** A source of seals. */
export interface SealSource {
  /**
   * The newest sealed block.
   *
   * @param lowest - least height that it must have. With it, one endpoint after the other is asked
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no endpoint has one that high; `ANSWER_REFUSED`, `PROOF_MALFORMED`,
   *   of the endpoints
   */
  head(signal?: AbortSignal, lowest?: number): Promise<SealedHead>;
  /** Whether a block of this height carries a seal in its header. */
  sealsBlock(number: number): boolean;
  /** Checks the seal in the header. @throws PlumblineError `ANSWER_REFUSED` */
  checkOwnSeal(block: LightBlock): Promise<void>;
}

/**
 * The seals of a network: those of Maru if there are endpoints of it, and those in Clique headers.
 *
 * @param maru - undefined: only seals of Clique blocks can be verified
 */
export function openSeals({ sealing }: Network, maru: RestGroup | undefined): SealSource {
  const validators = (sealing?.maru?.validators ?? []).map((validator) => hexToBytes(validator, 20));
  const clique = sealing?.clique;

  return {
    async head(signal, lowest) {
      if (maru === undefined || validators.length === 0)
        throw answerRefused('sealed block', {
          verified: false,
          reason: 'NO_SOURCE',
          at: '',
          message: 'cannot be read: give endpoints of Maru, on a network with validators',
        });
      const { readSealedHead } = await import('./sealed-head.js');
      return readSealedHead(maru, validators, signal === undefined ? {} : { signal }, lowest);
    },
    sealsBlock: (number) => clique !== undefined && number >= 1 && number <= clique.lastBlock,
    async checkOwnSeal(block) {
      const { loadSignerRecovery, verifyCliqueSeal } = await import('../../../proof/seals.js');
      await loadSignerRecovery();
      const verdict = verifyCliqueSeal(clique!, block.header);
      if (!verdict.verified) throw answerRefused(`seal of block ${block.header.number}`, verdict);
    },
  };
}
