import type { LineaProofJson } from '../../../accumulator/proof-shape.js';
import { isLayerOne, rollupOf } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import type { HashedHeader } from '../../../proof/headers.js';
import { loadOnce } from '../../../scheduling/load-once.js';
import type { BlockReference } from '../../block.js';
import type { BlockFinder } from '../heads/block-finder.js';
import type { HeaderChain } from '../heads/header-chain.js';
import type { Heads } from '../heads/heads.js';
import type { LightChainParts } from '../light-parts.js';
import { missing } from '../refused.js';
import {
  blockNotProvable,
  type Finality,
  FinalityStore,
  type FinalizedBlock,
  LayerOneFinality,
  type RootedBlock,
  rooted,
} from './finality.js';
import type { SettledBlocks } from './settled-blocks.js';
import type { ProofAt } from './settled-proofs.js';
import { ZkProofs, type ZkQuestion } from './zk-proofs.js';

/** A verified proof of one zk state. @throws as `Settlement.prove` */
type ProveQuestion = (question: ZkQuestion, signal?: AbortSignal) => Promise<LineaProofJson>;

/** What layer 1 holds of a light chain, and proofs of the zk state against it. */
export class Settlement {
  /** Undefined without endpoints of layer 1. */
  private readonly finality: Finality | undefined;
  private readonly proofs: ZkProofs;
  /**
   * Blocks that layer-1 consensus settles; undefined unless it is followed.
   *
   * @throws PlumblineError as `LayerOneFollower.finalized`
   */
  readonly blocks: (() => Promise<SettledBlocks>) | undefined;

  constructor(
    parts: LightChainParts,
    private readonly heads: {
      readonly finder: Pick<BlockFinder, 'byHash'>;
      readonly headers: HeaderChain;
      readonly heads: Pick<Heads, 'byHash'>;
    },
  ) {
    const { network, upstream, cache, keptProofBytes: keptBytes, loadHasher } = parts;
    this.finality = isLayerOne(network) ? ownFinality(parts, heads.heads) : openFinality(parts);
    const proofs = new ZkProofs({ network, upstream, table: cache?.proofs, keptBytes, loadHasher });
    this.proofs = proofs;
    const { finality } = this;
    if (finality === undefined || parts.consensus === undefined) return;
    this.blocks = loadOnce(async () => {
      const { SettledBlocks } = await import('./settled-blocks.js');
      const { maxWalkBack } = parts;
      return new SettledBlocks({ network, upstream, finality, proofs, maxWalkBack, headers: heads.headers });
    });
  }

  /**
   * Whether layer 1 stores the hash of the newest finalized block, so that everything at it rests on its header.
   *
   * @throws PlumblineError as `LayerOneFinality.newest`
   */
  async isHashed(signal?: AbortSignal): Promise<boolean> {
    return (await this.newest(signal))?.hash !== undefined;
  }

  /**
   * The newest finalized block.
   *
   * @returns undefined without endpoints of layer 1
   * @throws PlumblineError as `LayerOneFinality.newest`
   */
  async newest(signal?: AbortSignal): Promise<FinalizedBlock | undefined> {
    return this.finality?.newest(signal);
  }

  /** The final block of layer 1 at which the contract of a rollup is read. @throws PlumblineError as `RollupReader.pin` */
  async layerOneBlock(signal?: AbortSignal): Promise<HashedHeader> {
    if (this.finality?.pin === undefined) throw missing('layer-1 header');
    return this.finality.pin(signal);
  }

  /** Number of the finalized block that was read last. Nothing is asked. */
  get knownNumber(): number | undefined {
    return this.finality?.known?.number;
  }

  /**
   * Number of the newest finalized block.
   *
   * @returns undefined without endpoints of layer 1
   * @throws PlumblineError as `LayerOneFinality.newest`
   */
  async newestNumber(signal?: AbortSignal): Promise<number | undefined> {
    return (await this.newest(signal))?.number;
  }

