import { invalidParameter } from '../../../errors.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { RunLimits } from '../../../evm/run-budget.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { SerialQueue } from '../../../scheduling/serial-queue.js';
import type { Block } from '../../block.js';
import type { StateEdit } from '../../state-edits.js';
import type { MiningMode, Tool } from '../options.js';
import type { Ledger } from '../records/ledger.js';
import type { MakingSettings, NextBlock } from '../settings.js';
import type { BlockState } from '../state/devnet-state.js';
import type { DumpedAccount } from '../state/flat-state.js';
import { type Executed, executeBlock, isRefusal } from './block-execution.js';
import type { BlockMaker } from './block-maker.js';
import type { Impersonation, TransactionRequest } from './impersonation.js';
import { type Mining, requireInterval } from './mining.js';
import { contextAfter } from './sealing.js';
import type { TransactionSubmission } from './transaction-submission.js';

/** Largest balance, wei. */
const LARGEST = 2n ** 256n - 1n;

/** Times of blocks that are mined on demand, in seconds. */
export interface MineTimes {
  /** Of the first block; chosen by the clock if left out. */
  readonly first?: number | undefined;
  /** Between each block and the next; chosen by the clock if left out. */
  readonly interval?: number | undefined;
  /** Goes by on the clock before the first block. */
  readonly before?: number | undefined;
}

/** The parts of a devnet that the control uses. */
export interface ControlParts {
  readonly settings: MakingSettings;
  readonly maker: BlockMaker;
  readonly mining: Mining;
  readonly submission: TransactionSubmission;
  readonly ledger: Ledger;
  readonly state: BlockState;
  readonly queue: SerialQueue;
}

/** A transaction of a reorg, signed or not, and the new block that includes it: 0 is the first. */
export interface ReorgTransaction {
  readonly transaction: Uint8Array | TransactionRequest;
  readonly block: number;
}

/** Developer controls of a devnet. Each call is queued behind earlier blocks and transactions. */
export class DevnetControl {
  private id: Uint8Array | undefined;

  constructor(private readonly parts: ControlParts) {}

  /** Random, 32 bytes: another one for each devnet that is opened. */
  get instanceId(): Uint8Array {
    this.id ??= crypto.getRandomValues(new Uint8Array(32));
    return this.id;
  }

  get tool(): Tool | undefined {
    return this.parts.settings.tool;
  }

  /** The block of a network on which this devnet is a fork. */
  get forkedFrom(): MakingSettings['forkedFrom'] {
    return this.parts.settings.forkedFrom;
  }

  /** Receiver of the priority fees of the next block, 20 bytes. */
  get coinbase(): Uint8Array {
    return this.parts.maker.next.coinbase;
  }

  /** The snapshots that can be reverted to. */
  get snapshots(): readonly { readonly id: number; readonly block: number }[] {
    return this.parts.maker.snapshotList;
  }

  get impersonation(): Impersonation {
    return this.parts.submission.impersonation;
  }

  get mining(): MiningMode {
    return this.parts.mining.mode;
  }

  /**
   * Seals blocks. The first one includes all transactions that can run. When it ends early, the blocks sealed until then stay.
   *
   * @param limits - of the request
   * @param onExecuted - called for each block with what its transactions did
   * @throws PlumblineError `INVALID_PARAMETER` for a time that is not after the newest block's; as `BlockMaker.seal`
   */
  mine(
    count: number,
    { first, interval, before }: MineTimes = {},
    limits?: RunLimits,
    onExecuted?: (executed: readonly Executed[]) => void,
  ): Promise<Block[]> {
    return this.enqueue(async ({ maker, ledger }) => {
      const blocks: Block[] = [];
      for (let i = 0; i < count; i++) {
        const { timestamp } = ledger.head.header;
        const at = i === 0 ? first : interval === undefined ? undefined : timestamp + interval;
        const clock = maker.clock.snapshot();
        if (at !== undefined) maker.clock.setNext(at, timestamp);
        else if (i === 0 && before !== undefined) maker.clock.increase(before, timestamp);
        try {
          blocks.push(await maker.seal(limits, onExecuted));
        } catch (error) {
          // The time was for this block.
          maker.clock.restore(clock);
          throw error;
        }
      }
      return blocks;
    }, limits);
  }

