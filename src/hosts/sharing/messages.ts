import type { Reply } from '../../rpc/protocol/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions/subscriptions.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { NodeInfo, OpenProgress } from '../options/options.js';
import type { Layer } from '../provider/transport.js';
import type { Fingerprint } from './fingerprint.js';

/**
 * What the nodes of one store say to each other. Announcements go to all of them, over a channel named after the store;
 * everything else to one, over a channel of its own. `from` is the sender's id, `epoch` the writer's that it is about.
 */

/** Of nodes that share a store: a `background` one writes only while there is no other. */
export type Rank = 'page' | 'background';

/** What nodes of one store say to all others. */
export type Announcement =
  /** Somebody is there and wants to know who writes; also said when its page is shown or hidden. */
  | (Standing & { readonly kind: 'seek'; readonly rank: Rank; readonly isActive: boolean })
  /** The sender writes. It can answer from the moment there is `info`. */
  | (Standing & {
      readonly kind: 'writer';
      readonly epoch: number;
      readonly info?: NodeInfo | undefined;
      readonly progress?: OpenProgress | undefined;
      /** Of its node, also said when it changes. */
      readonly store?: StoreStatus | undefined;
    })
  /** The writer begins nothing any more. */
  | { readonly kind: 'leaving'; readonly from: string; readonly epoch: number }
  | { readonly kind: 'bye'; readonly from: string };

interface Standing {
  readonly from: string;
  /** Of the code that speaks. */
  readonly version: number;
  readonly fingerprint: Fingerprint;
}

/** To the writer. Numbers of calls and sessions are the sender's. */
export type ToWriter = { readonly from: string; readonly epoch: number } & (
  | {
      readonly kind: 'call';
      readonly call: number;
      readonly layer: Layer;
      readonly payload: unknown;
      readonly session?: number | undefined;
    }
  | { readonly kind: 'abort'; readonly call: number }
  | { readonly kind: 'end-session'; readonly session: number }
  | { readonly kind: 'ping' }
);

/** From the writer. */
export type ToFollower = { readonly from: string; readonly epoch: number } & (
  | { readonly kind: 'reply'; readonly call: number; readonly reply: Reply }
  /** There will be no reply. `begun`: it may have been carried out. */
  | { readonly kind: 'gone'; readonly call: number; readonly begun: boolean }
  /** There will be none to any call; those after `last` have not even been read. */
  | { readonly kind: 'over'; readonly last: number }
  | { readonly kind: 'message'; readonly session: number; readonly message: SubscriptionMessage }
  | { readonly kind: 'pong' }
);

/** What a letter says, without who sent it. */
export type Said<L> = L extends unknown ? Omit<L, 'from' | 'epoch'> : never;

/** What comes in over the channel of one node. */
export type Letter = ToWriter | ToFollower;