  /**
   * A proof of the zk state after a block whose root layer 1 holds. A tag other than `earliest` names the newest one.
   *
   * @param signal - ends the request for a proof of a named block
   * @throws PlumblineError `BLOCK_NOT_PROVABLE` for other blocks, and without endpoints of layer 1; as
   *   `LayerOneFinality.newest`, `LayerOneFinality.anchorOf`, `ZkProofs.prove`
   */
  async prove(question: ZkQuestion, reference: BlockReference, signal?: AbortSignal): Promise<ProofAt> {
    const isNewest = 'tag' in reference && reference.tag !== 'earliest';
    if (this.finality === undefined) {
      throw blockNotProvable(
        isNewest ? 'finalized' : nameOf(reference),
        'cannot be proved without endpoints of layer 1',
      );
    }
    const at = isNewest
      ? rooted(await this.finality.newest(signal))
      : await this.finalizedAt(this.finality, reference, signal);
    const { prove, proveNewest } = await import('./settled-proofs.js');
    if (isNewest) return proveNewest(this.finality, this.proofs, () => question, at, signal);
    return prove(this.finality, this.proofs, question, at, signal);
  }

  /**
   * The zk state after a block whose root layer 1 holds, and proofs of it.
   *
   * @throws PlumblineError `BLOCK_NOT_PROVABLE` for another block; as `LayerOneFinality.anchorOf`
   */
  async zkStateAfter(number: number, signal?: AbortSignal): Promise<RootedBlock & { prove: ProveQuestion }> {
    if (this.finality === undefined)
      throw blockNotProvable(String(number), 'cannot be proved without endpoints of layer 1');
    const at = await this.finalizedAt(this.finality, { number }, signal);
    const prove: ProveQuestion = async (question, signal) => (await this.prove(question, { number }, signal)).proof;
    return { ...at, prove };
  }

  private async finalizedAt(
    finality: Finality,
    reference: BlockReference,
    signal: AbortSignal | undefined,
  ): Promise<RootedBlock> {
    const number = await this.numberOf(reference, signal);
    if (number === undefined) throw blockNotProvable(nameOf(reference), 'is not on the chain');
    const anchor = await finality.anchorOf(number, signal);
    if (anchor === undefined) throw blockNotProvable(nameOf(reference), 'has no root on layer 1');
    return rooted({ number, ...anchor, layerOneBlock: finality.known?.layerOneBlock ?? 0 });
  }

  private async numberOf(reference: BlockReference, signal: AbortSignal | undefined): Promise<number | undefined> {
    if ('number' in reference) return reference.number;
    return 'hash' in reference ? (await this.heads.finder.byHash(reference.hash, signal))?.header.number : 0;
  }
}

/**
 * The finality of a network that is its own layer 1: consensus names the block by its hash.
 *
 * @returns undefined without consensus
 */
function ownFinality({ consensus }: LightChainParts, heads: Pick<Heads, 'byHash'>): Finality | undefined {
  if (consensus === undefined) return undefined;
  let known: FinalizedBlock | undefined;
  return {
    get known() {
      return known;
    },
    async newest(signal) {
      const { blockHash: hash, number } = await consensus.finalized(signal);
      if (known?.hash !== undefined && equalBytes(known.hash, hash)) return known;
      // From Gloas on its header alone says which number it has.
      const at = number ?? (await heads.byHash(hash, signal))?.header.number;
      if (at === undefined) throw missing('finalized block');
      known = { number: at, hash, layerOneBlock: at };
      return known;
    },
    anchorOf: async () => undefined,
    events: async () => [],
    using: (at, work) => work(at),
  };
}

function openFinality(parts: LightChainParts): LayerOneFinality | undefined {
  const { network, layerOne, clock, cache, finalityMaxAgeMs: maxAgeMs } = parts;
  if (layerOne === undefined) return undefined;
  const { rollup, chainId } = rollupOf(network);
  const { proveLayerOne: prove, layerOneAgreeing: agreeing, layerOneHeader: header, consensus } = parts;
  const finalHash = consensus && (async (signal?: AbortSignal) => (await consensus.finalized(signal)).blockHash);
  const how = { prove, agreeing, header, finalHash };
  const store = new FinalityStore(cache?.finalizations, { chainId, rollup: rollup.address, ...how });
  return new LayerOneFinality(layerOne, {
    rollup,
    maxAgeMs,
    offlineMaxAgeMs: consensus?.maxAgeMs,
    clock,
    store,
    ...how,
  });
}

function nameOf(reference: BlockReference): string {
  if ('hash' in reference) return bytesToHex(reference.hash);
  return 'number' in reference ? String(reference.number) : '0';
}
