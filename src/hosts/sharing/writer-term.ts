import { type Activity, CombinedActivity } from '../../scheduling/activity.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { NodeInfo, OpenProgress } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import { LocalWriter } from './local-writer.js';
import type { MessageBody, MessageToFollower, MessageToWriter, Rank } from './peer-channels.js';
import type { WriterElection, WriterGrant } from './writer-election.js';

/** In ticks: a follower whose end cannot be detected is removed when it has not been heard of for so long. */
const MAX_SILENT_TICKS = 60;

interface Follower {
  /** Ticks since it was heard of. */
  silentTicks: number;
  readonly unwatch: () => void;
}

/** The time during which this node is the writer: from before its node is opened until after it is closed. */
export class WriterTerm {
  /** Active while this page or the page of a follower is. */
  readonly activity: CombinedActivity;
  /** Fires when another node is the writer. */
  readonly lost: AbortSignal;
  /** Whether no more calls are accepted. */
  isLeaving = false;
  info: NodeInfo | undefined;
  progress: OpenProgress | undefined;
  private writer: LocalWriter | undefined;
  private readonly followers = new Map<string, Follower>();
  private readonly losing = new AbortController();
  private readonly resigned: Promise<void>;
  private onResigned = () => {};

  /** @param onLeaving - called at once when no more calls are accepted */
  constructor(
    readonly epoch: number,
    private readonly grant: WriterGrant,
    private readonly election: WriterElection,
    activity: Activity,
    private readonly send: (to: string, message: MessageBody<MessageToFollower>) => void,
    private readonly onLeaving: () => void,
  ) {
    this.activity = new CombinedActivity(activity);
    this.lost = this.losing.signal;
    this.resigned = new Promise((resolve) => {
      this.onResigned = resolve;
    });
    if (grant.lost.aborted) this.lose();
    grant.lost.addEventListener('abort', this.lose);
  }

  /** Another node is the writer: answers from now on do not come from the stored chain, and are discarded. */
  readonly lose = (): void => {
    this.losing.abort();
    this.resign();
    this.writer?.end(this.followers.keys());
  };

  /** Begins an orderly end of the term. */
  resign(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.onLeaving();
    this.onResigned();
  }

  /** Begins to answer calls with an open node. */
  serve(node: NodeTransport): LocalWriter {
    this.info = node.info;
    this.writer = new LocalWriter(this.epoch, node, this.send);
    return this.writer;
  }

  /** Status of the node's store. */
  get store(): StoreStatus | undefined {
    return this.writer?.store.storeStatus;
  }

  /** Resolves when the term is lost, or has ended in order. */
  async untilOver(): Promise<void> {
    await this.resigned;
    if (!this.lost.aborted) await this.writer?.drain();
    this.writer?.end(this.followers.keys());
  }

  close(): void {
    this.grant.lost.removeEventListener('abort', this.lose);
    for (const { unwatch } of this.followers.values()) unwatch();
    this.activity.close();
  }

  /** A follower has announced itself. */
  heardOf(id: string, rank: Rank, isActive: boolean): void {
    const known = this.followers.get(id);
    if (known === undefined) {
      const unwatch = this.election.watch(id, rank, () => this.removeFollower(id));
      this.followers.set(id, { silentTicks: 0, unwatch });
    } else {
      known.silentTicks = 0;
    }
    this.activity.set(id, isActive);
  }

  /** A follower has ended. */
  removeFollower(id: string): void {
    this.followers.get(id)?.unwatch();
    this.followers.delete(id);
    this.activity.set(id, false);
    this.writer?.removeFollower(id);
  }

  /** Handles a message from a follower. */
  receive(message: MessageToWriter): void {
    if (this.writer !== undefined) this.writer.receive(message);
    else if (message.kind === 'ping') this.send(message.from, { kind: 'pong' });
  }

  tick(): void {
    if (this.election.detectsEnds) return;
    for (const [id, follower] of this.followers) {
      if (++follower.silentTicks > MAX_SILENT_TICKS) this.removeFollower(id);
    }
  }
}
