import { keccak_256 } from '@noble/hashes/sha3.js';
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../../../ethereum/constants.js';
import { type BlockHeader, headerHash } from '../../../ethereum/header.js';
import { orderedTrieRoot } from '../../../ethereum/ordered-trie.js';
import { encodeReceipt, type Log, logsBloom } from '../../../ethereum/receipt.js';
import { plainAccount, StateTrie, type TrieProof } from '../../../ethereum/state-trie.js';
import type { RollupContract } from '../../../networks/network.js';
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import { dataFinalizedLog, type Finalization, SELECTORS } from './rollup-abi.js';

/** One block of the simulated layer 1. */
export interface L1Block {
  readonly header: BlockHeader;
  readonly hash: Uint8Array;
  readonly logs: readonly Log[];
  /** Storage of the rollup contract as its getters read it after this block. */
  readonly finalizedBlock: number;
}

const word = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);

/** The finalizing transaction itself is not simulated, its receipt is: the logs can be checked against the header. */
async function receiptsRoot(logs: readonly Log[]): Promise<Uint8Array> {
  if (logs.length === 0) return EMPTY_TRIE_ROOT;
  return orderedTrieRoot([encodeReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 0n, logs })]);
}

/**
 * A layer 1 that knows one contract, the rollup's, and seals one block for each finalization. Its state trie, headers,
 * logs and receipts roots are real, so that whoever verifies against layer 1 reads it as they read Ethereum.
 */
export class SimulatedL1 {
  private readonly sealed: L1Block[] = [];
  private readonly roots = new Map<number, Uint8Array>();

  private constructor(
    private readonly rollup: RollupContract,
    private readonly trie: StateTrie,
  ) {}

  /** Opens with the genesis root of layer 2 as finalized, as the contract's initializer does. */
  static async create(rollup: RollupContract, genesisRoot: Uint8Array, timestamp: number): Promise<SimulatedL1> {
    const layerOne = new SimulatedL1(rollup, await StateTrie.create());
    await layerOne.seal(0, genesisRoot, timestamp, []);
    return layerOne;
  }

  async finalize(finalization: Finalization): Promise<L1Block> {
    const log = dataFinalizedLog(hexToBytes(this.rollup.address), finalization);
    return this.seal(finalization.last, finalization.finalRoot, finalization.timestamp, [log]);
  }

  get head(): L1Block {
    return this.sealed[this.sealed.length - 1]!;
  }

  blocks(): readonly L1Block[] {
    return this.sealed;
  }

  /** `stateRootHashes(block)` as it stood after `at`; undefined where no finalization ended. */
  stateRoot(block: number, at: L1Block = this.head): Uint8Array | undefined {
    return block <= at.finalizedBlock ? this.roots.get(block) : undefined;
  }

  /**
   * Answers a call of one of the rollup contract's getters as it stood after a block.
   *
   * @returns 32 bytes; undefined for a function that is not simulated
   */
  callRollup(at: L1Block, data: Uint8Array): Uint8Array | undefined {
    const selector = bytesToHex(data.subarray(0, 4));
    if (selector === SELECTORS.currentL2BlockNumber) return word(at.finalizedBlock);
    if (selector !== SELECTORS.stateRootHashes || data.length < 36) return undefined;
    return this.stateRoot(Number(bytesToBigInt(data.subarray(4, 36))), at) ?? word(0);
  }

  async prove(at: L1Block, address: Uint8Array, slots: readonly Uint8Array[]): Promise<TrieProof> {
    return this.trie.prove(at.header.stateRoot, address, slots);
  }

  private async seal(block: number, root: Uint8Array, timestamp: number, logs: readonly Log[]): Promise<L1Block> {
    const mappingSlot = keccak_256(concatBytes(word(block), word(this.rollup.stateRootsSlot)));
    const stateRoot = await this.trie.write([
      {
        address: hexToBytes(this.rollup.address),
        account: plainAccount(1n, 0n),
        slots: [
          { key: word(this.rollup.currentBlockSlot), after: word(block) },
          { key: mappingSlot, after: root },
        ],
      },
    ]);
    this.roots.set(block, root);
    const parent = this.sealed[this.sealed.length - 1];
    const header: BlockHeader = {
      parentHash: parent?.hash ?? new Uint8Array(32),
      sha3Uncles: EMPTY_UNCLES_HASH,
      miner: new Uint8Array(20),
      stateRoot,
      transactionsRoot: EMPTY_TRIE_ROOT,
      receiptsRoot: await receiptsRoot(logs),
      logsBloom: logsBloom(logs),
      difficulty: 0n,
      number: this.sealed.length,
      gasLimit: 60_000_000n,
      gasUsed: 0n,
      timestamp: Math.max(timestamp, (parent?.header.timestamp ?? -1) + 1),
      extraData: new Uint8Array(0),
      mixHash: new Uint8Array(32),
      nonce: new Uint8Array(8),
      baseFeePerGas: 1_000_000_000n,
    };
    const l1Block: L1Block = { header, hash: headerHash(header), logs, finalizedBlock: block };
    this.sealed.push(l1Block);
    return l1Block;
  }
}
