import type { Reply } from '../../rpc/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { Fingerprint } from '../options/fingerprint.js';
import type { NodeInfo, OpenProgress } from '../options/options.js';
import type { RemoteRequest } from '../provider/transport.js';

/** Of nodes that share a store: a `background` node writes only while there is no `page` node. */
export type Rank = 'page' | 'background';

/** A message to all nodes of one store. `from` is the id of the sender, `epoch` the epoch of the writer. */
export type PeerAnnouncement = {
  readonly from: string;
} /** The sender exists and asks for the writer. Also sent when its page is shown or hidden. */ & (
  | (SenderVersion & { readonly kind: 'seek'; readonly rank: Rank; readonly isActive: boolean })
  /** The sender is the writer. It accepts calls once `info` is set. */
  | (SenderVersion & {
      readonly kind: 'writer';
      readonly epoch: number;
      readonly info?: NodeInfo | undefined;
      readonly progress?: OpenProgress | undefined;
      /** Status of its store. The writer announces each change. */
      readonly store?: StoreStatus | undefined;
    })
  /** The writer accepts no more calls. */
  | { readonly kind: 'leaving'; readonly epoch: number }
  /** The sender is closed. */
  | { readonly kind: 'bye' }
);

interface SenderVersion {
  /** Version of the protocol and the store that the sender uses. */
  readonly version: number;
  readonly fingerprint: Fingerprint;
}

/** A message to the writer. The sender numbers its calls and sessions. */
export type MessageToWriter = { readonly from: string; readonly epoch: number } & (
  | ({ readonly kind: 'call'; readonly call: number } & RemoteRequest)
  | { readonly kind: 'abort'; readonly call: number }
  | { readonly kind: 'end-session'; readonly session: number }
  | { readonly kind: 'ping' }
);

/** A message from the writer. */
export type MessageToFollower = { readonly from: string; readonly epoch: number } & (
  | { readonly kind: 'reply'; readonly call: number; readonly reply: Reply }
  /** There will be no reply. `begun`: the call may have been carried out. */
  | { readonly kind: 'gone'; readonly call: number; readonly begun: boolean }
  /** No call will be answered any more. Calls with a number above `last` were never read. */
  | { readonly kind: 'over'; readonly last: number }
  | { readonly kind: 'message'; readonly session: number; readonly message: SubscriptionMessage }
  | { readonly kind: 'pong' }
);

/** A message to one node. */
export type PeerMessage = MessageToWriter | MessageToFollower;

/** The contents of a message, without its sender and epoch. */
export type MessageBody<M> = M extends unknown ? Omit<M, 'from' | 'epoch'> : never;
type AnnouncementBody<A> = A extends unknown ? Omit<A, 'from'> : never;

/** Other code of this origin may use channels of the same names, so only the fields common to all versions are checked. */
function isAnnouncement(data: unknown): data is PeerAnnouncement {
  if (!hasSender(data)) return false;
  const { kind, epoch, version, fingerprint } = data;
  const hasVersion = typeof version === 'number' && typeof fingerprint === 'object' && fingerprint !== null;
  if (kind === 'seek') return hasVersion;
  if (kind === 'writer') return hasVersion && typeof epoch === 'number';
  return kind === 'bye' || (kind === 'leaving' && typeof epoch === 'number');
}

const MESSAGE_KINDS: readonly unknown[] = [
  ...(['call', 'abort', 'end-session', 'ping'] satisfies MessageToWriter['kind'][]),
  ...(['reply', 'gone', 'over', 'message', 'pong'] satisfies MessageToFollower['kind'][]),
];

function isMessage(data: unknown): data is PeerMessage {
  return hasSender(data) && MESSAGE_KINDS.includes(data.kind) && typeof data.epoch === 'number';
}

function hasSender(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && typeof (data as { from?: unknown }).from === 'string';
}

/** The part of `BroadcastChannel` that is used. */
export interface Channel {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
  close(): void;
}

/**
 * The channels of one node: one to all nodes of the store, one on which this node alone listens, and one for each node that it
 * sends messages to.
 */
export class PeerChannels {
  private readonly common: Channel;
  private readonly inbox: Channel;
  private readonly outboxes = new Map<string, Channel>();
  private isClosed = false;

  /** @param name - the same for all nodes of a store; @param id - of this node */
  constructor(
    private readonly name: string,
    private readonly id: string,
    private readonly channel: (name: string) => Channel,
    listener: { onAnnouncement(announcement: PeerAnnouncement): void; onMessage(message: PeerMessage): void },
  ) {
    this.common = channel(name);
    this.inbox = channel(`${name}:${id}`);
    this.common.onmessage = ({ data }) => {
      if (isAnnouncement(data)) listener.onAnnouncement(data);
    };
    this.inbox.onmessage = ({ data }) => {
      if (isMessage(data)) listener.onMessage(data);
    };
  }

  /** Sends to all other nodes of the store. */
  broadcast(body: AnnouncementBody<PeerAnnouncement>): void {
    if (!this.isClosed) this.common.postMessage({ from: this.id, ...body });
  }

  /** Sends to one node. */
  send(to: string, epoch: number, body: MessageBody<PeerMessage>): void {
    if (this.isClosed) return;
    let channel = this.outboxes.get(to);
    if (channel === undefined) {
      channel = this.channel(`${this.name}:${to}`);
      this.outboxes.set(to, channel);
    }
    channel.postMessage({ from: this.id, epoch, ...body });
  }

  /** Closes the channel to one node. */
  closeTo(id: string): void {
    this.outboxes.get(id)?.close();
    this.outboxes.delete(id);
  }

  close(): void {
    this.isClosed = true;
    for (const channel of [this.common, this.inbox, ...this.outboxes.values()]) channel.close();
    this.outboxes.clear();
  }
}
