import { provedValues } from '../../../accumulator/proof-shape.js';
import { isPlumblineError } from '../../../errors.js';
import { HISTORY_CONTRACT, HISTORY_WINDOW } from '../../../ethereum/constants.js';
import type { Network } from '../../../networks/network.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import {
  hashInRing,
  headerOfHash,
  historySlot,
  type SettledHeaderFailureReason,
  settledHash,
} from '../../../proof/settled-header.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { type HeaderSource, linkedDown } from '../heads/block-range.js';
import { AT_ONCE, checkedBlock, type LightBlock } from '../heads/light-block.js';
import { answerRefused, isStateMissing, missing, notReached } from '../refused.js';
import { type Finality, type FinalizedBlock, type RootedBlock, rooted } from './finality.js';
import { proveNewest } from './settled-proofs.js';
import type { ZkProofs, ZkQuestion } from './zk-proofs.js';

/** Dependencies of `SettledBlocks`. */
export interface SettledBlockParts {
  readonly network: Network;
  readonly upstream: EndpointGroup;
  readonly finality: Finality;
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
 * Blocks whose hash layer 1 stores, or the zk state of a finalized block proves; the 8191 blocks below, and their ancestors
 * (docs/spec/settled.md, docs/spec/rollup-versions.md 5).
 */
export class SettledBlocks {
  /** By number. A settled block never changes. */
  private readonly kept = new Map<number, LightBlock>();

  constructor(private readonly parts: SettledBlockParts) {}

  private get maxWalkBack(): number {
    return this.parts.maxWalkBack ?? HISTORY_WINDOW;
  }

  /**
   * The newest settled block: the newest finalized one if layer 1 stores its hash, else the one below the newest finalized block whose
   * state an endpoint has.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no zk state holds its hash; `BLOCK_NOT_PROVABLE`, `ANSWER_REFUSED`, of
   *   the endpoints
   */
  async newest(signal?: AbortSignal): Promise<LightBlock> {
    const at = await this.parts.finality.newest(signal);
    if (at.hash !== undefined) return this.hashed(at.hash, at.number, signal);
    if (at.number === 0) throw notReached('settled', undefined, 'no block is finalized yet');
    return this.kept.get(at.number - 1) ?? this.read(rooted(at), ({ number }) => number - 1, signal);
  }

  /**
   * A settled block: its hash is on layer 1, or in the state after the newest finalized block, or it is an ancestor of such a block.
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
    if (at.hash !== undefined) return this.belowHashed(await this.hashed(at.hash, at.number, signal), number, signal);
    if (number >= at.number) return undefined;
    const oldest = at.number - HISTORY_WINDOW;
    if (number < oldest - this.maxWalkBack) return undefined;
    let from = this.nearestAbove(number);
    if (from === undefined || from.header.number > oldest) {
      // Of an older finalization it may be the block itself.
      from = (await this.held(rooted(at), (under) => Math.max(number, under.number - HISTORY_WINDOW), signal)) ?? from;
    }
    return this.walkBack(from ?? (await this.newest(signal)), number, signal);
  }

  /** A block whose hash layer 1 stores. */
  private async hashed(hash: Uint8Array, number: number, signal: AbortSignal | undefined): Promise<LightBlock> {
    const block = this.kept.get(number) ?? (await this.fetch(hash, number, signal));
    this.keep(block);
    return block;
  }

  /** @param top - the newest finalized block, whose header is proved. @returns undefined for a block above it, or too far below */
  private async belowHashed(
    top: LightBlock,
    number: number,
    signal: AbortSignal | undefined,
  ): Promise<LightBlock | undefined> {
    const highest = top.header.number;
    if (number >= highest) return number === highest ? top : undefined;
    const oldest = Math.max(number, highest - HISTORY_WINDOW);
    if (number < oldest - this.maxWalkBack) return undefined;
    let from = this.nearestAbove(number) ?? top;
    if (from.header.number - number > AT_ONCE && oldest < from.header.number)
      from = (await this.byRing(top, oldest, signal)) ?? from;
    return this.walkBack(from, number, signal);
  }

  /**
   * A block whose hash the history contract holds (EIP-2935) in the state after `top`.
   *
   * @returns undefined if no endpoint has that state, or the contract does not hold the hash
   */
  private async byRing(
    top: LightBlock,
    number: number,
    signal: AbortSignal | undefined,
  ): Promise<LightBlock | undefined> {
    const key = historySlot(number, top.header.number)!;
    const params = [bytesToHex(HISTORY_CONTRACT), [bytesToHex(key)], toQuantity(top.header.number)];
    const accept = (answer: unknown) => {
      const verdict = hashInRing(number, top.header.number, top.header.stateRoot, answer);
      if (verdict.verified || NOT_HELD.some((reason) => reason === verdict.reason)) return verdict;
      throw answerRefused('history contract', verdict);
    };
    try {
      const options = { tryNext: () => true, accept, ...(signal && { signal }) };
      const verdict = await this.parts.upstream.request('eth_getProof', params, options);
      return verdict.verified ? await this.hashed(verdict.hash, number, signal) : undefined;
    } catch (error) {
      if (isStateMissing(error)) return undefined;
      throw error;
    }
  }

  /** As `read`. @returns undefined if no zk state holds the hash */
  private async held(
    at: RootedBlock,
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
    newest: RootedBlock,
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
