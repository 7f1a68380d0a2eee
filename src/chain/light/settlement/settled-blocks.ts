import { provedValues } from '../../../accumulator/proved-values.js';
import { isPlumblineError } from '../../../errors.js';
import { HISTORY_CONTRACT } from '../../../ethereum/history-contract.js';
import type { Network } from '../../../networks/network.js';
import { bytesToHex } from '../../../primitives/hex.js';
import {
  headerOfHash,
  historySlot,
  type SettledHeaderFailureReason,
  settledHash,
} from '../../../proof/settled-header.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { checkedBlock, type LightBlock } from '../heads/light-block.js';
import { answerRefused, missing, notReached } from '../refused.js';
import type { LayerOneFinality } from './finality.js';
import type { FinalizedBlock } from './finality-store.js';
import { proveNewest } from './settled-proofs.js';
import type { ZkProofs, ZkQuestion } from './zk-proofs.js';

/** Dependencies of `SettledBlocks`. */
export interface SettledBlockParts {
  readonly network: Network;
  readonly upstream: EndpointGroup;
  readonly finality: LayerOneFinality;
  readonly proofs: ZkProofs;
}

/** Most blocks in memory; the oldest are dropped first. */
const MAX_KEPT = 1024;

/** These say that the zk state does not hold the hash, and nothing about the endpoint. */
const NOT_HELD: readonly SettledHeaderFailureReason[] = ['CONTRACT_MISSING', 'CONTRACT_CODE', 'HASH_MISSING'];

/**
 * Blocks whose hash the zk state of a finalized block proves: the 8191 blocks below it (docs/spec/settled.md).
 */
export class SettledBlocks {
  /** By number. A settled block never changes. */
  private readonly kept = new Map<number, LightBlock>();

  constructor(private readonly parts: SettledBlockParts) {}

  /**
   * The newest settled block: the one below the newest finalized block whose state an endpoint has.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no zk state holds its hash; `BLOCK_NOT_PROVABLE`, `ANSWER_REFUSED`, of
   *   the endpoints
   */
  async newest(): Promise<LightBlock> {
    const at = await this.parts.finality.newest();
    if (at.number === 0) throw notReached('settled', undefined, 'no block is finalized yet');
    return this.kept.get(at.number - 1) ?? this.read(at, ({ number }) => number - 1);
  }

  /**
   * A settled block.
   *
   * @returns undefined if the zk state of the newest finalized block does not hold its hash
   * @throws PlumblineError `BLOCK_NOT_PROVABLE`, `ANSWER_REFUSED`, of the endpoints
   */
  async byNumber(number: number): Promise<LightBlock | undefined> {
    const kept = this.kept.get(number);
    if (kept !== undefined) return kept;
    const at = await this.parts.finality.newest();
    if (historySlot(number, at.number) === undefined) return undefined;
    try {
      return await this.read(at, () => number);
    } catch (error) {
      if (isPlumblineError(error, 'TRUST_LEVEL_NOT_REACHED')) return undefined;
      throw error;
    }
  }

  private async read(newest: FinalizedBlock, blockUnder: (at: FinalizedBlock) => number): Promise<LightBlock> {
    const { finality, proofs } = this.parts;
    const { proof, at } = await proveNewest(finality, proofs, (under) => questionOf(blockUnder(under), under), newest);
    const number = blockUnder(at);
    const { account, slots } = provedValues(proof, 1);
    const verdict = settledHash({ account, value: slots[0]! }, number);
    if (!verdict.verified) {
      if (NOT_HELD.includes(verdict.reason)) throw notReached('settled', undefined, verdict.message);
      throw answerRefused(`hash of block ${number}`, verdict);
    }
    const block = await this.fetch(verdict.hash, number);
    this.kept.set(number, block);
    if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value!);
    return block;
  }

  private fetch(hash: Uint8Array, number: number): Promise<LightBlock> {
    const { network, upstream } = this.parts;
    return upstream.request('eth_getBlockByHash', [bytesToHex(hash), false], {
      tryNext: () => true,
      accept: (answer) => {
        if (answer === null) throw missing(`header of block ${number}`);
        const verdict = headerOfHash(hash, number, answer);
        if (!verdict.verified) throw answerRefused(`header of block ${number}`, verdict);
        return checkedBlock(network, verdict.header, verdict.hash);
      },
    });
  }
}

function questionOf(block: number, { number }: FinalizedBlock): ZkQuestion | undefined {
  const key = historySlot(block, number);
  return key && { address: HISTORY_CONTRACT, storageKeys: [key] };
}
