import type { Channel } from './environment.js';
import type { Announcement, Letter, ToFollower, ToWriter } from './messages.js';

/** Others of this origin may use a channel of the same name. What every version says is all that is looked at. */
function isAnnouncement(data: unknown): data is Announcement {
  if (!isSigned(data)) return false;
  const { kind, epoch, version, fingerprint } = data;
  const isStanding = typeof version === 'number' && typeof fingerprint === 'object' && fingerprint !== null;
  if (kind === 'seek') return isStanding;
  if (kind === 'writer') return isStanding && typeof epoch === 'number';
  return kind === 'bye' || (kind === 'leaving' && typeof epoch === 'number');
}

const LETTERS: readonly unknown[] = [
  ...(['call', 'abort', 'end-session', 'ping'] satisfies ToWriter['kind'][]),
  ...(['reply', 'gone', 'over', 'message', 'pong'] satisfies ToFollower['kind'][]),
];

function isLetter(data: unknown): data is Letter {
  return isSigned(data) && LETTERS.includes(data.kind) && typeof data.epoch === 'number';
}

function isSigned(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && typeof (data as { from?: unknown }).from === 'string';
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
      if (isAnnouncement(data)) reader.hear(data);
    };
    this.inbox.onmessage = ({ data }) => {
      if (isLetter(data)) reader.read(data);
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
