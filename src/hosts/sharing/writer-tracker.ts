import type { StoreStatus } from '../../store/store-status.js';
import type { NodeInfo } from '../options/options.js';
import type { MessageBody, MessageToFollower, MessageToWriter } from './peer-channels.js';
import { RemoteWriter } from './remote-writer.js';
import type { Writer } from './writer.js';

/** Answers of the previous writer may arrive after the announcement of the next one. How long to wait for them, ms: */
const WAIT_AFTER_ORDERLY_END_MS = 1_000;
const WAIT_AFTER_LOSS_MS = 100;

/** Keeps track of the writer that runs elsewhere. */
export class WriterTracker {
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
