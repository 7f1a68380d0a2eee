import { PlumblineError } from '../errors.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import type { Source, Subscriber } from './method.js';

const ID_BYTES = 16;

/** The message that a subscriber gets: the `params` of an `eth_subscription` notification. */
export interface SubscriptionMessage {
  readonly subscription: Hex;
  readonly result: unknown;
}

/** A subscription. Messages wait in `held` until the caller knows its id; undefined from then on. */
interface Active {
  readonly id: Hex;
  readonly stop: () => void;
  held: unknown[] | undefined;
}

/** The subscriptions of one caller that can receive messages: one WebSocket, one provider. */
export class Subscriptions {
  private readonly active = new Map<string, Active>();
  private isClosed = false;

  constructor(
    private readonly send: (message: SubscriptionMessage) => void,
    private readonly limit: number = Number.POSITIVE_INFINITY,
  ) {}

  /**
   * The subscriber of one payload. The messages of subscriptions that it makes are held back until its reply is sent: a message whose
   * id the caller does not know yet would be lost.
   *
   * @returns `replied`: to be called when the payload is answered
   */
  subscriber(): Subscriber & { replied(): void } {
    const made: Active[] = [];
    return {
      subscribe: (source) => {
        const subscription = this.start(source);
        made.push(subscription);
        return subscription.id;
      },
      unsubscribe: (id) => {
        if (!this.end(id)) throw new PlumblineError('SUBSCRIPTION_NOT_FOUND', 'there is no such subscription', { id });
      },
      // In a later task: the reply is sent in microtasks.
      replied: () => void (made.length > 0 && setTimeout(() => this.release(made))),
    };
  }

  /** Ends all of them, and lets a request under way make no more. */
  close(): void {
    this.isClosed = true;
    for (const id of [...this.active.keys()]) this.end(id);
  }

  private start(source: Source): Active {
    if (this.isClosed) throw new PlumblineError('ABORTED', 'its session was closed', {});
    if (this.active.size >= this.limit) {
      const message = `there are ${this.limit} subscriptions already: end one first`;
      throw new PlumblineError('SUBSCRIPTION_LIMIT', message, { limit: this.limit });
    }
    const id = bytesToHex(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
    const subscription: Active = { id, stop: source((result) => this.emit(subscription, result)), held: [] };
    this.active.set(id, subscription);
    return subscription;
  }

  private emit(subscription: Active, result: unknown): void {
    if (!this.active.has(subscription.id)) return;
    if (subscription.held === undefined) this.send({ subscription: subscription.id, result });
    else subscription.held.push(result);
  }

  private release(made: readonly Active[]): void {
    for (const subscription of made) {
      const held = subscription.held ?? [];
      subscription.held = undefined;
      for (const result of held) this.emit(subscription, result);
    }
  }

  private end(id: string): boolean {
    this.active.get(id)?.stop();
    return this.active.delete(id);
  }
}
