import type { Activity } from '../../scheduling/activity.js';
import type { InlineExtras } from '../options/inline-extras.js';
import type { NodeInfo, OpenProgress } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import type { Backend } from './writer.js';
import type { Channel } from './environment.js';
import type { Fingerprint } from './fingerprint.js';
import type { Rank } from './messages.js';
import type { Office } from './writer-election.js';

/** What a member of those that share a store is made of. */
export interface MemberSettings {
  readonly name: string;
  readonly rank: Rank;
  readonly fingerprint: Fingerprint;
  readonly hungAfterMs: number;
  readonly office: Office;
  readonly channel: (name: string) => Channel;
  /** Of this node's page. */
  readonly activity: Activity;
  /** Opens the node of a writer. */
  readonly open: (
    extras: Pick<InlineExtras, 'store' | 'storeFailure' | 'activity' | 'onProgress'>,
  ) => Promise<NodeTransport>;
  readonly onProgress: (progress: OpenProgress) => void;
}

/** Told how a member gets on. */
export interface MemberListener {
  /** Whoever writes now can be asked; undefined: nobody, for the moment. */
  onWriter(writer: { readonly backend: Backend; readonly info: NodeInfo } | undefined): void;
  /** It takes no part any more. */
  onEnd(error: Error): void;
  /** Whether anybody waits for an answer or an event. */
  isWaiting(): boolean;
}
