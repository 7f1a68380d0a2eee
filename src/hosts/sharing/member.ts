import { PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { SharingReport } from '../../rpc/inspection/sharing-report.js';
import { type FencedStore, storeInUse } from '../../store/fence.js';
import { SCHEMA_VERSION } from '../../store/schema.js';
import type { OpenProgress } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import { differences } from './fingerprint.js';
import { Mail } from './mail.js';
import type { MemberListener, MemberSettings } from './member-settings.js';
import type { Announcement, Letter, Said, ToFollower, ToWriter } from './messages.js';
import type { Mandate } from './office.js';
import { OtherWriter } from './other-writer.js';
import { Reign } from './reign.js';

/** How often a node that waits asks whether the writer is there, ms. */
const TICK_MS = 500;
/** A writer that opens its node may be silent for so many times as long: what it loads may keep its thread. */
const OPENING_PATIENCE = 3;
/** A background node that lets pages go first stands again after this, ms. */
const YIELD_MS = 50;
/** In ticks: how often a node says that it is there, where its end is not seen. */
const SIGN_OF_LIFE = 10;

/** Goes up when nodes say something else to each other, or store something else. */
const VERSION = SCHEMA_VERSION * 100 + 2;

/**
 * One of the nodes that share a store: stands for writer, writes when its turn comes, and until then knows who does.
 * `shared-node.ts` makes a node of it.
 */
export class Member {
  private readonly id = bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
  private readonly mail: Mail;
  private reign: Reign | undefined;
  private readonly other: OtherWriter;
  /** Ticks since the writer elsewhere was heard of. */
  private silence = 0;
  private ticks = 0;
  private patience = 1;
  private isStealing = false;
  private isClosed = false;
  private waiting = new AbortController();
  private standing: Promise<void> = Promise.resolve();
  private timer: ReturnType<typeof setInterval> | undefined;
  private disappear: () => void = () => {};
  private unwatch: () => void = () => {};

  constructor(
    private readonly settings: MemberSettings,
    private readonly listener: MemberListener,
  ) {
    this.mail = new Mail(settings.name, this.id, settings.channel, {
      hear: (said) => this.hear(said),
      read: (letter) => this.read(letter),
    });
    const post = (to: string, epoch: number, letter: Said<ToWriter>) =>
      this.mail.post(to, { from: this.id, epoch, ...letter } as ToWriter);
    this.other = new OtherWriter(
      post,
      (writer) => listener.onWriter(writer),
      (id) => this.mail.part(id),
    );
  }

  get report(): SharingReport {
    if (this.reign !== undefined) return { role: 'writer', writer: this.id, epoch: this.reign.epoch };
    const { known } = this.other;
    return { role: 'follower', ...(known !== undefined && { writer: known.id, epoch: known.epoch }) };
  }

  async start(): Promise<void> {
    const { office, rank, activity } = this.settings;
    this.disappear = await office.appear(this.id, rank);
    this.unwatch = activity.onChange(() => this.seek());
    // Before it is heard of: a background node that writes ends for a page that stands.
    this.standing = this.stand();
    this.seek();
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  /** Takes no part any more; a writer finishes what may write, and lets the next one have the store. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.reign?.leave();
    this.waiting.abort();
    await this.standing;
    clearInterval(this.timer);
    this.unwatch();
    this.other.end();
    this.mail.say({ kind: 'bye', from: this.id });
    this.mail.close();
    this.disappear();
  }

  private fail(error: Error): void {
    if (this.isClosed) return;
    this.listener.onEnd(error);
    // What goes wrong while it ends has nobody left to be told.
    this.close().catch(() => {});
  }

  /** Stands for writer, again and again. */
  private async stand(): Promise<void> {
    const { office, rank } = this.settings;
    while (!this.isClosed) {
      this.waiting = new AbortController();
      const steal = this.isStealing;
      this.isStealing = false;
      let yields = false;
      try {
        const work = async (mandate: Mandate) => {
          yields = rank === 'background' && !steal && (await office.hasPages());
          if (!yields) await this.govern(mandate);
        };
        const isAlone = () => this.other.known === undefined;
        await office.hold(work, { signal: this.waiting.signal, steal, isAlone });
      } catch (error) {
        this.fail(error as Error);
      }
      if (yields) await new Promise((resolve) => setTimeout(resolve, YIELD_MS));
    }
  }

  /** Writes, from the opening of the node to its end. */
  private async govern(mandate: Mandate): Promise<void> {
    if (this.isClosed) return;
    const { office, activity, open } = this.settings;
    let store: FencedStore | undefined;
    let storeFailure: unknown;
    try {
      store = await mandate.store();
    } catch (error) {
      // Opening the node throws it, or goes on without a store.
      storeFailure = error;
    }
    if (this.isClosed) return store?.close();
    const epoch = store?.epoch ?? Math.max(this.other.newestEpoch + 1, Date.now());
    const say = (to: string, letter: object) => {
      this.mail.post(to, { from: this.id, epoch, ...letter } as ToFollower);
    };
    const reign = new Reign(epoch, mandate, office, activity, say, () => this.leave(epoch));
    if (store !== undefined) store.onTakenOver = reign.lose;
    this.other.dismiss();
    this.other.newestEpoch = epoch;
    this.reign = reign;
    this.announce(reign);
    let node: NodeTransport | undefined;
    try {
      const onProgress = (progress: OpenProgress) => this.progress(reign, progress);
      node = await open({ store, storeFailure, activity: reign.activity, onProgress });
      if (!reign.isLeaving) {
        const backend = reign.begin(node);
        node.onStoreStatus?.(() => this.reign === reign && this.announce(reign));
        this.announce(reign);
        this.listener.onWriter({ backend, info: node.info });
        await reign.last();
      }
    } catch (error) {
      if (!reign.lost.aborted) this.fail(error as Error);
    }
    this.reign = undefined;
    reign.close();
    if (reign.lost.aborted) store?.end();
    // A node that lost its store has nothing left to say.
    await (node ?? store)?.close().catch(() => {});
  }

  private leave(epoch: number): void {
    this.listener.onWriter(undefined);
    this.mail.say({ kind: 'leaving', from: this.id, epoch });
  }

  private progress(reign: Reign, progress: OpenProgress): void {
    this.settings.onProgress(progress);
    if (this.reign !== reign || reign.info !== undefined) return;
    reign.progress = progress;
    this.announce(reign);
  }

  /** Takes what is said to all. */
  private hear(said: Announcement): void {
    if (this.isClosed) return;
    if (said.kind === 'seek') this.meet(said);
    else if (said.kind === 'writer') this.acknowledge(said);
    else if (said.kind === 'leaving') this.part(said.epoch);
    else if (this.reign !== undefined) {
      this.reign.forget(said.from);
      this.mail.part(said.from);
    }
  }

  /** Somebody looks for the writer. */
  private meet({ from, rank, isActive, version, fingerprint }: Announcement & { kind: 'seek' }): void {
    const { reign } = this;
    if (reign === undefined || reign.isLeaving) return;
    this.announce(reign);
    if (version > VERSION) this.fail(tooNew(version));
    if (version !== VERSION || differences(fingerprint, this.settings.fingerprint).length > 0) return;
    reign.meet(from, rank, isActive);
    if (this.settings.rank === 'background' && rank === 'page') reign.leave();
  }

  /** Somebody says that it writes. */
  private acknowledge({ from, epoch, ...said }: Announcement & { kind: 'writer' }): void {
    if (epoch < this.other.newestEpoch || this.reign?.epoch === epoch) return;
    if (said.version > VERSION) this.fail(tooNew(said.version));
    // One of an older version makes room for this one.
    if (said.version !== VERSION) return;
    const different = differences(said.fingerprint, this.settings.fingerprint);
    if (different.length > 0) {
      this.fail(storeInUse(`the node that writes has other options: ${different.join(', ')}`));
      return;
    }
    this.reign?.lose();
    this.silence = 0;
    if (this.other.learn(from, epoch, said.info, said.store)) this.seek();
    if (said.info === undefined && said.progress !== undefined) this.settings.onProgress(said.progress);
  }

  /** The writer elsewhere begins nothing any more. */
  private part(epoch: number): void {
    if (this.other.leave(epoch)) this.silence = 0;
  }

  /** Takes what is said to this node. */
  private read(letter: Letter): void {
    const { kind, from, epoch } = letter;
    if (kind === 'call' || kind === 'abort' || kind === 'end-session' || kind === 'ping') {
      if (this.reign?.epoch === epoch && (this.reign.info !== undefined || kind === 'ping')) this.reign.receive(letter);
      else if (kind === 'call')
        this.mail.post(from, { kind: 'gone', from: this.id, epoch, call: letter.call, begun: false });
      return;
    }
    if (kind === 'over') this.part(epoch);
    if (epoch === this.other.known?.epoch) this.silence = 0;
    this.other.receive(letter);
  }

  private tick(): void {
    this.ticks++;
    if (this.reign !== undefined) {
      this.reign.tick();
      return;
    }
    const { office, hungAfterMs } = this.settings;
    if (!office.seesEnds && this.ticks % SIGN_OF_LIFE === 0) this.seek();
    if (!this.listener.isWaiting()) {
      this.silence = 0;
      return;
    }
    const { known, isReady } = this.other;
    if (known === undefined) this.seek();
    else this.mail.post(known.id, { kind: 'ping', from: this.id, epoch: known.epoch });
    const limitMs = hungAfterMs * this.patience * (isReady ? 1 : OPENING_PATIENCE);
    if (++this.silence * TICK_MS < limitMs) return;
    // Two that take a slow writer for a dead one would take it from each other for ever.
    this.patience *= 2;
    this.silence = 0;
    this.isStealing = true;
    this.waiting.abort();
  }

  private seek(): void {
    const { rank, activity, fingerprint } = this.settings;
    const { isActive } = activity;
    this.mail.say({ kind: 'seek', from: this.id, version: VERSION, fingerprint, rank, isActive });
  }

  private announce({ epoch, info, progress, store }: Reign): void {
    const { fingerprint } = this.settings;
    this.mail.say({ kind: 'writer', from: this.id, version: VERSION, fingerprint, epoch, info, progress, store });
  }
}

function tooNew(version: number): PlumblineError<'STORE_TOO_NEW'> {
  const details = { version, supported: VERSION };
  return new PlumblineError('STORE_TOO_NEW', 'a newer version of plumbline uses the store', details);
}