  /** Changes when blocks are sealed. @throws PlumblineError `INVALID_PARAMETER` for an interval out of range */
  setMining(mode: MiningMode): Promise<void> {
    requireInterval(mode);
    return this.enqueue(({ mining }) => mining.set(mode));
  }

  /** Ends mining after each transaction. Another mode stays. */
  endAutomine(): Promise<void> {
    return this.enqueue(async ({ mining }) => {
      if (mining.mode === 'auto') await mining.set('manual');
    });
  }

  /** Ends mining by interval: the mode is again the one before it. */
  endInterval(): Promise<void> {
    return this.enqueue(({ mining }) => mining.endInterval());
  }

  /** Removes the newest blocks. @throws PlumblineError as `BlockMaker.rollback` */
  rollback(depth: number): Promise<void> {
    return this.enqueue(({ maker }) => maker.rollback(depth));
  }

  /**
   * Replaces the newest blocks by as many others. Transactions of the pool stay there. Once it has begun it goes on to its end,
   * also for a request that ends early: half a reorg would leave a chain that nobody asked for.
   *
   * @param transactions - of the new blocks. One that its block refuses, for its nonce or its sender's balance, is left out as in
   *   anvil, and recorded as excluded
   * @throws PlumblineError before anything is changed: as `BlockMaker.beforeLast`, `Impersonation.send`, `parseBroadcast`,
   *   `BlockClock.next` and `executeBlock`
   */
  reorg(depth: number, transactions: readonly ReorgTransaction[], limits?: RunLimits): Promise<void> {
    return this.enqueue(async ({ settings, maker, mining, submission, ledger, state }) => {
      // A rehearsal, so that what can fail does so before: it reads what a fork has to fetch, and spends the gas of the request.
      const { to, edits } = await maker.beforeLast(depth);
      const parsed = await submission.parse(
        transactions.map(({ transaction }) => transaction),
        state.flat.at(to, limits),
      );
      const { coinbase } = maker.next;
      const { blockHash } = ledger;
      const parent = ledger.blockByNumber(to)!;
      const timestamp = maker.clock.next(parent.header.timestamp);
      const context = contextAfter(parent, settings.network, { coinbase, blockHash, timestamp });
      await executeBlock(settings.network, state, { context, transactions: parsed, edits, limits }, (error) => {
        if (!isRefusal(error)) throw error;
      });
      limits?.signal?.throwIfAborted();
      await maker.rollback(depth);
      const waiting = maker.pool.snapshot();
      await mining.withhold(async () => {
        for (let block = 0; block < depth; block++) {
          maker.pool.clear();
          for (const { transaction } of transactions.filter((added) => added.block === block)) {
            try {
              if (transaction instanceof Uint8Array) await submission.broadcast(transaction);
              else await submission.send(transaction);
            } catch (error) {
              // `accept` has recorded it.
              if (!isRefusal(error)) throw error;
            }
          }
          await maker.seal();
        }
      });
      maker.pool.restore(waiting);
      await maker.pool.prune(maker.nonceOf);
    }, limits);
  }

  /** Accounts of the newest state, pending edits included, one after the other. */
  async *accounts(): AsyncGenerator<DumpedAccount> {
    const at = await this.enqueue(async ({ maker, ledger }) => {
      return { block: ledger.head.header.number, changes: await maker.pendingChanges() };
    });
    yield* this.parts.state.flat.accountsAt(at.block, at.changes);
  }

  /** Sets the clock. @returns seconds by which it went forward */
  setTime(timestamp: number): Promise<number> {
    return this.enqueue(async ({ maker }) => maker.clock.reset(timestamp));
  }

  /**
   * Sets the chain id, of transactions and of what contracts read, from the next block on. Transactions of another chain leave the
   * pool.
   *
   * @throws PlumblineError `INVALID_PARAMETER` for a devnet with a store, which is of one chain id
   */
  setChainId(chainId: number): Promise<void> {
    return this.enqueue(async ({ settings, maker: { pool } }) => {
      if (settings.store !== undefined) {
        throw invalidParameter('chainId', 'cannot be changed on a devnet with a store; open one with this chain id');
      }
      // The network of a devnet is its own copy of the profile.
      (settings.network as { chainId: number }).chainId = chainId;
      for (const { hash, chainId: own } of pool.transactions)
        if (own !== undefined && own !== BigInt(chainId)) pool.remove(hash);
    });
  }

  /** @returns the id to revert to */
  snapshot(): Promise<number> {
    return this.enqueue(async ({ maker }) => maker.snapshot());
  }

