import { PlumblineError } from '../../errors.js';
import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import { partialRoot } from '../../ethereum/partial-trie.js';
import { UnknownNodeError } from '../../ethereum/patricia-node.js';
import { StateTrie, type TrieProof } from '../../ethereum/state-trie.js';
import type { StateReader } from '../../evm/state/state-reader.js';
import { bigIntToBytes, bytesToKey, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { BudgetedTable } from '../../store/budgeted-table.js';
import type { Block, Chain } from '../chain.js';
import type { Reading } from '../devnet/state/flat-state.js';
import { CodeCache } from '../light/state/code-cache.js';
import { KeptNodes } from './kept-nodes.js';

/** Where the state of a network comes from, and where it is kept. */
export interface NetworkStateParts {
  readonly network: Pick<Chain, 'proof' | 'stateAt'>;
  /** The state is that after this block. */
  readonly block: Block;
  /** Keeps nodes of proofs for later sessions. */
  readonly nodes?: BudgetedTable | undefined;
  /** Keeps code. */
  readonly codes?: BudgetedTable | undefined;
}

const NO_CODE = new Uint8Array(0);

/**
 * The state of a network after one block, read as needed. What was read is kept as nodes of proofs under the state root of the
 * block, and code under its hash, so that a later read of it sends no request and proves it again.
 */
export class NetworkState {
  readonly block: Block;
  /** The known part of the state, to be written on. */
  readonly trie: StateTrie;
  private readonly nodes: KeptNodes;
  private readonly codes: CodeCache;
  /** Address of an account by `bytesToKey` of its code hash. */
  private readonly holders = new Map<string, Uint8Array>();

  /** @param before - of the same block: what it keeps in memory is kept on, without what was written on its trie */
  constructor(
    private readonly parts: NetworkStateParts,
    before?: NetworkState,
  ) {
    const { stateRoot } = parts.block.header;
    this.block = parts.block;
    this.nodes = before?.nodes ?? new KeptNodes(parts.nodes);
    this.codes = before?.codes ?? new CodeCache(parts.codes);
    this.trie = StateTrie.from(stateRoot, partialRoot(this.nodes, stateRoot));
  }

  reader({ signal, onBelow }: Reading): StateReader {
    const read = async (address: Uint8Array, keys: readonly Uint8Array[]) => {
      onBelow?.();
      return this.prove(this.block.header.stateRoot, address, keys, signal);
    };
    return {
      account: async (address) => {
        const { account } = await read(address, []);
        if (account === undefined) return undefined;
        this.noteHolder(address, account.codeHash);
        return account;
      },
      slot: async (address, slot) => bigIntToBytes((await read(address, [slot])).storage[0]!.value, 32),
      code: async (codeHash) => {
        if (equalBytes(codeHash, EMPTY_CODE_HASH)) return NO_CODE;
        onBelow?.();
        return (await this.codes.load(codeHash)) ?? this.fetchCode(codeHash, signal);
      },
    };
  }

  /** Notes which account has a code. @param address - 20 bytes. @param codeHash - 32 bytes */
  noteHolder(address: Uint8Array, codeHash: Uint8Array): void {
    if (!equalBytes(codeHash, EMPTY_CODE_HASH)) this.holders.set(bytesToKey(codeHash), address.slice());
  }

  /**
   * Proofs under a root that is held in `trie`.
   *
   * @throws PlumblineError of the network where a part of them is not kept
   */
  prove(root: Uint8Array, address: Uint8Array, keys: readonly Uint8Array[], signal?: AbortSignal): Promise<TrieProof> {
    let isFetched = false;
    return this.complete(
      () => this.trie.prove(root, address, keys),
      async () => {
        if (isFetched) return false;
        isFetched = true;
        await this.fetch(address, keys, signal);
        return true;
      },
    );
  }

  /**
   * The result of work on `trie` that may need nodes that are not in memory.
   *
   * @param more - fetches what is not kept either. @returns whether the work can be tried again
   * @throws UnknownNodeError where it cannot
   */
  async complete<Result>(work: () => Result, more: (missing: UnknownNodeError) => Promise<boolean>): Promise<Result> {
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof UnknownNodeError)) throw error;
        if (!(await this.nodes.load(error.hash)) && !(await more(error))) throw error;
      }
    }
  }

  /** Fetches the proofs of an account and slots. @throws PlumblineError of the network */
  async fetch(address: Uint8Array, keys: readonly Uint8Array[], signal?: AbortSignal): Promise<void> {
    const { network, block } = this.parts;
    const { accountProof, storage } = await network.proof(address, keys, block, signal);
    for (const node of accountProof) this.nodes.add(node);
    for (const { proof } of storage) for (const node of proof) this.nodes.add(node);
  }

  private async fetchCode(codeHash: Uint8Array, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const { network, block } = this.parts;
    const holder = this.holders.get(bytesToKey(codeHash));
    const state = await network.stateAt(block, signal);
    const account = holder && (await state.account(holder));
    if (account === undefined || !equalBytes(account.codeHash, codeHash)) {
      const reason = `no known account has the code ${bytesToHex(codeHash)}`;
      throw new PlumblineError('INTERNAL', reason, { reason });
    }
    const code = await state.code(codeHash);
    this.codes.put(codeHash, code);
    return code;
  }
}
