import { isPlumblineError, PlumblineError } from '../../../errors.js';
import type { RollupContract } from '../../../networks/network.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, isZeroBytes } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { verifyEthereumProof } from '../../../proof/ethereum-proof.js';
import { type HashedHeader, verifyHeader } from '../../../proof/headers.js';
import { readArray, readBytes, readObject } from '../../../proof/json-reader.js';
import { anchorSlots, verifyL1Anchor } from '../../../proof/l1-anchor.js';
import type { EndpointInfo } from '../../../upstream/failure.js';
import type { AnswerValidator, EndpointGroup } from '../../../upstream/group.js';
import { answerRefused, requireFinalized, withoutContract, withoutFinal } from '../refused.js';

/** Which rollup contract is read, and what must confirm the answers of layer-1 endpoints. */
export interface RollupReading {
  readonly rollup: RollupContract;
  /**
   * Whether to read by `eth_getProof` and verify against the header, not by `eth_call`. Of the header itself, which the
   * endpoint names, only the hash is checked.
   */
  readonly prove: boolean;
  /** Hash of a trusted layer-1 block, 32 bytes. Everything is proved against its header; newer blocks are not read. */
  readonly header?: Uint8Array | undefined;
  /**
   * The newest final layer-1 block that consensus proves: its hash, 32 bytes. Everything is proved against its header.
   *
   * @throws PlumblineError as `LayerOneFollower.finalized`
   */
  readonly finalHash?: ((signal?: AbortSignal) => Promise<Uint8Array>) | undefined;
  /** Number of layer-1 origins that must agree. Default: 1. */
  readonly agreeing?: number | undefined;
}

/** Getters of the rollup contract. @source docs/spec/json-rpc.md 6 */
const CURRENT_BLOCK: Hex = '0x695378f5';
const STATE_ROOTS: Hex = '0x8be745d1';
const BLOCK_HASHES: Hex = '0x34cdf78d';

/** What layer 1 stores of a finalized block. At least one is there; the hash decides if both are (docs/spec/rollup-versions.md 5). */
export interface Anchor {
  /** Root of the zk state after the block, 32 bytes. */
  readonly root?: Uint8Array | undefined;
  /** Of the block, 32 bytes. */
  readonly hash?: Uint8Array | undefined;
}

/**
 * Reads the rollup contract on layer 1. All values for one request are read at one block, and proved against its header if
 * requested.
 */
export class RollupReader {
  private readonly proves: boolean;

  constructor(
    private readonly group: EndpointGroup,
    private readonly reading: RollupReading,
  ) {
    this.proves = reading.prove || reading.header !== undefined || reading.finalHash !== undefined;
  }

  /** The origins that are asked, in one text. */
  get origins(): string {
    return [...new Set(this.group.endpoints.map(({ origin }) => origin))].join(', ');
  }

  /**
   * The layer-1 block at which everything else is read.
   *
   * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
   */
  async pin(signal?: AbortSignal): Promise<HashedHeader> {
    const { agreeing = 1, finalHash } = this.reading;
    const header = this.reading.header ?? (await finalHash?.(signal));
    const read = (answer: unknown, number?: number) => {
      const asked = { ...(header !== undefined && { hash: header }), ...(number !== undefined && { number }) };
      const verdict = verifyHeader(answer, asked);
      if (!verdict.verified) throw answerRefused('layer-1 header', verdict);
      return verdict;
    };
    const accept = (answer: unknown) => read(answer);
    if (header !== undefined) {
      const key = ({ hash }: HashedHeader) => bytesToHex(hash);
      return this.ask('eth_getBlockByHash', [bytesToHex(header), false], accept, key, signal);
    }
    const acceptFinal: AnswerValidator<unknown, HashedHeader> = (answer, from) => {
      requireFinalized(from, answer);
      return read(answer);
    };
    if (agreeing === 1)
      return this.group
        .request('eth_getBlockByNumber', ['finalized', false], { accept: acceptFinal, ...(signal && { signal }) })
        .catch(withoutFinal);
    const { sharedFinalized } = await import('./shared-finalized.js');
    const readFinal = (answer: unknown, from: EndpointInfo, number?: number) => {
      requireFinalized(from, answer);
      return read(answer, number);
    };
    return sharedFinalized(this.group, agreeing, readFinal, signal);
  }

  /** Asks one endpoint after the other, or several at the same time if more than one must agree. */
  private async ask<T>(
    method: string,
    params: readonly unknown[],
    accept: AnswerValidator<unknown, T>,
    key: (value: T) => string,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const { agreeing = 1 } = this.reading;
    const stop = signal && { signal };
    if (agreeing === 1) return this.group.request(method, params, { accept, ...stop });
    return (await this.group.requestAll(method, params, { needed: agreeing, accept, key, ...stop })).value;
  }

  /** Number of the newest finalized block. @throws as `pin` */
  async currentAt(pinned: HashedHeader, signal?: AbortSignal): Promise<number> {
    if (!this.proves) return blockNumberOf(await this.call(pinned, CURRENT_BLOCK, signal));
    const { address, currentBlockSlot } = this.reading.rollup;
    const request = {
      address: hexToBytes(address, 20),
      storageKeys: [bigIntToBytes(currentBlockSlot, 32)],
      stateRoot: pinned.header.stateRoot,
    };
    const keys = request.storageKeys.map(bytesToHex);
    const accept: AnswerValidator<unknown, number> = (answer, from) => {
      const verdict = verifyEthereumProof(request, answer);
      if (!verdict.verified) throw answerRefused('rollup contract', verdict);
      if (verdict.account === undefined) throw withoutContract(from, address);
      return blockNumberOf(verdict.slots[0]!.value);
    };
    return this.ask('eth_getProof', [address, keys, toQuantity(pinned.header.number)], accept, String, signal);
  }

