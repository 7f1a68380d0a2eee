import { provedValues } from '../../../accumulator/proof-shape.js';
import { isPlumblineError } from '../../../errors.js';
import { HISTORY_CONTRACT, HISTORY_WINDOW } from '../../../ethereum/constants.js';
import type { Network } from '../../../networks/network.js';
import { bytesToHex } from '../../../primitives/hex.js';
import {
  headerOfHash,
  historySlot,
  type SettledHeaderFailureReason,
  settledHash,
} from '../../../proof/settled-header.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { type HeaderSource, linkedDown } from '../heads/block-range.js';
import { checkedBlock, type LightBlock } from '../heads/light-block.js';
import { AT_ONCE } from '../heads/linked-headers.js';
import { answerRefused, missing, notReached } from '../refused.js';
import type { FinalizedBlock, LayerOneFinality } from './finality.js';
import { proveNewest } from './settled-proofs.js';
import type { ZkProofs, ZkQuestion } from './zk-proofs.js';

/** Dependencies of `SettledBlocks`. */
export interface SettledBlockParts {
  readonly network: Network;
  readonly upstream: EndpointGroup;
  readonly finality: LayerOneFinality;
  readonly proofs: ZkProofs;
  /** Headers of the chain that are known already. */
  readonly headers: HeaderSource['headers'];
  /** Most headers that are followed by their parent hashes, down from a settled block; 8191 when left out. */
  readonly maxWalkBack?: number | undefined;
}

/** Most blocks in memory; the oldest are dropped first. */
const MAX_KEPT = 1024;

/** These say that the zk state does not hold the hash, and nothing about the endpoint. */
const NOT_HELD: readonly SettledHeaderFailureReason[] = ['CONTRACT_MISSING', 'CONTRACT_CODE', 'HASH_MISSING'];

/**
 * Blocks whose hash the zk state of a finalized block proves, the 8191 blocks below it, and their ancestors
 * (docs/spec/settled.md).
 */
export class SettledBlocks {
  /** By number. A settled block never changes. */
  private readonly kept = new Map<number, LightBlock>();

  constructor(private readonly parts: SettledBlockParts) {}

  private get maxWalkBack(): number {
    return this.parts.maxWalkBack ?? HISTORY_WINDOW;
  }

  /**
   * The newest settled block: the one below the newest finalized block whose state an endpoint has.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no zk state holds its hash; `BLOCK_NOT_PROVABLE`, `ANSWER_REFUSED`, of
   *   the endpoints
   */
  async newest(signal?: AbortSignal): Promise<LightBlock> {
    const at = await this.parts.finality.newest(signal);
    if (at.number === 0) throw notReached('settled', undefined, 'no block is finalized yet');
    return this.kept.get(at.number - 1) ?? this.read(at, ({ number }) => number - 1, signal);
  }

  /**
   * A settled block: its hash is in the zk state of the newest finalized block, or it is an ancestor of such a block.
   *
   * @param signal - ends what is fetched to link it
   * @returns undefined if it is not below the newest finalized block, or too far below
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no zk state holds a hash; `BLOCK_NOT_PROVABLE`, `ANSWER_REFUSED`, of the
   *   endpoints
   */
  async byNumber(number: number, signal?: AbortSignal): Promise<LightBlock | undefined> {
    const kept = this.kept.get(number);
    if (kept !== undefined) return kept;
    const at = await this.parts.finality.newest(signal);
    if (number >= at.number) return undefined;
    const oldest = at.number - HISTORY_WINDOW;
    if (number < oldest - this.maxWalkBack) return undefined;
    let from = this.nearestAbove(number);
    if (from === undefined || from.header.number > oldest) {
      // Of an older finalization it may be the block itself.
      from = (await this.held(at, (under) => Math.max(number, under.number - HISTORY_WINDOW), signal)) ?? from;
    }
    return this.walkBack(from ?? (await this.newest(signal)), number, signal);
  }

  /** As `read`. @returns undefined if no zk state holds the hash */
  private async held(
    at: FinalizedBlock,
    blockUnder: (at: FinalizedBlock) => number,
    signal: AbortSignal | undefined,
  ): Promise<LightBlock | undefined> {
    try {
      return await this.read(at, blockUnder, signal);
    } catch (error) {
      if (isPlumblineError(error, 'TRUST_LEVEL_NOT_REACHED')) return undefined;
      throw error;
    }
  }

  private nearestAbove(number: number): LightBlock | undefined {
    const above = [...this.kept.keys()].filter((known) => known > number);
    return this.kept.get(Math.min(...above));
  }

  /** Follows parent hashes. @returns undefined if `number` is too far below `from` */
  private async walkBack(
    from: LightBlock,
    number: number,
    signal: AbortSignal | undefined,
  ): Promise<LightBlock | undefined> {
    const { upstream: group, network, headers } = this.parts;
    if (from.header.number - number > this.maxWalkBack) return undefined;
    let block = from;
    while (block.header.number > number) {
      const down = Math.max(number, block.header.number - AT_ONCE);
      block = (await linkedDown({ group, network, headers }, block, down, signal)).at(-1)!;
      this.keep(block);
    }
    return block;
  }

  private keep(block: LightBlock): void {
    this.kept.set(block.header.number, block);
    if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value!);
  }

  private async read(
    newest: FinalizedBlock,
    blockUnder: (at: FinalizedBlock) => number,
    signal: AbortSignal | undefined,
  ): Promise<LightBlock> {
    const { finality, proofs } = this.parts;
    const question = (under: FinalizedBlock) => questionOf(blockUnder(under), under);
    const { proof, at } = await proveNewest(finality, proofs, question, newest, signal);
    const number = blockUnder(at);
    const { account, slots } = provedValues(proof, 1);
    const verdict = settledHash({ account, value: slots[0]! }, number);
    if (!verdict.verified) {
      if (NOT_HELD.includes(verdict.reason)) throw notReached('settled', undefined, verdict.message);
      throw answerRefused(`hash of block ${number}`, verdict);
    }
    const block = this.kept.get(number) ?? (await this.fetch(verdict.hash, number, signal));
    this.keep(block);
    return block;
  }

  private fetch(hash: Uint8Array, number: number, signal: AbortSignal | undefined): Promise<LightBlock> {
    const { network, upstream } = this.parts;
    return upstream.request('eth_getBlockByHash', [bytesToHex(hash), false], {
      tryNext: () => true,
      ...(signal && { signal }),
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
