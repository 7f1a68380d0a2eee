import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { RollupContract } from '../../networks/network.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, isZeroBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { verifyEthereumProof } from '../../proof/ethereum-proof.js';
import { type HashedHeader, verifyHeader } from '../../proof/header-answer.js';
import { readArray, readBytes, readObject } from '../../proof/json-reader.js';
import { anchorSlots, verifyL1Anchor } from '../../proof/l1-anchor.js';
import type { Clock } from '../../upstream/clock.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { FinalityStore, FinalizedBlock } from './finality-store.js';
import { refused } from './refused.js';

/** One finalization by its event; its blocks are `first` to `last`, and only `last` has a root. */
export interface FinalizationEvent {
  readonly first: number;
  readonly last: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

export interface FinalityOptions {
  readonly rollup: RollupContract;
  readonly maxAgeMs: number;
  /** Read by `eth_getProof` against the header, and not by `eth_call`. */
  readonly prove: boolean;
  /** Origins of layer 1 that have to agree; 1 when left out. */
  readonly agreeing?: number | undefined;
  readonly clock: Clock;
  /** Keeps what was read; nothing is kept when left out. */
  readonly store?: FinalityStore | undefined;
}

/** Getters of the rollup contract, and its event. @source spec/json-rpc.md 6 */
const CURRENT_BLOCK: Hex = '0x695378f5';
const STATE_ROOTS: Hex = '0x8be745d1';
const DATA_FINALIZED: Hex = '0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb';
/** Roots that are remembered. */
const MAX_ROOTS = 4096;

/** What layer 1 holds of the state of layer 2. Everything about one question is read at one of its blocks. */
export class Finality {
  private latest: FinalizedBlock | undefined;
  private readAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<FinalizedBlock> | undefined;
  private restoring: Promise<void> | undefined;
  /** Roots never change once they are there. */
  private readonly roots = new Map<number, Uint8Array>();

  constructor(
    private readonly group: EndpointGroup,
    private readonly options: FinalityOptions,
  ) {}

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
    await this.restored();
    if (this.latest !== undefined && this.options.clock.now() - this.readAt <= this.options.maxAgeMs)
      return this.latest;
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    try {
      return await this.reading;
    } catch (error) {
      if (this.latest === undefined || !isUnreachable(error)) throw error;
      return this.latest;
    }
  }

  /**
   * Root of the zk state after a block.
   *
   * @returns undefined when no finalization ended there
   */
  async rootOf(number: number): Promise<Uint8Array | undefined> {
    await this.restored();
    const known = this.roots.get(number);
    if (known !== undefined) return known;
    const newest = await this.newest();
    if (number > newest.number) return undefined;
    if (number === newest.number) return newest.root;
    const pinned = await this.pin();
    const root = await this.rootAt(pinned, number);
    if (isZeroBytes(root)) return undefined;
    await this.remember(number, root);
    return root;
  }

  /**
   * Gives what `work` makes of a finalized block. A root by which an answer was refused is read again next time: where
   * layer 1 is not proved, it may have been layer 1 that lied.
   *
   * @throws what `work` throws
   */
  async using<T>(at: FinalizedBlock, work: (at: FinalizedBlock) => Promise<T>): Promise<T> {
    try {
      return await work(at);
    } catch (error) {
      if (isPlumblineError(error, 'ANSWER_REFUSED')) this.forget(at.number);
      throw error;
    }
  }

  private forget(number: number): void {
    this.roots.delete(number);
    if (this.latest?.number !== number) return;
    this.latest = undefined;
    this.readAt = Number.NEGATIVE_INFINITY;
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
      accept: (answer) => readArray(answer, '').map((log, i) => readEvent(log, `[${i}]`, address)),
    });
  }

  private async read(): Promise<FinalizedBlock> {
    const startedAt = this.options.clock.now();
    const pinned = await this.pin();
    const number = await this.currentAt(pinned);
    if (this.latest !== undefined && number < this.latest.number) {
      const message = `is ${number}, and was ${this.latest.number} before`;
      throw refused('finalized block', { verified: false, reason: 'WENT_BACK', at: '', message });
    }
    const root = await this.rootAt(pinned, number);
    if (isZeroBytes(root)) {
      const message = `has no root for its own newest block ${number}`;
      throw refused('rollup contract', { verified: false, reason: 'ROOT_MISSING', at: '', message });
    }
    this.latest = { number, root, layerOneBlock: pinned.header.number };
    this.readAt = startedAt;
    await this.remember(number, root);
    return this.latest;
  }

  /** The layer-1 block of which everything else is read. */
  private pin(): Promise<HashedHeader> {
    const accept = (answer: unknown) => {
      const verdict = verifyHeader(answer);
      if (!verdict.verified) throw refused('layer-1 header', verdict);
      return verdict;
    };
    return this.ask('eth_getBlockByNumber', ['finalized', false], accept, ({ hash }) => bytesToHex(hash));
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
    if (!this.options.prove) return toNumber(await this.call(pinned, CURRENT_BLOCK));
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
      return toNumber(verdict.slots[0]!.value);
    };
    return this.ask('eth_getProof', [address, keys, toQuantity(pinned.header.number)], accept, String);
  }

  private async rootAt(pinned: HashedHeader, number: number): Promise<Uint8Array> {
    const { rollup, prove } = this.options;
    const argument = bigIntToBytes(BigInt(number), 32);
    if (!prove) return this.call(pinned, bytesToHex(concatBytes(hexToBytes(STATE_ROOTS), argument)));
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
    if (this.roots.size > MAX_ROOTS) this.roots.delete(this.roots.keys().next().value!);
    if (this.latest !== undefined) await this.options.store?.save({ newest: this.latest, roots: this.roots });
  }

  /** What an earlier session has seen. */
  private restored(): Promise<void> {
    this.restoring ??= Promise.resolve(this.options.store?.load()).then((known) => {
      for (const [number, root] of known?.roots ?? []) this.roots.set(number, root);
      this.latest ??= known?.newest;
    });
    return this.restoring;
  }
}

function isUnreachable(error: unknown): boolean {
  return (
    isPlumblineError(error, 'UPSTREAM_UNAVAILABLE') ||
    isPlumblineError(error, 'UPSTREAM_RATE_LIMITED') ||
    isPlumblineError(error, 'REQUEST_TIMED_OUT')
  );
}

function toNumber(word: Uint8Array): number {
  const value = bytesToBigInt(word);
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  const details = { what: 'finalized block', value: value.toString(), limit: '2^53 - 1' };
  throw new PlumblineError('OUT_OF_RANGE', 'the finalized block is above 2^53 - 1', details);
}

function readEvent(json: unknown, at: string, address: Hex): FinalizationEvent {
  const log = readObject(json, at);
  const topics = readArray(log.topics, `${at}.topics`).map((topic, i) => readBytes(topic, `${at}.topics[${i}]`, 32));
  const [topic, first, last] = topics;
  const data = readBytes(log.data, `${at}.data`, 64);
  const ours = typeof log.address === 'string' && log.address.toLowerCase() === address.toLowerCase();
  if (!ours || topic === undefined || bytesToHex(topic) !== DATA_FINALIZED || last === undefined) {
    throw refused('finalization event', { verified: false, reason: 'OTHER_EVENT', at, message: 'is of another kind' });
  }
  return { first: toNumber(first!), last: toNumber(last), root: data.subarray(32).slice() };
}
