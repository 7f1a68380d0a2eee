import type { Activity } from '../../scheduling/activity.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { NodeInfo, OpenProgress } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import { JointActivity } from './joint-activity.js';
import type { Rank, Said, ToFollower, ToWriter } from './messages.js';
import type { Mandate, Office } from './writer-election.js';
import { Writing } from './local-writer.js';

/** In ticks: for how long a node is remembered that says nothing, where its end is not seen. */
const REMEMBERED = 60;

interface Follower {
  /** Ticks since it was heard of. */
  silence: number;
  readonly unwatch: () => void;
}

/** The time during which a node writes: from the opening of its own node to its end. */
export class Reign {
  readonly activity: JointActivity;
  /** Fires when somebody else writes. */
  readonly lost: AbortSignal;
  /** It begins nothing any more. */
  isLeaving = false;
  info: NodeInfo | undefined;
  progress: OpenProgress | undefined;
  private writing: Writing | undefined;
  private readonly followers = new Map<string, Follower>();
  private readonly losing = new AbortController();
  private readonly ended: Promise<void>;
  private end = () => {};

  /** @param onOver - told at once when it begins nothing any more */
  constructor(
    readonly epoch: number,
    private readonly mandate: Mandate,
    private readonly office: Office,
    activity: Activity,
    private readonly say: (to: string, letter: Said<ToFollower>) => void,
    private readonly onOver: () => void,
  ) {
    this.activity = new JointActivity(activity);
    this.lost = this.losing.signal;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    if (mandate.lost.aborted) this.lose();
    mandate.lost.addEventListener('abort', this.lose);
  }

  /** Somebody else writes: what is answered from now on is not the store's. */
  readonly lose = (): void => {
    this.losing.abort();
    this.leave();
    this.writing?.end(this.followers.keys());
  };

  /** Has it end in order. */
  leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.onOver();
    this.end();
  }

  /** Begins to answer. */
  begin(node: NodeTransport): Writing {
    this.info = node.info;
    this.writing = new Writing(this.epoch, node, this.say);
    return this.writing;
  }

  /** Of its node. */
  get store(): StoreStatus | undefined {
    return this.writing?.store.storeStatus;
  }

  /** Answers until it is lost, or has come to its end in order. */
  async last(): Promise<void> {
    await this.ended;
    if (!this.lost.aborted) await this.writing?.drain();
    this.writing?.end(this.followers.keys());
  }

  close(): void {
    this.mandate.lost.removeEventListener('abort', this.lose);
    for (const { unwatch } of this.followers.values()) unwatch();
    this.activity.close();
  }

  /** Somebody is there. */
  meet(id: string, rank: Rank, isActive: boolean): void {
    const known = this.followers.get(id);
    if (known === undefined) {
      const unwatch = this.office.watch(id, rank, () => this.forget(id));
      this.followers.set(id, { silence: 0, unwatch });
    } else {
      known.silence = 0;
    }
    this.activity.set(id, isActive);
  }

  /** Somebody is no longer there. */
  forget(id: string): void {
    this.followers.get(id)?.unwatch();
    this.followers.delete(id);
    this.activity.set(id, false);
    this.writing?.drop(id);
  }

  /** Takes what a follower sent. */
  receive(letter: ToWriter): void {
    if (this.writing !== undefined) this.writing.receive(letter);
    else if (letter.kind === 'ping') this.say(letter.from, { kind: 'pong' });
  }

  tick(): void {
    if (this.office.seesEnds) return;
    for (const [id, follower] of this.followers) if (++follower.silence > REMEMBERED) this.forget(id);
  }
}
