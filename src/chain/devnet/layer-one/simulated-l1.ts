import { slotAtTime, timeOfFork } from '../../../consensus/slots.js';
import { PlumblineError } from '../../../errors.js';
import { abiWord, mappingSlot } from '../../../ethereum/abi.js';
import { EMPTY_REQUESTS_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../../ethereum/constants.js';
import { encodeTransaction } from '../../../ethereum/encode-transaction.js';
import { type BlockHeader, headerHash } from '../../../ethereum/header.js';
import { orderedTrieRoot } from '../../../ethereum/ordered-trie.js';
import { encodeReceipt, type Log, logsBloom } from '../../../ethereum/receipt.js';
import { StateTrie, type TrieProof } from '../../../ethereum/state-trie.js';
import { parseSignedTransaction, type SignedTransaction } from '../../../ethereum/transaction.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { type BeaconNetwork, type Network, type RollupContract, rollupOf } from '../../../networks/network.js';
import {
  bigIntToBytes,
  bytesToBigInt,
  bytesToKey,
  concatBytes,
  equalBytes,
  ZERO_ADDRESS,
  ZERO_WORD,
} from '../../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import type { Block, TransactionReceipt } from '../../block.js';
import { blockBytes } from '../../block-bytes.js';
import { dataFinalizedLog, type Finalization, SELECTORS } from './rollup-abi.js';

/** Chain id of the simulated layer 1. */
export const L1_CHAIN_ID = 1337;

/** One block of the simulated layer 1: the genesis block, or one with the transaction of a finalization. */
export interface L1Block extends Block {
  readonly receipts: readonly TransactionReceipt[];
  readonly number: number;
  /** Unix time in seconds, later than that of the block before. */
  readonly timestamp: number;
  readonly logs: readonly Log[];
  /** `currentL2BlockNumber` of the rollup contract after this block. */
  readonly finalizedBlock: number;
}

/** Who finalizes: `plumbline operator 1` in ASCII. */
const OPERATOR = hexToBytes('0x706c756d626c696e65206f70657261746f722031');
const BASE_FEE = 1_000_000_000n;
/** Gas that a finalization is said to use. */
const GAS_USED = 200_000n;

function receiptsRoot(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return EMPTY_TRIE_ROOT;
  return orderedTrieRoot([encodeReceipt({ type: 2, succeeded: true, cumulativeGasUsed: GAS_USED, logs })]);
}

/** The transaction that finalizes in the block of this number. Nothing is executed, so it has neither data nor a signature. */
function finalizingTransaction(rollup: Uint8Array, number: number): Uint8Array {
  const { v, r, s } = { v: 0n, r: UNSIGNED_R + bytesToBigInt(OPERATOR), s: 1n };
  return encodeTransaction(
    {
      type: 2,
      chainId: BigInt(L1_CHAIN_ID),
      nonce: BigInt(number - 1),
      maxFeePerGas: BASE_FEE,
      gasLimit: GAS_USED,
      to: rollup,
    },
    { v, r, s },
  );
}

/** Added to the sender in `r` of a transaction without a signature, as a devnet does for impersonated senders. */
const UNSIGNED_R = 2n ** 160n;

/**
 * Code of the rollup contract: `currentL2BlockNumber()`, `stateRootHashes(uint256)` and, if there is a slot for it, `blockHashes(uint256)`
 * over their slots; other calls revert.
 */
function rollupCode({ currentBlockSlot, stateRootsSlot, blockHashesSlot }: RollupContract): Uint8Array {
  const push = (value: bigint, bytes: number) => [0x5f + bytes, ...bigIntToBytes(value, bytes)];
  const selector = (hex: string) => push(BigInt(hex), 4);
  /** Selector on the stack: jumps to `to` if it is this one. */
  const when = (hex: string, to: number) => [0x80, ...selector(hex), 0x14, 0x61, to >> 8, to & 255, 0x57];
  const returnWord = [0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3];
  const current = [0x5b, ...push(currentBlockSlot, 32), 0x54, ...returnWord];
  const entry = (slot: bigint) => [
    ...[0x5b, 0x60, 0x04, 0x35, 0x5f, 0x52, ...push(slot, 32), 0x60, 0x20, 0x52],
    ...[0x60, 0x40, 0x5f, 0x20, 0x54, ...returnWord],
  ];
  const getters: [string, number[]][] = [
    [SELECTORS.currentL2BlockNumber, current],
    [SELECTORS.stateRootHashes, entry(stateRootsSlot)],
  ];
  if (blockHashesSlot !== undefined) getters.push([SELECTORS.blockHashes, entry(blockHashesSlot)]);
  const begin = [0x5f, 0x35, 0x60, 0xe0, 0x1c];
  const revert = [0x5f, 0x5f, 0xfd];
  let at = begin.length + getters.length * when(SELECTORS.blockHashes, 0).length + revert.length;
  const jumps = getters.flatMap(([selector, code]) => {
    const jump = when(selector, at);
    at += code.length;
    return jump;
  });
  return Uint8Array.from([...begin, ...jumps, ...revert, ...getters.flatMap(([, code]) => code)]);
}

/** Values that differ from block to block. */
interface BlockParts {
  readonly parent: SealedBlock | undefined;
  readonly stateRoot: Uint8Array;
  readonly receiptsRoot: Uint8Array;
  /** What the contract stores of `finalizedBlock`. */
  readonly final: Uint8Array;
  /** With the two members that a header has from Amsterdam on. */
  readonly slotNumber: number | undefined;
  readonly timestamp: number;
  readonly finalizedBlock: number;
  /** Undefined for the genesis block. */
  readonly finalization: Finalization | undefined;
  /** Address of the rollup contract. */
  readonly rollup: Uint8Array;
}

/** What a getter of one entry reads. */
const KINDS: ReadonlyMap<string, Finalization['kind']> = new Map([
  [SELECTORS.stateRootHashes, 'stateRoot'],
  [SELECTORS.blockHashes, 'blockHash'],
]);

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
  private readonly finalization: Pick<Finalization, 'first' | 'kind' | 'timestamp'> | undefined;
  private readonly slotNumber: number | undefined;
  /** State root, receipts root, what the contract stores of the block before the finalization and of its last, own hash: 32 bytes each. */
  private readonly words: Uint8Array;

  constructor({ parent, finalization, stateRoot, receiptsRoot, final, ...parts }: BlockParts) {
    this.finalizedBlock = parts.finalizedBlock;
    this.number = parent === undefined ? 0 : parent.number + 1;
    this.timestamp = parts.timestamp;
    this.parent = parent;
    this.rollup = parts.rollup;
    this.slotNumber = parts.slotNumber;
    if (finalization !== undefined) {
      const { first, kind, timestamp } = finalization;
      this.finalization = { first, kind, timestamp };
    }
    this.words = concatBytes(stateRoot, receiptsRoot, finalization?.parent ?? ZERO_WORD, final, ZERO_WORD);
    this.words.set(headerHash(this.header), 4 * ZERO_WORD.length);
  }

  get stateRoot(): Uint8Array {
    return this.word(0);
  }

  /** What the contract stores of its last block. */
  get kind(): Finalization['kind'] {
    return this.finalization?.kind ?? 'stateRoot';
  }

  get final(): Uint8Array {
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
    const words = { parent: this.word(2), final: this.final };
    const finalization = this.finalization && { ...this.finalization, ...words, last: this.finalizedBlock };
    return logsOf(this.rollup, finalization);
  }

  get transactions(): readonly SignedTransaction[] {
    if (this.finalization === undefined) return [];
    return [parseSignedTransaction(this.raw, L1_CHAIN_ID, { impersonated: OPERATOR })];
  }

  get receipts(): readonly TransactionReceipt[] {
    return this.transactions.map((transaction, index) => ({
      transaction,
      block: this,
      index,
      succeeded: true,
      gasUsed: GAS_USED,
      cumulativeGasUsed: GAS_USED,
      effectiveGasPrice: BASE_FEE,
      contractAddress: undefined,
      logs: this.logs,
      firstLogIndex: 0,
    }));
  }

  get size(): number {
    return blockBytes({ header: this.header, transactions: this.transactions, uncles: [], withdrawals: [] }).length;
  }

  /** Bytes of its transaction, if it has one. */
  get raw(): Uint8Array {
    return finalizingTransaction(this.rollup, this.number);
  }

  get header(): BlockHeader {
    const isEmpty = this.finalization === undefined;
    return {
      parentHash: this.parent?.hash ?? ZERO_WORD,
      sha3Uncles: EMPTY_UNCLES_HASH,
      miner: ZERO_ADDRESS,
      stateRoot: this.stateRoot,
      transactionsRoot: isEmpty ? EMPTY_TRIE_ROOT : orderedTrieRoot([this.raw]),
      receiptsRoot: this.word(1),
      logsBloom: logsBloom(this.logs),
      difficulty: 0n,
      number: this.number,
      gasLimit: 60_000_000n,
      gasUsed: isEmpty ? 0n : GAS_USED,
      timestamp: this.timestamp,
      extraData: NO_DATA,
      mixHash: ZERO_WORD,
      nonce: ZERO_NONCE,
      baseFeePerGas: BASE_FEE,
      ...(this.slotNumber !== undefined && { ...SINCE_PRAGUE, slotNumber: BigInt(this.slotNumber) }),
    };
  }

  private word(index: number): Uint8Array {
    return this.words.slice(index * ZERO_WORD.length, (index + 1) * ZERO_WORD.length);
  }
}