  /** What is stored of a block; undefined if no finalization ended there. @throws as `pin` */
  async anchorAt(pinned: HashedHeader, number: number, signal?: AbortSignal): Promise<Anchor | undefined> {
    const { rollup } = this.reading;
    if (!this.proves) return this.calledAnchor(pinned, number, signal);
    const keys = anchorSlots(rollup, number).map(bytesToHex);
    const accept = (answer: unknown): Anchor | undefined => {
      const request = { l1StateRoot: pinned.header.stateRoot, rollup, l2BlockNumber: number };
      const verdict = verifyL1Anchor(request, answer);
      if (verdict.verified) return { root: verdict.stateRoot, hash: verdict.blockHash };
      if (verdict.reason === 'NO_FINALIZATION_AT_BLOCK') return undefined;
      throw answerRefused('rollup contract', verdict);
    };
    const params = [rollup.address, keys, toQuantity(pinned.header.number)];
    return this.ask('eth_getProof', params, accept, textOf, signal);
  }

  private async calledAnchor(pinned: HashedHeader, number: number, signal?: AbortSignal): Promise<Anchor | undefined> {
    const read = async (getter: Hex) => {
      const argument = bigIntToBytes(BigInt(number), 32);
      const value = await this.call(pinned, bytesToHex(concatBytes(hexToBytes(getter), argument)), signal);
      return isZeroBytes(value) ? undefined : value;
    };
    // A contract that stores no hashes has no such getter, and reverts.
    const hash =
      this.reading.rollup.blockHashesSlot === undefined
        ? undefined
        : await read(BLOCK_HASHES).catch((error: unknown) => {
            if (isPlumblineError(error, 'UPSTREAM_ERROR') && isRevert(error.details)) return undefined;
            throw error;
          });
    const root = await read(STATE_ROOTS);
    return root === undefined && hash === undefined ? undefined : { root, hash };
  }

  /** Calls a getter at the pinned block. The block is named by hash, so that no other block of its number is used. */
  private call(pinned: HashedHeader, data: Hex, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const block = { blockHash: bytesToHex(pinned.hash) };
    const accept: AnswerValidator<unknown, Uint8Array> = (answer, from) => {
      if (answer === '0x') throw withoutContract(from, this.reading.rollup.address);
      return readBytes(answer, 'the answer', 32);
    };
    return this.ask('eth_call', [{ to: this.reading.rollup.address, data }, block], accept, bytesToHex, signal);
  }

  /**
   * Finalization events in a range of layer-1 blocks, both ends included.
   *
   * @throws PlumblineError `PROOF_MALFORMED`, of the endpoints
   */
  async events(from: number, to: number, signal?: AbortSignal): Promise<FinalizationEvent[]> {
    const { address } = this.reading.rollup;
    const filter = {
      address,
      topics: [[...FINALIZATION_EVENTS.keys()]],
      fromBlock: toQuantity(from),
      toBlock: toQuantity(to),
    };
    return this.group.request('eth_getLogs', [filter], {
      ...(signal && { signal }),
      accept: (answer) => readArray(answer, '').map((log, i) => readFinalization(log, `[${i}]`, address)),
    });
  }
}

const isRevert = ({ code, message }: { readonly code: number; readonly message: string }) =>
  code === 3 || /revert/i.test(message);

/** A finalization event. It covers the blocks `first` to `last`; the contract stores a root, or a hash, of `last` only. */
export interface FinalizationEvent {
  readonly first: number;
  readonly last: number;
}

/** Bytes of data of the finalization events, by their topic. @source docs/spec/json-rpc.md 6, docs/spec/rollup-versions.md 2 */
export const FINALIZATION_EVENTS: ReadonlyMap<Hex, number> = new Map([
  ['0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb', 64],
  ['0x86710ea04c20fbcfc0b7200362c5174c71b7183bbc324b36a83f61824be0cdef', 96],
]);

/** An anchor as text, for comparison. */
const textOf = (anchor: Anchor | undefined) =>
  [anchor?.root, anchor?.hash].map((word) => word && bytesToHex(word)).join(' ');

/**
 * Reads one log of the rollup contract.
 *
 * @param at - its path in the answer
 * @param address - of the rollup contract
 * @throws PlumblineError `ANSWER_REFUSED` for another event; `PROOF_MALFORMED`; `OUT_OF_RANGE`
 */
function readFinalization(json: unknown, at: string, address: Hex): FinalizationEvent {
  const log = readObject(json, at);
  const topics = readArray(log.topics, `${at}.topics`).map((topic, i) => readBytes(topic, `${at}.topics[${i}]`, 32));
  const [topic, first, last] = topics;
  const length = topic && FINALIZATION_EVENTS.get(bytesToHex(topic));
  const ours = typeof log.address === 'string' && log.address.toLowerCase() === address.toLowerCase();
  if (!ours || length === undefined || last === undefined) {
    throw answerRefused('finalization event', {
      verified: false,
      reason: 'OTHER_EVENT',
      at,
      message: 'is another event, or of another contract',
    });
  }
  readBytes(log.data, `${at}.data`, length);
  return { first: blockNumberOf(first!), last: blockNumberOf(last) };
}

/** A layer-2 block number from a word of 32 bytes. @throws PlumblineError `OUT_OF_RANGE` above 2^53 - 1 */
function blockNumberOf(word: Uint8Array): number {
  const value = bytesToBigInt(word);
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  const details = { what: 'finalized block', value: value.toString(), limit: '2^53 - 1' };
  throw new PlumblineError('OUT_OF_RANGE', 'the number of the finalized block is above 2^53 - 1', details);
}