  /** Reverts to a snapshot. @returns false if there is no such snapshot */
  revert(id: number): Promise<boolean> {
    return this.enqueue(({ maker }) => maker.revert(id));
  }

  /** Changes the state without a transaction: visible at once; on the chain, and provable, with the next block. */
  edit(...edits: readonly StateEdit[]): Promise<void> {
    return this.editAll(edits);
  }

  /** As `edit`, for many edits. */
  editAll(edits: readonly StateEdit[]): Promise<void> {
    return this.enqueue(({ maker }) => maker.edit(edits));
  }

  /** Adds to a balance, up to the largest that there is. @param address - 20 bytes @param amount - wei */
  addBalance(address: Uint8Array, amount: bigint): Promise<void> {
    return this.enqueue(async ({ maker }) => {
      const sum = ((await maker.headState.account(address))?.balance ?? 0n) + amount;
      await maker.edit([{ kind: 'balance', address, balance: sum > LARGEST ? LARGEST : sum }]);
    });
  }

  /**
   * Sends a transaction from a dev account or an impersonated account.
   *
   * @param limits - of the request. A transaction that does not end within them is not kept
   * @returns its hash, 32 bytes
   * @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS`; as `BlockMaker.seal`
   */
  send(request: TransactionRequest, limits?: RunLimits): Promise<Uint8Array> {
    return this.enqueue(({ submission }) => submission.send(request, limits), limits);
  }

  /**
   * Signs a transaction of a dev account without sending it. A nonce that is missing is that of the sender's next transaction.
   *
   * @returns its bytes, as `eth_sendRawTransaction` takes them
   * @throws PlumblineError `INVALID_PARAMETER` for another account
   */
  sign(request: TransactionRequest): Promise<Uint8Array> {
    return this.enqueue(({ submission }) => submission.sign(request));
  }

  /** Removes a transaction from the pool. @returns whether it was there */
  drop(hash: Uint8Array): Promise<boolean> {
    return this.enqueue(async ({ maker }) => maker.pool.remove(hash));
  }

  /** Removes the transactions of a sender (20 bytes) from the pool. */
  dropOf(sender: Uint8Array): Promise<void> {
    return this.enqueue(async ({ maker: { pool } }) => {
      for (const { from, hash } of pool.transactions) if (equalBytes(from, sender)) pool.remove(hash);
    });
  }

  /** Empties the pool. */
  dropAll(): Promise<void> {
    return this.enqueue(async ({ maker }) => maker.pool.clear());
  }

  /** The pool's transactions: `ready` for the next block, or `queued` behind a missing nonce. */
  poolContents(): Promise<{ ready: readonly SignedTransaction[]; queued: readonly SignedTransaction[] }> {
    return this.enqueue(async ({ maker }) => {
      const ready = await maker.pool.ready(maker.nonceOf);
      const readySet = new Set(ready);
      return { ready, queued: maker.pool.transactions.filter((transaction) => !readySet.has(transaction)) };
    });
  }

  /** Advances the clock. @returns seconds that it is now ahead of the wall clock */
  increaseTime(seconds: number): Promise<number> {
    return this.enqueue(async ({ maker, ledger }) => maker.clock.increase(seconds, ledger.head.header.timestamp));
  }

  /** @param timestamp - of the next block, seconds. @throws PlumblineError `INVALID_PARAMETER` unless it is after the head's */
  setNextTimestamp(timestamp: number): Promise<void> {
    return this.enqueue(async ({ maker, ledger }) => maker.clock.setNext(timestamp, ledger.head.header.timestamp));
  }

  /** @param seconds - between each block and the next; undefined returns to the clock */
  setTimestampInterval(seconds: number | undefined): Promise<void> {
    return this.enqueue(async ({ maker }) => maker.clock.setStep(seconds));
  }

  /** Sets the given values for the next blocks; the others stay. */
  setNextBlock(next: Partial<NextBlock>): Promise<void> {
    return this.enqueue(async ({ maker }) => {
      maker.next = { ...maker.next, ...next };
    });
  }

  /** Work that is aborted before its turn does not begin. */
  private enqueue<Result>(work: (parts: ControlParts) => Promise<Result>, limits?: RunLimits): Promise<Result> {
    return this.parts.queue.run(async () => {
      limits?.signal?.throwIfAborted();
      return work(this.parts);
    });
  }
}
