import type { StoreStatus } from '../../store/store-status.js';
import type { NodeInfo } from '../options/options.js';
import type { Backend } from './writer.js';
import type { Said, ToFollower, ToWriter } from './messages.js';
import { RemoteNode } from './remote-writer.js';

/** The last answers of a writer may arrive after the news of the next: of one that ended in order, all of them do; ms. */
const LEFT_MS = 1_000;
const LOST_MS = 100;

/** What a node knows of the writer elsewhere. */
export class OtherWriter {
  /** Of writers with a lower one nothing is believed any more. */
  newestEpoch = 0;
  /** Once it is heard of. */
  private writer: { readonly id: string; readonly epoch: number } | undefined;
  /** Once it can be asked. */
  private remote: RemoteNode | undefined;
  /** The writer before, for what it answered last. */
  private past: RemoteNode | undefined;
  /** The newest one ends in order. */
  private hasLeft = false;

  /**
   * @param post - sends to a writer
   * @param tell - told of whoever can be asked; undefined: nobody, for the moment
   * @param part - told when nothing more is to be sent to one
   */
  constructor(
    private readonly post: (to: string, epoch: number, letter: Said<ToWriter>) => void,
    private readonly tell: (writer: { readonly backend: Backend; readonly info: NodeInfo } | undefined) => void,
    private readonly part: (id: string) => void,
  ) {}

  get known(): { readonly id: string; readonly epoch: number } | undefined {
    return this.writer;
  }

  get isReady(): boolean {
    return this.remote !== undefined;
  }

  /** Somebody writes; with `info`, it can be asked. @returns whether it is another than before */
  learn(id: string, epoch: number, info: NodeInfo | undefined, store?: StoreStatus | undefined): boolean {
    const isOther = this.writer?.epoch !== epoch || this.writer.id !== id;
    if (isOther) {
      this.dismiss();
      this.newestEpoch = epoch;
      this.writer = { id, epoch };
    }
    if (info !== undefined && this.remote === undefined) {
      const remote = new RemoteNode(epoch, (letter) => this.post(id, epoch, letter), store);
      this.remote = remote;
      this.tell({ backend: remote, info });
    }
    this.remote?.learn(store);
    return isOther;
  }

  /** It begins nothing any more. @returns whether this is the one that was known */
  leave(epoch: number): boolean {
    if (epoch !== this.writer?.epoch) return false;
    this.writer = undefined;
    this.hasLeft = true;
    // What it said before and arrives later is of the past.
    this.newestEpoch = epoch + 1;
    this.tell(undefined);
    return true;
  }

  /** Somebody else writes. */
  dismiss(): void {
    if (this.writer !== undefined) this.part(this.writer.id);
    this.writer = undefined;
    const { remote } = this;
    if (remote === undefined) return;
    this.tell(undefined);
    this.remote = undefined;
    this.past?.end();
    this.past = remote;
    setTimeout(() => remote.end(), this.hasLeft ? LEFT_MS : LOST_MS);
    this.hasLeft = false;
  }

  /** Takes what a writer sent. */
  receive(letter: ToFollower): void {
    for (const remote of [this.remote, this.past]) if (letter.epoch === remote?.epoch) remote.receive(letter);
  }

  /** Nobody waits for an answer any more. */
  end(): void {
    this.remote?.end();
    this.past?.end();
  }
}
