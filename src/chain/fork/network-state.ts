import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import { UnknownNodeError } from '../../ethereum/patricia-trie.js';
import { partialRoot, StateTrie, type TrieProof } from '../../ethereum/state-trie.js';
import type { StateReader } from '../../evm/state-reader.js';
import { keccak256 } from '../../kernel/keccak.js';
import { bigIntToBytes, bytesToKey, copyBytes, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { BudgetedTable } from '../../store/budgeted-table.js';
import type { Block } from '../block.js';
import type { Reading } from '../devnet/state/flat-state.js';
import type { LightChain } from '../light/light-chain.js';
import { AccessSet } from '../light/state/access-set.js';
import { repeatRuns } from '../light/state/prefetch-call.js';
import { PrefetchReader } from '../light/state/prefetch-reader.js';
import { prefetchBudget } from '../light/state/prepared-call.js';
import { CodeCache, LightState, type ProvedState, ProvedStates } from '../light/state/proved-state.js';

/** Where the state of a network comes from, and where it is kept. */
export interface NetworkStateParts {
  readonly network: Pick<LightChain, 'fetchState'>;
  /** The state is that after this block. */
  readonly block: Block;
  /** Keeps nodes of proofs for later sessions. */
  readonly nodes?: BudgetedTable | undefined;
  /** Keeps code. */
  readonly codes?: BudgetedTable | undefined;
}

/** Most accounts and slots that are prefetched at a time. */
const MAX_PREFETCHED = 512;

/**
 * The state of a network after one block, read as needed. What was read is kept as nodes of proofs under the state root of the
 * block, and code under its hash, so that a later read of it sends no request and proves it again. Where something has to be
 * fetched, what will probably be read next is fetched with it.
 */
export class NetworkState {
  readonly block: Block;
  /** The known part of the state, to be written on. */
  readonly trie: StateTrie;
  private readonly nodes: KeptNodes;
  private readonly states: ProvedStates;
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
    this.states = before?.states ?? new ProvedStates(new CodeCache(parts.codes));
    this.trie = StateTrie.from(stateRoot, partialRoot(this.nodes, stateRoot));
  }

  reader({ onBelow, ...reading }: Reading): StateReader {
    const proved = this.states.at(this.block.header.stateRoot);
    const left = prefetchBudget();
    const state = new LightState(proved, async (accesses) => {
      const open = await this.unknown(proved, accesses);
      if (open.isEmpty) return;
      open.addAll(await this.unknown(proved, await toPrefetch(proved, reading, left)));
      await this.fetch(open, reading.signal, proved);
    });
    return {
      account: async (address) => {
        onBelow?.();
        return state.account(address);
      },
      slot: async (address, slot) => {
        onBelow?.();
        return state.slot(address, slot);
      },
      code: async (codeHash) => {
        onBelow?.();
        const holder = this.holders.get(bytesToKey(codeHash));
        if (holder !== undefined && proved.holderOf(codeHash) === undefined) await state.account(holder);
        return state.code(codeHash);
      },
    };
  }

  /** Notes which account has a code. @param address - 20 bytes. @param codeHash - 32 bytes */
  noteHolder(address: Uint8Array, codeHash: Uint8Array): void {
    if (!equalBytes(codeHash, EMPTY_CODE_HASH)) this.holders.set(bytesToKey(codeHash), copyBytes(address));
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
        await this.fetch(accessesOf(address, keys), signal);
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

  /** Fetches accounts, slots and code. @throws PlumblineError of the network */
  async fetch(
    accesses: AccessSet,
    signal?: AbortSignal,
    state: ProvedState = this.states.at(this.block.header.stateRoot),
  ): Promise<void> {
    const { network, block } = this.parts;
    await network.fetchState({ block, state, accesses, signal, onNode: (node) => this.nodes.add(node) });
  }

  /** The part of `accesses` that is not kept. What is kept is put into `proved`. */
  private async unknown(proved: ProvedState, accesses: AccessSet): Promise<AccessSet> {
    for (const { address, slots, code } of proved.missing(accesses)) {
      const known = await this.kept(address, []);
      if (known === undefined) continue;
      const values = new Map<string, Uint8Array>();
      for (const [name, slot] of slots) {
        const [value] = (await this.kept(address, [slot]))?.storage ?? [];
        if (value !== undefined) values.set(name, bigIntToBytes(value.value, 32));
      }
      proved.take(new Map([[bytesToKey(address), { account: known.account, slots: values }]]));
      if (code && known.account !== undefined) await proved.codes.load(known.account.codeHash);
    }
    return proved.missing(accesses);
  }

  /** A proof from what is kept; undefined where that does not suffice. */
  private async kept(address: Uint8Array, keys: readonly Uint8Array[]): Promise<TrieProof | undefined> {
    try {
      const { stateRoot } = this.block.header;
      return await this.complete(
        () => this.trie.prove(stateRoot, address, keys),
        async () => false,
      );
    } catch (error) {
      if (error instanceof UnknownNodeError) return undefined;
      throw error;
    }
  }
}

function accessesOf(address: Uint8Array, keys: readonly Uint8Array[]): AccessSet {
  const accesses = new AccessSet().addAccount(address);
  for (const key of keys) accesses.addSlot(address, key);
  return accesses;
}

/** What prefetch runs read, as far as gas and time suffice. @throws PlumblineError as `repeatRuns` */
async function toPrefetch(
  proved: ProvedState,
  { prefetchRun, signal, gas }: Reading,
  left: ReturnType<typeof prefetchBudget>,
): Promise<AccessSet> {
  const reader = new PrefetchReader(proved, [], [], MAX_PREFETCHED);
  if (prefetchRun === undefined || left.gas <= 0 || left.ms <= 0) return reader.accesses;
  await repeatRuns({ left, signal, gas }, async (limits) => {
    reader.beginRun();
    // What is done afterwards reports the error.
    const ended = await prefetchRun(reader, limits).catch(() => true);
    return !ended && reader.nextGuess();
  });
  return reader.accesses;
}

/** Most bytes of nodes that are kept in memory; the least recently used node is dropped first. A node has 532 bytes at most. */
const MAX_BYTES = 32 * 2 ** 20;

/** Nodes of Merkle-Patricia tries by their hash. A node under its hash cannot be a wrong one. */
export class KeptNodes {
  private readonly nodes = new Map<string, Uint8Array>();
  private bytes = 0;

  /** @param table - stores nodes for later sessions */
  constructor(
    private readonly table: BudgetedTable | undefined,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  /** @param key - `bytesToKey` of the hash. @returns undefined for a node that is not in memory */
  get(key: string): Uint8Array | undefined {
    const node = this.nodes.get(key);
    if (node === undefined) return undefined;
    this.nodes.delete(key);
    this.nodes.set(key, node);
    return node;
  }

  /** Reads a stored node into memory. @param hash - 32 bytes. @returns whether the store has it */
  async load(hash: Uint8Array): Promise<boolean> {
    const node = await this.table?.get(nameOf(hash));
    if (node === undefined || !equalBytes(keccak256(node), hash)) return false;
    this.keep(bytesToKey(hash), node);
    return true;
  }

  /** Keeps a node, in the store too. */
  add(node: Uint8Array): void {
    const hash = keccak256(node);
    const key = bytesToKey(hash);
    if (this.nodes.has(key)) return;
    this.keep(key, node);
    void this.table?.put(nameOf(hash), node);
  }

  private keep(key: string, node: Uint8Array): void {
    if (this.nodes.has(key)) return;
    this.nodes.set(key, node);
    this.bytes += node.length;
    for (const [oldest, dropped] of this.nodes) {
      if (this.bytes <= this.maxBytes) break;
      this.nodes.delete(oldest);
      this.bytes -= dropped.length;
    }
  }
}

function nameOf(hash: Uint8Array): string {
  return `node ${bytesToHex(hash)}`;
}
