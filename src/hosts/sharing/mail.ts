import type { Channel } from './environment.js';
import type { Announcement, Letter } from './messages.js';

/** Others of this origin may use a channel of the same name. */
function isOurs(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'kind' in data && 'from' in data;
}

/** The channels of one node: one for all, one that it reads alone, and one for each node that it writes to. */
export class Mail {
  private readonly common: Channel;
  private readonly inbox: Channel;
  private readonly outboxes = new Map<string, Channel>();
  private isClosed = false;

  constructor(
    private readonly name: string,
    readonly id: string,
    private readonly channel: (name: string) => Channel,
    reader: { hear(said: Announcement): void; read(letter: Letter): void },
  ) {
    this.common = channel(name);
    this.inbox = channel(`${name}:${id}`);
    this.common.onmessage = ({ data }) => {
      if (isOurs(data)) reader.hear(data as Announcement);
    };
    this.inbox.onmessage = ({ data }) => {
      if (isOurs(data)) reader.read(data as Letter);
    };
  }

  /** Tells all. */
  say(announcement: Announcement): void {
    if (!this.isClosed) this.common.postMessage(announcement);
  }

  /** Tells one. */
  post(to: string, letter: Letter): void {
    if (this.isClosed) return;
    let channel = this.outboxes.get(to);
    if (channel === undefined) {
      channel = this.channel(`${this.name}:${to}`);
      this.outboxes.set(to, channel);
    }
    channel.postMessage(letter);
  }

  /** Nothing more is to be said to one. */
  part(from: string): void {
    this.outboxes.get(from)?.close();
    this.outboxes.delete(from);
  }

  close(): void {
    this.isClosed = true;
    for (const channel of [this.common, this.inbox, ...this.outboxes.values()]) channel.close();
    this.outboxes.clear();
  }
}
