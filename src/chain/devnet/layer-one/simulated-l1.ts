import { PlumblineError } from '../../../errors.js';
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../../ethereum/constants.js';
import { type BlockHeader, headerHash } from '../../../ethereum/header.js';
import { orderedRoot } from '../../../ethereum/ordered-trie.js';
import { encodeReceipt, type Log, logsBloom } from '../../../ethereum/receipt.js';
import { plainAccount, StateTrie, type TrieProof } from '../../../ethereum/state-trie.js';
import { keccak256 } from '../../../kernel/keccak.js';
import type { RollupContract } from '../../../networks/network.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, ZERO_ADDRESS, ZERO_WORD } from '../../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import { dataFinalizedLog, type Finalization, SELECTORS } from './rollup-abi.js';

/** One block of the simulated layer 1. */
export interface L1Block {
  readonly header: BlockHeader;
  readonly hash: Uint8Array;
  readonly number: number;
  /** Unix time in seconds, later than that of the block before. */
  readonly timestamp: number;
  readonly logs: readonly Log[];
  /** `currentL2BlockNumber` of the rollup contract after this block. */
  readonly finalizedBlock: number;
}

const word = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);

/** The finalizing transaction is not simulated, but its receipt is, so that logs can be checked against the header. */
function receiptsRoot(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return EMPTY_TRIE_ROOT;
  return orderedRoot([encodeReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 0n, logs })]);
}

/** Values that differ from block to block. */
interface BlockParts {
  readonly parent: SealedBlock | undefined;
  readonly stateRoot: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  /** `stateRootHashes` of `finalizedBlock`. */
  readonly finalRoot: Uint8Array;
  readonly timestamp: number;
  readonly finalizedBlock: number;
  /** Undefined for the genesis block. */
  readonly finalization: Finalization | undefined;
  /** Address of the rollup contract. */
  readonly rollup: Uint8Array;
}

const NO_DATA = new Uint8Array(0);
const ZERO_NONCE = new Uint8Array(8);

function logsOf(rollup: Uint8Array, finalization: Finalization | undefined): Log[] {
  return finalization === undefined ? [] : [dataFinalizedLog(rollup, finalization)];
}

/**
 * A block that stores only its hashes, concatenated. Its header and log are built when they are read: there is one
 * block for each finalization, and few are read.
 */
class SealedBlock implements L1Block {
  readonly finalizedBlock: number;
  readonly number: number;
  readonly timestamp: number;
  private readonly parent: SealedBlock | undefined;
  private readonly rollup: Uint8Array;
  /** First layer-2 block of the finalization, and the finalization's time. */
  private readonly finalization: Pick<Finalization, 'first' | 'timestamp'> | undefined;
  /** State root, receipts root, zk state root before and after the finalization, own hash: 32 bytes each. */
  private readonly words: Uint8Array;

  constructor({ parent, finalization, stateRoot, receiptsRoot, finalRoot, ...parts }: BlockParts) {
    this.finalizedBlock = parts.finalizedBlock;
    this.number = parent === undefined ? 0 : parent.number + 1;
    this.timestamp = parts.timestamp;
    this.parent = parent;
    this.rollup = parts.rollup;
    this.finalization = finalization && { first: finalization.first, timestamp: finalization.timestamp };
    const parentRoot = finalization?.parentRoot ?? ZERO_WORD;
    this.words = concatBytes(stateRoot, receiptsRoot, parentRoot, finalRoot, ZERO_WORD);
    this.words.set(headerHash(this.header), 4 * ZERO_WORD.length);
  }

  get stateRoot(): Uint8Array {
    return this.word(0);
  }

  get finalRoot(): Uint8Array {
    return this.word(3);
  }

  get hash(): Uint8Array {
    return this.word(4);
  }

  /** Earliest time of the block after this one. */
  get nextTimestamp(): number {
    return this.timestamp + 1;
  }

  get logs(): readonly Log[] {
    const roots = { parentRoot: this.word(2), finalRoot: this.finalRoot };
    const finalization = this.finalization && { ...this.finalization, ...roots, last: this.finalizedBlock };
    return logsOf(this.rollup, finalization);
  }

  get header(): BlockHeader {
    return {
      parentHash: this.parent?.hash ?? ZERO_WORD,
      sha3Uncles: EMPTY_UNCLES_HASH,
      miner: ZERO_ADDRESS,
      stateRoot: this.stateRoot,
      transactionsRoot: EMPTY_TRIE_ROOT,
      receiptsRoot: this.word(1),
      logsBloom: logsBloom(this.logs),
      difficulty: 0n,
      number: this.number,
      gasLimit: 60_000_000n,
      gasUsed: 0n,
      timestamp: this.timestamp,
      extraData: NO_DATA,
      mixHash: ZERO_WORD,
      nonce: ZERO_NONCE,
      baseFeePerGas: 1_000_000_000n,
    };
  }

  private word(index: number): Uint8Array {
    return this.words.slice(index * ZERO_WORD.length, (index + 1) * ZERO_WORD.length);
  }
}

/**
 * A layer 1 with one contract, the rollup's. It has one block for each finalization. State trie, headers, logs and
 * receipt roots are real, so verifiers read it in the same way as Ethereum. Most devnets are never asked for it, so
 * blocks are sealed by `settle`, before the layer 1 is read: that took half of the time of an empty block.
 */
