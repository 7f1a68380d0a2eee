import { isPlumblineError } from '../../errors.js';
import type { RollupContract } from '../../networks/network.js';
import { bigIntToBytes, concatBytes, isZeroBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { verifyEthereumProof } from '../../proof/ethereum-proof.js';
import { type HashedHeader, verifyHeader } from '../../proof/header-answer.js';
import { readArray, readBytes } from '../../proof/json-reader.js';
import { anchorSlots, verifyL1Anchor } from '../../proof/l1-anchor.js';
import type { Clock } from '../../upstream/clock.js';
import type { EndpointGroup } from '../../upstream/group.js';
import { blockNumberOf, DATA_FINALIZED, type FinalizationEvent, readFinalization } from './finality-events.js';
import type { FinalityStore, FinalizedBlock } from './finality-store.js';
import { refused } from './refused.js';

export interface FinalityOptions {
  readonly rollup: RollupContract;
  readonly maxAgeMs: number;
  /**
   * Read by `eth_getProof` against the header, and not by `eth_call`. The header is still the one the endpoint names, of
   * which only the hash is checked.
   */
  readonly prove: boolean;
  /** Hash of a layer-1 block that is trusted, 32 bytes: everything is proved against its header, and nothing newer is seen. */
  readonly header?: Uint8Array | undefined;
  /** Origins of layer 1 that have to agree; 1 when left out. */
  readonly agreeing?: number | undefined;
  readonly clock: Clock;
  /** Keeps what was read; nothing is kept when left out. */
  readonly store?: FinalityStore | undefined;
}

/** Getters of the rollup contract. @source spec/json-rpc.md 6 */
const CURRENT_BLOCK: Hex = '0x695378f5';
const STATE_ROOTS: Hex = '0x8be745d1';
/** Roots that are remembered. */
const MAX_ROOTS = 4096;

/**
 * What layer 1 holds of the state of layer 2. Everything about one question is read at one of its blocks. What an earlier
 * session has seen stands in only while layer 1 cannot be reached.
 */
export class Finality {
  private latest: FinalizedBlock | undefined;
  private readAt = Number.NEGATIVE_INFINITY;
  /** Newest block that was read in this session. */
  private floor = -1;
  /** Newest block against whose root an answer held. */
  private upheld = -1;
  private reading: Promise<FinalizedBlock> | undefined;
  private restoring: Promise<void> | undefined;
  /** Roots read in this session. They never change once they are there. */
  private readonly roots = new Map<number, Uint8Array>();
  /** Roots of an earlier session that were not read again. */
  private readonly earlier = new Map<number, Uint8Array>();
  private readonly proves: boolean;

  constructor(
    private readonly group: EndpointGroup,
    private readonly options: FinalityOptions,
  ) {
    this.proves = options.prove || options.header !== undefined;
  }

  /** What was read last, however long ago. */
  get known(): FinalizedBlock | undefined {
    return this.latest;
  }

  /**
   * The newest finalized block; the newest that is known while layer 1 cannot be reached, since what is final stays so.
   *
   * @throws PlumblineError `ANSWER_REFUSED`, of the endpoints
   */
  async newest(): Promise<FinalizedBlock> {
    return (await this.current()).at;
  }

  /** @returns also why layer 1 was not read, where an older reading stands in */
  private async current(): Promise<{ readonly at: FinalizedBlock; readonly offline?: unknown }> {
    await this.restored();
    if (this.latest !== undefined && this.isFresh()) return { at: this.latest };
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    try {
      return { at: await this.reading };
    } catch (error) {
      if (this.latest === undefined || !isUnreachable(error)) throw error;
      return { at: this.latest, offline: error };
    }
  }

  /** At one given block there is nothing newer to be read. */
  private isFresh(): boolean {
    const { clock, maxAgeMs, header } = this.options;
    if (header !== undefined) return this.readAt !== Number.NEGATIVE_INFINITY;
    const age = clock.now() - this.readAt;
    // Below zero the clock was set back, and nobody knows how old it is.
    return age >= 0 && age <= maxAgeMs;
  }

  /**
   * Root of the zk state after a block.
   *
   * @returns undefined when no finalization ended there
   * @throws PlumblineError `ANSWER_REFUSED`, of the endpoints
   */
  async rootOf(number: number): Promise<Uint8Array | undefined> {
    const known = this.roots.get(number);
    if (known !== undefined) return known;
    const { at, offline } = await this.current();
    if (number > at.number) return undefined;
    if (number === at.number) return at.root;
    try {
      if (offline !== undefined) throw offline;
      const root = await this.rootAt(await this.pin(), number);
      if (!isZeroBytes(root)) {
        await this.remember(number, root);
        return root;
      }
    } catch (error) {
      const root = isUnreachable(error) ? this.earlier.get(number) : undefined;
      if (root === undefined) throw error;
      return root;
    }
    if (this.earlier.delete(number)) await this.save();
    return undefined;
  }

  /**
   * Gives what `work` makes of a finalized block. A root by which an answer was refused is read again next time: where
   * layer 1 is not proved, it may have been layer 1 that lied.
   *
   * @throws what `work` throws
   */
  async using<T>(at: FinalizedBlock, work: (at: FinalizedBlock) => Promise<T>): Promise<T> {
    try {
      const made = await work(at);
      if (this.roots.has(at.number)) this.upheld = Math.max(this.upheld, at.number);
      return made;
    } catch (error) {
      if (isPlumblineError(error, 'ANSWER_REFUSED')) await this.doubt(at.number);
      throw error;
    }
  }

  /** How far layer 1 had come is not forgotten: it may not go back after a lie of layer 2. */
  private async doubt(number: number): Promise<void> {
    const root = this.roots.get(number);
    // One of an earlier session is read again anyway, as soon as that can be done.
    if (root === undefined) return;
    this.roots.delete(number);
    if (number === this.upheld) this.earlier.set(number, root);
    if (this.latest?.number === number) {
      this.readAt = Number.NEGATIVE_INFINITY;
      if (number !== this.upheld) this.latest = undefined;
    }
    await this.save();
  }

  /**
   * Finalizations by their events, within a range of layer-1 blocks, both ends included.
   *
   * @throws PlumblineError `PROOF_MALFORMED`, of the endpoints
   */
  async events(from: number, to: number): Promise<FinalizationEvent[]> {
    const { address } = this.options.rollup;
    const filter = { address, topics: [DATA_FINALIZED], fromBlock: toQuantity(from), toBlock: toQuantity(to) };
    return this.group.request('eth_getLogs', [filter], {
      accept: (answer) => readArray(answer, '').map((log, i) => readFinalization(log, `[${i}]`, address)),
    });
  }

  private async read(): Promise<FinalizedBlock> {
    const startedAt = this.options.clock.now();
    const pinned = await this.pin();
    const number = await this.currentAt(pinned);
    if (number < this.floor) {
      const message = `is ${number}, and was ${this.floor} before`;
      throw refused('finalized block', { verified: false, reason: 'WENT_BACK', at: '', message });
    }
    const root = await this.rootAt(pinned, number);
    if (isZeroBytes(root)) {
      const message = `has no root for its own newest block ${number}`;
      throw refused('rollup contract', { verified: false, reason: 'ROOT_MISSING', at: '', message });
    }
    this.latest = { number, root, layerOneBlock: pinned.header.number };
    this.readAt = startedAt;
    this.floor = number;
    for (const block of this.earlier.keys()) if (block > number) this.earlier.delete(block);
    await this.remember(number, root);
    return this.latest;
  }

  /** The layer-1 block of which everything else is read. */
  private async pin(): Promise<HashedHeader> {
    const { header, agreeing = 1 } = this.options;
    const read = (answer: unknown, number?: number) => {
      const asked = { ...(header !== undefined && { hash: header }), ...(number !== undefined && { number }) };
      const verdict = verifyHeader(answer, asked);
      if (!verdict.verified) throw refused('layer-1 header', verdict);
      return verdict;
    };
    const accept = (answer: unknown) => read(answer);
    if (header !== undefined) {
      const key = ({ hash }: HashedHeader) => bytesToHex(hash);
      return this.ask('eth_getBlockByHash', [bytesToHex(header), false], accept, key);
    }
    if (agreeing === 1) return this.group.request('eth_getBlockByNumber', ['finalized', false], { accept });
    const { sharedFinalized } = await import('./shared-finalized.js');
    return sharedFinalized(this.group, agreeing, read);
  }

  /** Asks one endpoint after the other, or as many as have to agree at once. */
  private async ask<T>(
    method: string,
    params: readonly unknown[],
    accept: (answer: unknown) => T,
    key: (value: T) => string,
  ): Promise<T> {
    const { agreeing = 1 } = this.options;
    if (agreeing === 1) return this.group.request(method, params, { accept });
    return (await this.group.requestAll(method, params, { needed: agreeing, accept, key })).value;
  }

  private async currentAt(pinned: HashedHeader): Promise<number> {
    if (!this.proves) return blockNumberOf(await this.call(pinned, CURRENT_BLOCK));
    const { address, currentBlockSlot } = this.options.rollup;
    const request = {
      address: hexToBytes(address, 20),
      storageKeys: [bigIntToBytes(currentBlockSlot, 32)],
      stateRoot: pinned.header.stateRoot,
    };
    const keys = request.storageKeys.map(bytesToHex);
    const accept = (answer: unknown) => {
      const verdict = verifyEthereumProof(request, answer);
      if (!verdict.verified) throw refused('rollup contract', verdict);
      return blockNumberOf(verdict.slots[0]!.value);
    };
    return this.ask('eth_getProof', [address, keys, toQuantity(pinned.header.number)], accept, String);
  }

  private async rootAt(pinned: HashedHeader, number: number): Promise<Uint8Array> {
    const { rollup } = this.options;
    const argument = bigIntToBytes(BigInt(number), 32);
    if (!this.proves) return this.call(pinned, bytesToHex(concatBytes(hexToBytes(STATE_ROOTS), argument)));
    const keys = anchorSlots(rollup, number).map(bytesToHex);
    const accept = (answer: unknown) => {
      const request = { l1StateRoot: pinned.header.stateRoot, rollup, l2BlockNumber: number };
      const verdict = verifyL1Anchor(request, answer);
      if (verdict.verified) return verdict.stateRoot;
      if (verdict.reason === 'NO_FINALIZATION_AT_BLOCK') return new Uint8Array(32);
      throw refused('rollup contract', verdict);
    };
    return this.ask('eth_getProof', [rollup.address, keys, toQuantity(pinned.header.number)], accept, bytesToHex);
  }

  /** A getter at the pinned block, by its hash: no other block of the same number can answer. */
  private call(pinned: HashedHeader, data: Hex): Promise<Uint8Array> {
    const block = { blockHash: bytesToHex(pinned.hash) };
    const accept = (answer: unknown) => readBytes(answer, 'the answer', 32);
    return this.ask('eth_call', [{ to: this.options.rollup.address, data }, block], accept, bytesToHex);
  }

  private async remember(number: number, root: Uint8Array): Promise<void> {
    this.roots.set(number, root);
    this.earlier.delete(number);
    if (this.roots.size > MAX_ROOTS) this.roots.delete(this.roots.keys().next().value!);
    await this.save();
  }

  private async save(): Promise<void> {
    const { latest, roots, earlier } = this;
    await this.options.store?.save(latest && { newest: latest, roots: new Map([...earlier, ...roots]) });
  }

  /** What an earlier session has seen. */
  private restored(): Promise<void> {
    this.restoring ??= Promise.resolve(this.options.store?.load()).then((known) => {
      for (const [number, root] of known?.roots ?? []) this.earlier.set(number, root);
      this.latest ??= known?.newest;
    });
    return this.restoring;
  }
}

/** Whether layer 1 said nothing, as against something wrong. */
export function isUnreachable(error: unknown): boolean {
  return (
    isPlumblineError(error, 'UPSTREAM_UNAVAILABLE') ||
    isPlumblineError(error, 'UPSTREAM_RATE_LIMITED') ||
    isPlumblineError(error, 'REQUEST_TIMED_OUT')
  );
}