/** Members of a header of Amsterdam that earlier blocks of this layer 1 do not have. No block has withdrawals, blobs or requests. */
const SINCE_PRAGUE = {
  withdrawalsRoot: EMPTY_TRIE_ROOT,
  blobGasUsed: 0n,
  excessBlobGas: 0n,
  parentBeaconBlockRoot: ZERO_WORD,
  requestsHash: EMPTY_REQUESTS_HASH,
  // keccak-256 of an empty list, which is that of no uncles too.
  blockAccessListHash: EMPTY_UNCLES_HASH,
} as const;

/**
 * A layer 1 with one contract, the rollup's. It has one block with one transaction for each finalization; nothing is executed. State trie, headers, logs and
 * receipt roots are real, so verifiers read it in the same way as Ethereum. Most devnets are never asked for it, so
 * blocks are sealed by `settle`, before the layer 1 is read: that took half of the time of an empty block.
 */
export class SimulatedL1 {
  private readonly sealed: SealedBlock[] = [];
  private readonly address: Uint8Array;
  private readonly code: Uint8Array;
  /** Index in `sealed` by the last layer-2 block of the finalization. */
  private readonly indexes = new Map<number, number>();
  /** Index in `sealed` by the hash of the block's transaction. */
  private readonly transactions = new Map<string, number>();
  /** Oldest block whose state can be proved. */
  private heldFrom = 0;
  /** Finalizations that are not sealed yet, by their last layer-2 block. */
  private readonly unsealed = new Map<number, Finalization>();
  private releaseTo = 0;