export class SimulatedL1 {
  private readonly sealed: SealedBlock[] = [];
  private readonly address: Uint8Array;
  /** Index in `sealed` by the last layer-2 block of the finalization. */
  private readonly indexes = new Map<number, number>();
  /** Oldest block whose state can be proved. */
  private heldFrom = 0;
  /** Finalizations that are not sealed yet, by their last layer-2 block. */
  private readonly unsealed = new Map<number, Finalization>();
  private releaseTo = 0;

  private constructor(
    private readonly rollup: RollupContract,
    private readonly trie: StateTrie,
  ) {
    this.address = hexToBytes(rollup.address);
  }

  /** Opens with the genesis root of layer 2 finalized, as the contract's initializer does. */
  static create(rollup: RollupContract, genesisRoot: Uint8Array, timestamp: number): SimulatedL1 {
    const layerOne = new SimulatedL1(rollup, new StateTrie());
    layerOne.seal(0, genesisRoot, timestamp);
    return layerOne;
  }

  /** Finalizes layer-2 blocks. `stateRoot` and `height` include it at once, everything else after `settle`. */
  finalize(finalization: Finalization): void {
    this.unsealed.set(finalization.last, finalization);
  }

  /**
   * Seals the blocks of all finalizations. May run several times at once.
   *
   * @param before - awaited before each block; throws to end the work
   */
  async settle(before: () => Promise<void>): Promise<void> {
    while (this.unsealed.size > 0) {
      await before();
      const [finalization] = this.unsealed.values();
      if (finalization === undefined) return;
      const { last, finalRoot, timestamp } = finalization;
      this.unsealed.delete(last);
      this.seal(last, finalRoot, timestamp, finalization);
      this.releaseBefore(this.releaseTo);
    }
  }

  /** Number of the newest block, sealed or not. */
  get height(): number {
    return this.sealed.length - 1 + this.unsealed.size;
  }

  /** Removes the blocks after this one. */
  revertTo(number: number): void {
    const kept = number - (this.sealed.length - 1);
    for (const last of [...this.unsealed.keys()].slice(Math.max(0, kept))) this.unsealed.delete(last);
    if (kept >= 0) return;
    for (const dropped of this.sealed.splice(number + 1)) this.trie.release(dropped.stateRoot);
    const { header, finalizedBlock } = this.head;
    this.trie.revertTo(header.stateRoot);
    for (const block of [...this.indexes.keys()]) if (block > finalizedBlock) this.indexes.delete(block);
  }

  /** Releases the layer-1 states of finalizations that end before this layer-2 block. */
  releaseBefore(block: number): void {
    this.releaseTo = block;
    const newest = this.sealed.length - 1;
    for (; this.heldFrom < newest && this.sealed[this.heldFrom]!.finalizedBlock < block; this.heldFrom++) {
      this.trie.release(this.sealed[this.heldFrom]!.stateRoot);
    }
  }

  get head(): L1Block {
    return this.sealed[this.sealed.length - 1]!;
  }

  blocks(): readonly L1Block[] {
    return this.sealed;
  }

  /** `stateRootHashes(block)` after the newest block, sealed or not; undefined if no finalization ended at `block`. */
  stateRoot(block: number): Uint8Array | undefined {
    return this.unsealed.get(block)?.finalRoot ?? this.rootAt(this.head, block);
  }

  private rootAt(at: L1Block, block: number): Uint8Array | undefined {
    const index = block <= at.finalizedBlock ? this.indexes.get(block) : undefined;
    return index === undefined ? undefined : this.sealed[index]!.finalRoot;
  }

  /**
   * Answers a call to a getter of the rollup contract, on the state after a layer-1 block.
   *
   * @returns 32 bytes; undefined for a function that is not simulated
   */
  callRollup(at: L1Block, data: Uint8Array): Uint8Array | undefined {
    const selector = bytesToHex(data.subarray(0, 4));
    if (selector === SELECTORS.currentL2BlockNumber) return word(at.finalizedBlock);
    if (selector !== SELECTORS.stateRootHashes || data.length < 36) return undefined;
    return this.rootAt(at, Number(bytesToBigInt(data.subarray(4, 36)))) ?? word(0);
  }

  async prove(at: L1Block, address: Uint8Array, slots: readonly Uint8Array[]): Promise<TrieProof> {
    const { number, stateRoot } = at.header;
    if (number < this.heldFrom) {
      throw new PlumblineError(
        'STATE_NOT_HELD',
        `the state of layer-1 block ${number} is no longer held; ask for a newer block`,
        { block: number },
      );
    }
    return this.trie.prove(stateRoot, address, slots);
  }

  private seal(block: number, root: Uint8Array, timestamp: number, finalization?: Finalization): void {
    const rollup = this.address;
    const mappingSlot = keccak256(concatBytes(word(block), word(this.rollup.stateRootsSlot)));
    const stateRoot = this.trie.write([
      {
        address: rollup,
        account: plainAccount(1n, 0n),
        slots: [
          { key: word(this.rollup.currentBlockSlot), after: word(block) },
          { key: mappingSlot, after: root },
        ],
      },
    ]);
    this.trie.hold(stateRoot);
    this.indexes.set(block, this.sealed.length);
    const parent = this.sealed[this.sealed.length - 1];
    const sealed = new SealedBlock({
      parent,
      stateRoot,
      receiptsRoot: receiptsRoot(logsOf(rollup, finalization)),
      finalRoot: root,
      timestamp: Math.max(timestamp, parent?.nextTimestamp ?? 0),
      finalizedBlock: block,
      finalization,
      rollup,
    });
    this.sealed.push(sealed);
  }
}
