import type { Network } from '../../networks/network.js';
import { hexToBytes } from '../../primitives/hex.js';
import type { RestGroup } from '../../upstream/rest-group.js';
import { BlockFinder } from './heads/block-finder.js';
import { HeadFollower } from './heads/head-follower.js';
import { type FinalizedNumbers, HeaderChain, KEPT } from './heads/header-chain.js';
import { Heads, type SealSource } from './heads/heads.js';
import type { LightChainParts } from './light-parts.js';
import { answerRefused, notReached } from './refused.js';

/** The heads and headers of a light chain, wired together. */
export interface LightHeads {
  readonly heads: Heads;
  readonly headers: HeaderChain;
  readonly follower: HeadFollower;
  readonly finder: BlockFinder;
}

export function openHeads(parts: LightChainParts, finalized: FinalizedNumbers): LightHeads {
  const { network, upstream, maru, cache } = parts;
  const { consensus, clock, latestMaxAgeMs } = parts;
  const attested =
    consensus &&
    (async (signal?: AbortSignal) => {
      const block = await consensus.attested(signal);
      const age = clock.now() - block.timestamp * 1000;
      if (age <= latestMaxAgeMs) return block;
      const reason = `the newest attested block is ${Math.round(age / 1000)} seconds old: the beacon endpoints are behind, too few validators attest, or the clock of this device is ahead`;
      throw notReached('attested', undefined, reason);
    });
  const heads = new Heads(upstream, network, parts, openSeals(network, maru), attested);
  const store = cache?.headersOf(network);
  const headers = new HeaderChain(upstream, network, parts.maxReorgDepth, KEPT, store, finalized);
  const follower = new HeadFollower(heads, headers, parts);
  return { heads, headers, follower, finder: new BlockFinder(follower, headers, heads) };
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
      const { readSealedHead } = await import('./heads/sealed-head.js');
      return readSealedHead(maru, validators, signal === undefined ? {} : { signal }, lowest);
    },
    sealsBlock: (number) => clique !== undefined && number >= 1 && number <= clique.lastBlock,
    async checkOwnSeal(block) {
      const { loadSignerRecovery, verifyCliqueSeal } = await import('../../proof/seals.js');
      await loadSignerRecovery();
      const verdict = verifyCliqueSeal(clique!, block.header);
      if (!verdict.verified) throw answerRefused(`seal of block ${block.header.number}`, verdict);
    },
  };
}
