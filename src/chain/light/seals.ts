import { isPlumblineError } from '../../errors.js';
import type { Network } from '../../networks/network.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import type { VerifiedMaruBlock } from '../../proof/maru-seals.js';
import type { RequestOptions } from '../../upstream/group.js';
import type { RestGroup } from '../../upstream/rest-group.js';
import type { LightBlock } from './light-block.js';
import { refused } from './refused.js';

/** An execution block that validators have sealed. */
export interface SealedHead {
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  /** @throws PlumblineError `ANSWER_REFUSED` unless the header says the same as what was sealed */
  check(block: LightBlock): void;
}

/** Where seals come from. */
export interface SealSource {
  /** The newest sealed block. @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints */
  head(signal?: AbortSignal): Promise<SealedHead>;
  /** Whether a block of this height carries a seal of its own. */
  sealsBlock(number: number): boolean;
  /** @throws PlumblineError `ANSWER_REFUSED` */
  checkOwnSeal(block: LightBlock): Promise<void>;
}

/**
 * Seals of a network: of Maru where its interface is reachable, and those in the headers of Clique.
 *
 * @param maru - undefined: only blocks of Clique can be shown to be sealed
 */
export function openSeals({ sealing }: Network, maru: RestGroup | undefined): SealSource {
  const validators = (sealing?.maru?.validators ?? []).map((validator) => hexToBytes(validator, 20));
  const clique = sealing?.clique;

  async function read(id: string, options: RequestOptions): Promise<VerifiedMaruBlock> {
    const [block, header] = await Promise.all([
      maru!.get(`/eth/v2/beacon/blocks/${id}`, options),
      maru!.get(`/eth/v1/beacon/headers/${id}`, options),
    ]);
    const { verifyMaruAnswers } = await import('../../proof/seal-checks.js');
    const verdict = verifyMaruAnswers(block, header, validators);
    if (!verdict.verified) throw refused('sealed block', verdict);
    return verdict;
  }

  /** As `read`, by one endpoint after the other once an answer was refused; a block may also be made between two answers. */
  async function readAny(id: string, options: RequestOptions): Promise<VerifiedMaruBlock> {
    try {
      return await read(id, options);
    } catch (error) {
      if (!isPlumblineError(error, 'ANSWER_REFUSED') && !isPlumblineError(error, 'PROOF_MALFORMED')) throw error;
      const liars: string[] = [];
      for (const { id: endpoint } of maru!.group.endpoints) {
        try {
          const sealed = await read(id, { ...options, endpoint });
          for (const liar of liars) maru!.group.reportFalse(liar, 'its sealed block was refused');
          return sealed;
        } catch {
          liars.push(endpoint);
        }
      }
      throw error;
    }
  }

  return {
    async head(signal) {
      if (maru === undefined || validators.length === 0)
        throw refused('sealed block', { verified: false, reason: 'NO_SOURCE', at: '', message: 'has no source' });
      const sealed = await readAny('head', signal === undefined ? {} : { signal });
      const { payload } = sealed.block;
      const { verifyMaruPayload } = await import('../../proof/seal-checks.js');
      return {
        blockHash: payload.blockHash,
        check(block) {
          const verdict = verifyMaruPayload(payload, block);
          if (!verdict.verified) throw refused(`sealed block ${bytesToHex(payload.blockHash)}`, verdict);
        },
      };
    },
    sealsBlock: (number) => clique !== undefined && number >= 1 && number <= clique.lastBlock,
    async checkOwnSeal(block) {
      const { verifyCliqueSeal } = await import('../../proof/seal-checks.js');
      const verdict = verifyCliqueSeal(clique!, block.header);
      if (!verdict.verified) throw refused(`seal of block ${block.header.number}`, verdict);
    },
  };
}
