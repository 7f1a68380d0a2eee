import { invalidParameter } from '../../../errors.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { SerialQueue } from '../../../scheduling/serial-queue.js';
import type { Block } from '../../chain.js';
import type { MiningMode, NextBlock } from '../options.js';
import type { StateEdit } from '../records/edits.js';
import type { Ledger } from '../records/ledger.js';
import type { BlockMaker } from './block-maker.js';
import type { Impersonation, TransactionRequest } from './impersonation.js';
import type { Intake } from './intake.js';
import type { Mining } from './mining.js';

/** Times of blocks that are made on demand, seconds. */
export interface MineTimes {
  /** Of the first; the clock's when left out. */
  readonly first?: number | undefined;
  /** From each to the one after it; the clock decides when left out. */
  readonly interval?: number | undefined;
}

/** The parts of a devnet that its control works on. */
export interface ControlParts {
  readonly maker: BlockMaker;
  readonly mining: Mining;
  readonly intake: Intake;
  readonly ledger: Ledger;
  readonly queue: SerialQueue;
}

/** What only a devnet can be told to do. Each takes its turn with the blocks and transactions before it. */
export class DevnetControl {
  constructor(private readonly parts: ControlParts) {}

  get impersonation(): Impersonation {
    return this.parts.intake.impersonation;
  }

  get mining(): MiningMode {
    return this.parts.mining.mode;
  }

  /** Time of the newest block, seconds. */
  get headTimestamp(): number {
    return this.parts.ledger.head.header.timestamp;
  }

  /**
   * Seals blocks, with whatever can run in the first of them.
   *
   * @throws PlumblineError `INVALID_PARAMETER` for a time that is not after the newest block's
   */
  mine(count: number, { first, interval }: MineTimes = {}): Promise<Block[]> {
    return this.turn(async ({ maker, ledger }) => {
      const blocks: Block[] = [];
      for (let i = 0; i < count; i++) {
        const { timestamp } = ledger.head.header;
        const at = i === 0 ? first : interval === undefined ? undefined : timestamp + interval;
        if (at !== undefined) maker.clock.setNext(at, timestamp);
        blocks.push(await maker.seal());
      }
      return blocks;
    });
  }

  /** Changes when blocks are sealed. @throws PlumblineError `INVALID_PARAMETER` for an interval that is not above zero */
  setMining(mode: MiningMode): Promise<void> {
    requireInterval(mode);
    return this.turn(({ mining }) => mining.set(mode));
  }

  /** @returns the id to revert to */
  snapshot(): Promise<number> {
    return this.turn(async ({ maker }) => maker.snapshot());
  }

  /** Goes back to a snapshot. @returns false when there is none of this id */
  revert(id: number): Promise<boolean> {
    return this.turn(({ maker }) => maker.revert(id));
  }

  /** Changes the state without a transaction. Read at once; on the chain, and provable, with the next block. */
  edit(edit: StateEdit): Promise<void> {
    return this.turn(({ maker }) => maker.edit(edit));
  }

  /**
   * Sends a transaction of a dev account or of an impersonated one.
   *
   * @returns its hash
   * @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS`
   */
  send(request: TransactionRequest): Promise<Uint8Array> {
    return this.turn(({ intake }) => intake.send(request));
  }

  /** Takes a transaction out of the pool. @returns whether it was there */
  drop(hash: Uint8Array): Promise<boolean> {
    return this.turn(async ({ maker }) => maker.pool.remove(hash));
  }

  /** Empties the pool. */
  dropAll(): Promise<void> {
    return this.turn(async ({ maker }) => maker.pool.clear());
  }

  /** What waits: those that the next block can carry, and those that wait for a nonce before theirs. */
  waiting(): Promise<{ ready: readonly SignedTransaction[]; queued: readonly SignedTransaction[] }> {
    return this.turn(async ({ maker }) => {
      const ready = await maker.pool.ready(maker.nonceOf);
      const among = new Set(ready);
      return { ready, queued: maker.pool.transactions.filter((transaction) => !among.has(transaction)) };
    });
  }

  /** Moves the clock on. @returns seconds that it is now ahead of the wall clock */
  increaseTime(seconds: number): Promise<number> {
    return this.turn(async ({ maker, ledger }) => maker.clock.increase(seconds, ledger.head.header.timestamp));
  }

  /** @param timestamp - of the next block, seconds. @throws PlumblineError `INVALID_PARAMETER` unless it is after the head's */
  setNextTimestamp(timestamp: number): Promise<void> {
    return this.turn(async ({ maker, ledger }) => maker.clock.setNext(timestamp, ledger.head.header.timestamp));
  }

  /** @param seconds - from each block to the next; undefined gives the time back to the clock */
  setTimestampInterval(seconds: number | undefined): Promise<void> {
    return this.turn(async ({ maker }) => maker.clock.setStep(seconds));
  }

  /** Sets what is given of the blocks to come, and leaves the rest. */
  setNextBlock(next: Partial<NextBlock>): Promise<void> {
    return this.turn(async ({ maker }) => {
      maker.next = { ...maker.next, ...next };
    });
  }

  private turn<Result>(work: (parts: ControlParts) => Promise<Result>): Promise<Result> {
    return this.parts.queue.run(() => work(this.parts));
  }
}

/** @throws PlumblineError `INVALID_PARAMETER` */
export function requireInterval(mode: MiningMode): void {
  if (typeof mode !== 'object' || (mode.intervalSeconds > 0 && mode.intervalSeconds <= MAX_INTERVAL_SECONDS)) return;
  throw invalidParameter('mining.intervalSeconds', `must be above 0 and at most ${MAX_INTERVAL_SECONDS}`);
}

/** Timers cannot wait much longer than that. */
const MAX_INTERVAL_SECONDS = 2_000_000;
