import { bytesToBigInt, bytesToKey, equalBytes, keyToBytes, ZERO_WORD } from '../../../primitives/bytes.js';
import { hexToBytes } from '../../../primitives/hex.js';
import { bloomTest } from '../../log-filter.js';
import type { Ledger } from '../records/ledger.js';

/** One finalization of the layer-2 blocks `first` to `last`. */
export interface Finalization extends BridgedBlocks {
  readonly first: number;
  readonly last: number;
  /** What the contract stores of a block: the zk state root after it, or its hash. */
  readonly kind: 'stateRoot' | 'blockHash';
  /** Of the block before `first`, 32 bytes; zero in the first finalization that stores a hash. */
  readonly parent: Uint8Array;
  /** Of `last`, 32 bytes. */
  readonly final: Uint8Array;
  /** Seconds. */
  readonly timestamp: number;
}

export const NONE_ANCHORED: AnchoredMessage = { number: 0n, rollingHash: ZERO_WORD };

/** What the newest finalization stores: the next one begins there. */
let newest = '';
/** The newest one without messages. */
let quiet: BridgedBlocks = { messages: [], messagingBlocks: [], anchored: NONE_ANCHORED };

/** A finalization that is held for as long as the devnet runs: its words are held as text, which takes a quarter of the memory. */
export class HeldFinalization implements Finalization {
  readonly #parent: string;
  readonly #final: string;
  readonly #bridged: BridgedBlocks;

  constructor(
    readonly first: number,
    readonly last: number,
    readonly timestamp: number,
    readonly kind: Finalization['kind'],
    parent: Uint8Array,
    final: Uint8Array,
    bridged: BridgedBlocks,
  ) {
    const before = bytesToKey(parent);
    this.#parent = before === newest ? newest : before;
    newest = bytesToKey(final);
    this.#final = newest;
    // Most have none, and what was anchored before.
    const isAsBefore = bridged.messages.length === 0 && bridged.anchored === quiet.anchored;
    if (!isAsBefore && bridged.messages.length === 0) quiet = bridged;
    this.#bridged = isAsBefore ? quiet : bridged;
  }

  get messages(): readonly Uint8Array[] {
    return this.#bridged.messages;
  }

  get messagingBlocks(): readonly number[] {
    return this.#bridged.messagingBlocks;
  }

  get anchored(): AnchoredMessage {
    return this.#bridged.anchored;
  }

  get parent(): Uint8Array {
    return keyToBytes(this.#parent);
  }

  get final(): Uint8Array {
    return keyToBytes(this.#final);
  }
}

/** Messages of layer-2 blocks, in both directions. */
export interface BridgedBlocks {
  /** Hashes of the messages to layer 1, in order of block and of log. */
  readonly messages: readonly Uint8Array[];
  /** The blocks that they are of. */
  readonly messagingBlocks: readonly number[];
  /** The last message of layer 1 that layer 2 has anchored by the last block. */
  readonly anchored: AnchoredMessage;
}

/** A message of layer 1 by its number, and the rolling hash up to it, 32 bytes. */
export interface AnchoredMessage {
  readonly number: bigint;
  readonly rollingHash: Uint8Array;
}

/** Topics of the message service on layer 2. @source docs/spec/messages.md 2, 7 */
const MESSAGE_SENT = hexToBytes('0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c', 32);
const ROLLING_HASH_UPDATED = hexToBytes('0x99b65a4301b38c09fb6a5f27052d73e8372bbe8f6779d678bfe8a41b66cce7ac', 32);

/**
 * The messages of layer-2 blocks by their logs. Blocks whose bodies were pruned tell none.
 *
 * @param service - address of the message service, 20 bytes
 * @param before - the last message that was anchored before
 */
export function bridgedBlocks(
  ledger: Ledger,
  service: Uint8Array,
  { first, last }: { readonly first: number; readonly last: number },
  before: AnchoredMessage,
): BridgedBlocks {
  const mayMatch = bloomTest({ addresses: [service], topics: [[MESSAGE_SENT, ROLLING_HASH_UPDATED]] });
  const messages: Uint8Array[] = [];
  const messagingBlocks: number[] = [];
  let anchored = before;
  for (let number = Math.max(first, ledger.pruned + 1); number <= last; number++) {
    if (!mayMatch(ledger.bloomOf(number)!)) continue;
    const logs = ledger.receiptsOf(ledger.blockByNumber(number)!).flatMap((receipt) => receipt.logs);
    for (const { address, topics } of logs) {
      const [event, second, third, fourth] = topics;
      if (event === undefined || !equalBytes(address, service)) continue;
      if (equalBytes(event, ROLLING_HASH_UPDATED)) anchored = { number: bytesToBigInt(second!), rollingHash: third! };
      if (!equalBytes(event, MESSAGE_SENT)) continue;
      messages.push(fourth!);
      if (messagingBlocks.at(-1) !== number) messagingBlocks.push(number);
    }
  }
  return { messages, messagingBlocks, anchored };
}
