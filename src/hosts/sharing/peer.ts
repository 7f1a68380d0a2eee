/**
 * One of the nodes that share a store, and what it knows of the writer.
 *
 * A `Peer` waits for the lease of the writer. While it has the lease, a `Leadership` serves its own page and its followers, from before the
 * node is opened until after it is closed. While another node is, a `WriterTracker` follows that one through its announcements.
 * Writers are numbered by epochs: messages of an earlier one are ignored.
 */

import { PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { SharingReport } from '../../rpc/schema/answers.js';
import { type Activity, CombinedActivity } from '../../scheduling/activity.js';
import type { FencedStore } from '../../store/fence.js';
import { SCHEMA_VERSION } from '../../store/schema.js';
import type { StoreStatus } from '../../store/store-status.js';
import { differences, type Fingerprint, storeInUse } from '../options/fingerprint.js';
import type { InlineExtras, NodeInfo, OpenProgress } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import {
  type Channel,
  type MessageBody,
  type MessageToFollower,
  type MessageToWriter,
  type PeerAnnouncement,
  PeerChannels,
  type PeerMessage,
  type Rank,
} from './peer-channels.js';
import { LocalWriter, RemoteWriter, type Writer } from './writer.js';
import type { WriterElection, WriterLease } from './writer-election.js';

/** How often a follower with waiting requests pings the writer, ms. */
const TICK_MS = 500;
/** A writer may be silent for so many times as long while it opens its node: loading may block its thread. */
const OPENING_FACTOR = 3;
/** A background node that gives way to pages waits for the lease again after this time, ms. */
const GIVE_WAY_MS = 50;
/** In ticks: how often a node announces itself where its end cannot be detected. */
const ANNOUNCE_TICKS = 10;

/** Increased when the messages between nodes or the format of the store change. */
const VERSION = SCHEMA_VERSION * 100 + 2;

/** Settings of one of the nodes that share a store. */
export interface PeerSettings {
  /** Name of the channels; the same for all nodes of the store. */
  readonly name: string;
  readonly rank: Rank;
  readonly fingerprint: Fingerprint;
  readonly hungAfterMs: number;
  readonly election: WriterElection;
  readonly channel: (name: string) => Channel;
  /** Of this node's page. */
  readonly activity: Activity;
  /** Opens the node when this peer is the writer. */
  readonly open: (
    extras: Pick<InlineExtras, 'store' | 'storeFailure' | 'activity' | 'onProgress'>,
  ) => Promise<NodeTransport>;
  readonly onProgress: (progress: OpenProgress) => void;
}

export interface PeerListener {
  /** Called with each writer that accepts calls; undefined when there is none at present. */
  onWriter(writer: { readonly writer: Writer; readonly info: NodeInfo } | undefined): void;
  /** The peer has stopped because of an error. */
  onEnd(error: Error): void;
  /** Whether requests or subscriptions are waiting. */
  isWaiting(): boolean;
}

/**
 * One of the nodes that share a store. `SharedNode` makes a node of it.
 */
export class Peer {
  private readonly id = bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
  private readonly channels: PeerChannels;
  private readonly tracker: WriterTracker;
  /** Set while this node is the writer. */
  private leadership: Leadership | undefined;
  /** Ticks since the remote writer was heard of. */
  private silentTicks = 0;
  private ticks = 0;
  private silenceFactor = 1;
  private stealsNext = false;
  private isClosed = false;
  /** Ends the wait for the lease. */
  private attempt = new AbortController();
  private electing: Promise<void> = Promise.resolve();
  private timer: ReturnType<typeof setInterval> | undefined;
  private endPresence: () => void = () => {};
  private unwatchActivity: () => void = () => {};

  constructor(
    private readonly settings: PeerSettings,
    private readonly listener: PeerListener,
  ) {
    this.channels = new PeerChannels(settings.name, this.id, settings.channel, {
      onAnnouncement: (announcement) => this.onAnnouncement(announcement),
      onMessage: (message) => this.onMessage(message),
    });
    this.tracker = new WriterTracker(
      (to, epoch, message) => this.channels.send(to, epoch, message),
      (writer) => listener.onWriter(writer),
      (id) => this.channels.closeTo(id),
    );
  }

  get report(): SharingReport {
    if (this.leadership !== undefined) return { role: 'writer', writer: this.id, epoch: this.leadership.epoch };
    const { known } = this.tracker;
    return { role: 'follower', ...(known !== undefined && { writer: known.id, epoch: known.epoch }) };
  }

  async start(): Promise<void> {
    const { election, rank, activity } = this.settings;
    this.endPresence = await election.announcePresence(this.id, rank);
    this.unwatchActivity = activity.onChange(() => this.seek());
    // Waits for the lease before it announces itself: a background writer steps down when it hears of a page.
    this.electing = this.runElections();
    this.seek();
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  /** Ends this peer. A writer finishes the requests that may change state, and then gives up the store. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.leadership?.stepDown();
    this.attempt.abort();
    await this.electing;
    clearInterval(this.timer);
    this.unwatchActivity();
    this.tracker.close();
    this.channels.broadcast({ kind: 'bye' });
    this.channels.close();
    this.endPresence();
  }

  private fail(error: Error): void {
    if (this.isClosed) return;
    this.listener.onEnd(error);
    // The listener has been called already, so an error while closing is dropped.
    this.close().catch(() => {});
  }

  /** Leads as often as the lease is granted. */
  private async runElections(): Promise<void> {
    const { election, rank } = this.settings;
    while (!this.isClosed) {
      this.attempt = new AbortController();
      const steal = this.stealsNext;
      this.stealsNext = false;
      let givesWay = false;
      try {
        const run = async (lease: WriterLease) => {
          givesWay = rank === 'background' && !steal && (await election.hasPages());
          if (!givesWay) await this.runAsWriter(lease);
        };
        const noWriterKnown = () => this.tracker.known === undefined;
        await election.lead(run, { signal: this.attempt.signal, steal, noWriterKnown });
      } catch (error) {
        this.fail(error as Error);
      }
      if (givesWay) await new Promise((resolve) => setTimeout(resolve, GIVE_WAY_MS));
    }
  }

  /** Runs as the writer, from the opening of the node to its end. */
  private async runAsWriter(lease: WriterLease): Promise<void> {
    if (this.isClosed) return;
    const { election, activity, open } = this.settings;
    let store: FencedStore | undefined;
    let storeFailure: unknown;
    try {
      store = await lease.store();
    } catch (error) {
      // Opening the node throws it, or goes on without a store.
      storeFailure = error;
    }
    if (this.isClosed) return store?.close();
    const epoch = store?.epoch ?? Math.max(this.tracker.newestEpoch + 1, Date.now());
    const onLeaving = () => {
      this.listener.onWriter(undefined);
      this.channels.broadcast({ kind: 'leaving', epoch });
    };
    const send = (to: string, message: MessageBody<MessageToFollower>) => this.channels.send(to, epoch, message);
    const leadership = new Leadership(epoch, lease, election, activity, send, onLeaving);
    leadership.onFollowerGone = (id) => this.channels.closeTo(id);
    if (store !== undefined) store.onTakenOver = leadership.lose;
    this.tracker.forget();
    this.tracker.newestEpoch = epoch;
    this.leadership = leadership;
    this.announce(leadership);
    let node: NodeTransport | undefined;
    try {
      const onProgress = (progress: OpenProgress) => this.onProgress(leadership, progress);
      node = await open({ store, storeFailure, activity: leadership.activity, onProgress });
      if (!leadership.isLeaving) {
        const writer = leadership.serve(node);
        node.onStoreStatus?.(() => this.leadership === leadership && this.announce(leadership));
        this.announce(leadership);
        this.listener.onWriter({ writer, info: node.info });
        await leadership.untilOver();
      }
    } catch (error) {
      if (!leadership.lost.aborted) this.fail(error as Error);
    }
    this.leadership = undefined;
    leadership.close();
    if (leadership.lost.aborted) store?.end();
    // If the leadership was lost, closing may fail because the store belongs to another writer.
    await (node ?? store)?.close().catch(() => {});
  }

  private onProgress(leadership: Leadership, progress: OpenProgress): void {
    this.settings.onProgress(progress);
    if (this.leadership !== leadership || leadership.info !== undefined) return;
    leadership.progress = progress;
    this.announce(leadership);
  }

  private onAnnouncement(announcement: PeerAnnouncement): void {
    if (this.isClosed) return;
    if (announcement.kind === 'seek') this.onSeek(announcement);
    else if (announcement.kind === 'writer') this.onWriterAnnounced(announcement);
    else if (announcement.kind === 'leaving') this.onWriterLeaving(announcement.epoch);
    else if (this.leadership !== undefined) {
      this.leadership.removeFollower(announcement.from);
    }
  }

  private onSeek({ from, rank, isActive, version, fingerprint }: PeerAnnouncement & { kind: 'seek' }): void {
    const { leadership } = this;
    if (leadership === undefined || leadership.isLeaving) return;
    this.announce(leadership);
    if (version > VERSION) this.fail(tooNew(version));
    if (version !== VERSION || differences(fingerprint, this.settings.fingerprint).length > 0) return;
    leadership.heardOf(from, rank, isActive);
    if (this.settings.rank === 'background' && rank === 'page') leadership.stepDown();
  }

  private onWriterAnnounced({ from, epoch, ...other }: PeerAnnouncement & { kind: 'writer' }): void {
    if (epoch < this.tracker.newestEpoch || this.leadership?.epoch === epoch) return;
    if (other.version > VERSION) this.fail(tooNew(other.version));
    // A writer of an older version steps down when it hears of this node.
    if (other.version !== VERSION) return;
    const different = differences(other.fingerprint, this.settings.fingerprint);
    if (different.length > 0) {
      this.fail(storeInUse(different));
      return;
    }
    this.leadership?.lose();
    this.silentTicks = 0;
    if (this.tracker.announced(from, epoch, other.info, other.store)) this.seek();
    if (other.info === undefined && other.progress !== undefined) this.settings.onProgress(other.progress);
  }

  private onWriterLeaving(epoch: number): void {
    if (this.tracker.leaving(epoch)) this.silentTicks = 0;
  }

  private onMessage(message: PeerMessage): void {
    const { kind, from, epoch } = message;
    if (kind === 'call' || kind === 'abort' || kind === 'end-session' || kind === 'ping') {
      const { leadership } = this;
      if (leadership?.epoch === epoch && (leadership.info !== undefined || kind === 'ping'))
        leadership.receive(message);
      else if (kind === 'call') this.channels.send(from, epoch, { kind: 'gone', call: message.call, begun: false });
      return;
    }
    if (kind === 'over') this.onWriterLeaving(epoch);
    if (epoch === this.tracker.known?.epoch) this.silentTicks = 0;
    this.tracker.receive(message);
  }

  private tick(): void {
    this.ticks++;
    if (this.leadership !== undefined) {
      this.leadership.tick();
      return;
    }
    const { election, hungAfterMs } = this.settings;
    if (!election.detectsEnds && this.ticks % ANNOUNCE_TICKS === 0) this.seek();
    if (!this.listener.isWaiting()) {
      this.silentTicks = 0;
      return;
    }
    const { known, isReady } = this.tracker;
    if (known === undefined) this.seek();
    else this.channels.send(known.id, known.epoch, { kind: 'ping' });
    const limitMs = hungAfterMs * this.silenceFactor * (isReady ? 1 : OPENING_FACTOR);
    if (++this.silentTicks * TICK_MS < limitMs) return;
    // Waits longer each time. Otherwise two slow nodes would take the store from each other without end.
    this.silenceFactor *= 2;
    this.silentTicks = 0;
    this.stealsNext = true;
    this.attempt.abort();
  }

  private seek(): void {
    const { rank, activity, fingerprint } = this.settings;
    this.channels.broadcast({ kind: 'seek', version: VERSION, fingerprint, rank, isActive: activity.isActive });
  }

  private announce({ epoch, info, progress, store }: Leadership): void {
    const { fingerprint } = this.settings;
    this.channels.broadcast({ kind: 'writer', version: VERSION, fingerprint, epoch, info, progress, store });
  }
}

function tooNew(version: number): PlumblineError<'STORE_TOO_NEW'> {
  const message = 'a newer version of plumbline uses the store; load the page again to get the newer version';
  return new PlumblineError('STORE_TOO_NEW', message, { version, supported: VERSION });
}

/** In ticks: a follower whose end cannot be detected is removed when it has not been heard of for so long. */
const MAX_SILENT_TICKS = 60;

interface Follower {
  /** Ticks since it was heard of. */
  silentTicks: number;
  readonly unwatch: () => void;
}

/** The time during which this node is the writer: from before its node is opened until after it is closed. */
class Leadership {
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
  private readonly steppedDown: Promise<void>;
  private onStepDown = () => {};

  /** Called when nothing more is sent to a follower. */
  onFollowerGone: (id: string) => void = () => {};

  /** @param onLeaving - called at once when no more calls are accepted */
  constructor(
    readonly epoch: number,
    private readonly lease: WriterLease,
    private readonly election: WriterElection,
    activity: Activity,
    private readonly send: (to: string, message: MessageBody<MessageToFollower>) => void,
    private readonly onLeaving: () => void,
  ) {
    this.activity = new CombinedActivity(activity);
    this.lost = this.losing.signal;
    this.steppedDown = new Promise((resolve) => {
      this.onStepDown = resolve;
    });
    if (lease.lost.aborted) this.lose();
    lease.lost.addEventListener('abort', this.lose);
  }

  /** Another node is the writer: answers from now on do not come from the stored chain, and are discarded. */
  readonly lose = (): void => {
    this.losing.abort();
    this.stepDown();
    this.writer?.end(this.followers.keys());
  };

  /** Begins an orderly end of the leadership. */
  stepDown(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.onLeaving();
    this.onStepDown();
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

  /** Resolves when the leadership is lost, or has ended in order. */
  async untilOver(): Promise<void> {
    await this.steppedDown;
    if (!this.lost.aborted) await this.writer?.drain();
    this.writer?.end(this.followers.keys());
  }

  close(): void {
    this.lease.lost.removeEventListener('abort', this.lose);
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
    this.onFollowerGone(id);
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

/** Answers of the previous writer may arrive after the announcement of the next one. How long to wait for them, ms: */
const WAIT_AFTER_ORDERLY_END_MS = 1_000;
const WAIT_AFTER_LOSS_MS = 100;

/** Keeps track of the writer that runs elsewhere. */
class WriterTracker {
  /** Messages of writers with a lower epoch are ignored. */
  newestEpoch = 0;
  /** The writer, from its first announcement on. */
  private current: { readonly id: string; readonly epoch: number } | undefined;
  /** Set once the writer accepts calls. */
  private remote: RemoteWriter | undefined;
  /** The writer before this one, whose last answers may still arrive. */
  private previous: RemoteWriter | undefined;
  private endsInOrder = false;

  /**
   * @param send - sends to a writer
   * @param onWriter - called with each writer that accepts calls; undefined when there is none at present
   * @param closeChannel - called when nothing more will be sent to a writer
   */
  constructor(
    private readonly send: (to: string, epoch: number, message: MessageBody<MessageToWriter>) => void,
    private readonly onWriter: (writer: { readonly writer: Writer; readonly info: NodeInfo } | undefined) => void,
    private readonly closeChannel: (id: string) => void,
  ) {}

  get known(): { readonly id: string; readonly epoch: number } | undefined {
    return this.current;
  }

  get isReady(): boolean {
    return this.remote !== undefined;
  }

  /** A node announces that it is the writer. With `info`, it accepts calls. @returns whether it is a new writer */
  announced(id: string, epoch: number, info: NodeInfo | undefined, store?: StoreStatus | undefined): boolean {
    const isNew = this.current?.epoch !== epoch || this.current.id !== id;
    if (isNew) {
      this.forget();
      this.newestEpoch = epoch;
      this.current = { id, epoch };
    }
    if (info !== undefined && this.remote === undefined) {
      const remote = new RemoteWriter(epoch, (message) => this.send(id, epoch, message), store);
      this.remote = remote;
      this.onWriter({ writer: remote, info });
    }
    this.remote?.setStoreStatus(store);
    return isNew;
  }

  /** A writer accepts no more calls. @returns whether it was the current writer */
  leaving(epoch: number): boolean {
    if (epoch !== this.current?.epoch) return false;
    this.current = undefined;
    this.endsInOrder = true;
    // Its earlier announcements may arrive later, and are ignored.
    this.newestEpoch = epoch + 1;
    this.onWriter(undefined);
    return true;
  }

  /** Another node is the writer now. */
  forget(): void {
    if (this.current !== undefined) this.closeChannel(this.current.id);
    this.current = undefined;
    const { remote } = this;
    if (remote === undefined) return;
    this.onWriter(undefined);
    this.remote = undefined;
    this.previous?.end();
    this.previous = remote;
    setTimeout(() => remote.end(), this.endsInOrder ? WAIT_AFTER_ORDERLY_END_MS : WAIT_AFTER_LOSS_MS);
    this.endsInOrder = false;
  }

  /** Handles a message from a writer. */
  receive(message: MessageToFollower): void {
    for (const remote of [this.remote, this.previous]) if (message.epoch === remote?.epoch) remote.receive(message);
  }

  /** Rejects all calls. */
  close(): void {
    this.remote?.end();
    this.previous?.end();
  }
}