  private constructor(
    private readonly rollup: RollupContract,
    private readonly beacon: BeaconNetwork | undefined,
    private readonly trie: StateTrie,
  ) {
    this.address = hexToBytes(rollup.address);
    this.code = rollupCode(rollup);
  }

  /** Opens with the genesis root of layer 2 finalized, as the contract's initializer does. */
  static create(network: Network, genesisRoot: Uint8Array, timestamp: number): SimulatedL1 {
    const { rollup, layerOne: beacon } = rollupOf(network);
    const layerOne = new SimulatedL1(rollup, typeof beacon === 'object' ? beacon : undefined, new StateTrie());
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
      const { last, final, timestamp } = finalization;
      this.unsealed.delete(last);
      this.seal(last, final, timestamp, finalization);
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
    for (const dropped of this.sealed.splice(number + 1)) {
      this.trie.release(dropped.stateRoot);
      this.transactions.delete(bytesToKey(keccak256(dropped.raw)));
    }
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

  /** The slot of a block from Amsterdam on, which begins with Gloas of the beacon chain. @param time - seconds */
  private slotAt(time: number): number | undefined {
    const { beacon } = this;
    const fork = beacon && timeOfFork(beacon, 'gloas');
    return fork !== undefined && time >= fork ? slotAtTime(beacon!, time * 1000) : undefined;
  }

  get head(): L1Block {
    return this.sealed[this.sealed.length - 1]!;
  }

  blocks(): readonly L1Block[] {
    return this.sealed;
  }

  /** `stateRootHashes(block)` after the newest block, sealed or not; undefined if no finalization ended at `block`. */
  stateRoot(block: number): Uint8Array | undefined {
    const finalization = this.unsealed.get(block);
    if (finalization?.kind === 'stateRoot') return finalization.final;
    return this.storedAt(this.head, block, 'stateRoot');
  }

  /** What the contract stores of a layer-2 block after a layer-1 block, if it stores that kind. */
  private storedAt(at: L1Block, block: number, kind: Finalization['kind']): Uint8Array | undefined {
    const index = block <= at.finalizedBlock ? this.indexes.get(block) : undefined;
    const sealed = index === undefined ? undefined : this.sealed[index]!;
    return sealed?.kind === kind ? sealed.final : undefined;
  }

  /**
   * Answers a call to a getter of the rollup contract, on the state after a layer-1 block.
   *
   * @returns 32 bytes; undefined for a function that is not simulated
   */
  callRollup(at: L1Block, data: Uint8Array): Uint8Array | undefined {
    const selector = bytesToHex(data.subarray(0, 4));
    if (selector === SELECTORS.currentL2BlockNumber) return abiWord(at.finalizedBlock);
    const kind = KINDS.get(selector);
    const isThere = kind === 'stateRoot' || this.rollup.blockHashesSlot !== undefined;
    if (kind === undefined || !isThere || data.length < 36) return undefined;
    return this.storedAt(at, Number(bytesToBigInt(data.subarray(4, 36))), kind) ?? abiWord(0);
  }

  /** Code of an account; no bytes for any but the rollup contract. @param address - 20 bytes */
  codeOf(address: Uint8Array): Uint8Array {
    return equalBytes(address, this.address) ? this.code : NO_DATA;
  }

  /** The block with a transaction. @param hash - 32 bytes */
  blockOfTransaction(hash: Uint8Array): L1Block | undefined {
    return this.sealed[this.transactions.get(bytesToKey(hash)) ?? -1];
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

  private seal(block: number, final: Uint8Array, timestamp: number, finalization?: Finalization): void {
    const rollup = this.address;
    const { stateRootsSlot, blockHashesSlot } = this.rollup;
    const mapping = finalization?.kind === 'blockHash' ? blockHashesSlot! : stateRootsSlot;
    const stateRoot = this.trie.write([
      {
        address: rollup,
        account: { nonce: 1n, balance: 0n, codeHash: keccak256(this.code) },
        slots: [
          { key: abiWord(this.rollup.currentBlockSlot), after: abiWord(block) },
          { key: mappingSlot(abiWord(block), mapping), after: final },
        ],
      },
    ]);
    this.trie.hold(stateRoot);
    this.indexes.set(block, this.sealed.length);
    const parent = this.sealed[this.sealed.length - 1];
    const time = Math.max(timestamp, parent?.nextTimestamp ?? 0);
    const sealed = new SealedBlock({
      parent,
      stateRoot,
      receiptsRoot: receiptsRoot(logsOf(rollup, finalization)),
      final,
      slotNumber: this.slotAt(time),
      timestamp: time,
      finalizedBlock: block,
      finalization,
      rollup,
    });
    if (finalization !== undefined) this.transactions.set(bytesToKey(keccak256(sealed.raw)), this.sealed.length);
    this.sealed.push(sealed);
  }
}
