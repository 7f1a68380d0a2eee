import type { Network } from '../../../networks/network.js';
import type { Commit, PageStore } from '../../../store/page-store.js';
import {
  type BlockRecord,
  decodeBlockRecord,
  encodeBlockRecord,
  type Pruned,
  pruneRecord,
} from '../records/block-record.js';
import {
  decodeHistory,
  encodeHistory,
  HISTORY_KEY,
  type Ledger,
  MergedChanges,
  type PrunedHistory,
} from '../records/ledger.js';
import { loadForRecord } from '../records/record-parts.js';
import type { DevnetState } from '../state/devnet-state.js';

/** Storage budget of a devnet. */
export interface DevnetBudget {
  /** For blocks and state. */
  readonly bytes: number;
  /** Bytes used now. */
  used(): Promise<number>;
}

/** Records rewritten in one commit. */
const BATCH = 256;
/** Share of the budget that may be used after pruning. */
const TARGET = 0.9;

/**
 * Keeps a devnet within its budget. Old blocks first lose their state changes, of which only the sum is kept, then
 * their bodies. Headers stay. Each commit leaves a store that can be opened. What is removed from the store is removed
 * from memory.
 */
export class Pruning {
  /** A commit failed, and may have succeeded. */
  private isUnsure = false;

  /** @param pruned - progress of earlier pruning */
  constructor(
    private readonly store: PageStore,
    private readonly chainId: number,
    private readonly budget: DevnetBudget,
    private readonly chain: { readonly ledger: Ledger; readonly state: DevnetState },
    private pruned: Omit<PrunedHistory, 'changes'>,
  ) {}

  /** Whether blocks have lost their state changes, or may have. */
  get hasPruned(): boolean {
    return this.pruned.changesTo > 0 || this.isUnsure;
  }

  /**
   * Called after each block. Never rejects: other writes report store failures.
   *
   * @param before - only blocks before this one may be pruned
   */
  async keepWithin(before: number): Promise<void> {
    try {
      const { bytes } = this.budget;
      if ((await this.budget.used()) <= bytes) return;
      for (const kind of ['changes', 'body'] as const) {
        while ((await this.budget.used()) > TARGET * bytes) {
          if (!(await this.prune(kind, before))) break;
        }
      }
    } catch {
      // Retried after the next block.
    }
  }

  /** @returns false if nothing more of this kind can be pruned */
  private async prune(kind: Pruned, before: number): Promise<boolean> {
    const history = await this.history();
    const { changesTo, bodiesTo } = history;
    this.pruned = { changesTo, bodiesTo };
    this.isUnsure = false;
    const from = (kind === 'changes' ? changesTo : bodiesTo) + 1;
    // A body is pruned only after the block's changes.
    const end = kind === 'changes' ? before : Math.min(before, changesTo + 1);
    const numbers = Array.from({ length: Math.max(0, Math.min(BATCH, end - from)) }, (_, i) => from + i);
    if (numbers.length === 0) return false;
    const records = await this.read(numbers);
    const to = from + records.length - 1;
    const puts: NonNullable<Commit['puts']>[number][] = records.map((record) => ({
      table: 'blocks',
      key: record.block.header.number,
      value: encodeBlockRecord(pruneRecord(record, kind)),
    }));
    const next = kind === 'changes' ? withChanges(history, records, to) : { ...history, bodiesTo: to };
    this.isUnsure = true;
    await this.store.commit({ puts: [...puts, { table: 'blocks', key: HISTORY_KEY, value: encodeHistory(next) }] });
    this.isUnsure = false;
    this.pruned = { changesTo: next.changesTo, bodiesTo: next.bodiesTo };
    const { ledger, state } = this.chain;
    if (kind === 'changes') state.flat.forgetBefore(to);
    else ledger.prune(to);
    return true;
  }

  private async history(): Promise<PrunedHistory> {
    return decodeHistory(await this.store.get('blocks', HISTORY_KEY));
  }

  /** Reads consecutive records, up to the first missing one. */
  private async read(numbers: readonly number[]): Promise<BlockRecord[]> {
    const values = await this.store.getMany('blocks', numbers);
    const records: BlockRecord[] = [];
    for (const value of values) {
      if (value === undefined) break;
      await loadForRecord(value);
      records.push(decodeBlockRecord(value, this.chainId));
    }
    return records;
  }
}

function withChanges(history: PrunedHistory, records: readonly BlockRecord[], changesTo: number): PrunedHistory {
  const sum = new MergedChanges(history.changes);
  for (const { changes } of records) sum.add(changes);
  return { ...history, changesTo, changes: sum.changes };
}

/** Of a devnet without a budget. */
const ANY_BYTES: DevnetBudget = { bytes: Number.POSITIVE_INFINITY, used: async () => 0 };

/** Pruning of a stored devnet; undefined if it has no budget, and had none before. */
export function openPruning(
  stored: { readonly pages: PageStore; readonly history: PrunedHistory },
  settings: { readonly network: Network; readonly budget?: DevnetBudget | undefined },
  chain: { readonly ledger: Ledger; readonly state: DevnetState },
): Pruning | undefined {
  const { network, budget = stored.history.changesTo > 0 ? ANY_BYTES : undefined } = settings;
  return budget && new Pruning(stored.pages, network.chainId, budget, chain, stored.history);
}
