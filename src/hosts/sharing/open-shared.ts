import { NEVER_ACTIVE, surroundingActivity } from '../../scheduling/activity.js';
import { indexedDatabases, webLocks } from '../../store/browser-storage.js';
import type { PageStore } from '../../store/page-store.js';
import { fingerprintOf } from '../options/fingerprint.js';
import type { InlineExtras } from '../options/options.js';
import { NODE_OPTIONS, type NodeOptions } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import { Peer, type PeerSettings } from './peer.js';
import type { Channel, Rank } from './peer-channels.js';
import { SharedNode } from './shared-node.js';
import { LockElection, type Locks, type WriterElection } from './writer-election.js';

const HUNG_AFTER_MS = 10_000;

/** How nodes share a store. */
export interface SharingOptions {
  /** Opens the node of a writer, on the store in `extras`. It is called again each time this node becomes the writer. */
  readonly open: (options: NodeOptions, extras: InlineExtras) => Promise<NodeTransport>;
  /** Loads the code that `open` needs later, if any. A follower that becomes the writer may be offline by then. */
  readonly load?: (options: NodeOptions) => Promise<unknown>;
  /**
   * `page` when left out. `background` is for nodes that the browser may stop while pages go on, such as in a service worker.
   * A background node gives way to the node of a page, and does not keep a light node polling unless `extras.activity` is
   * active.
   */
  readonly rank?: Rank;
  /**
   * How long a writer may be silent while other nodes wait for it, in ms. Then one of them takes its place. 10 000 when left out.
   */
  readonly hungAfterMs?: number;
  /** Replaces parts of the browser's. */
  readonly environment?: Partial<SharingEnvironment>;
}

/** What nodes that share a store need of the browser. Tests pass their own. */
export interface SharingEnvironment {
  /** Undefined where there are no Web Locks. Then a lease in the store is used. */
  readonly locks: Locks | undefined;
  readonly channel: (name: string) => Channel;
  /** @throws PlumblineError of the store */
  readonly openStore: (name: string, options: NodeOptions) => Promise<PageStore>;
}

/**
 * Opens a node on a store that other pages and workers use too. One of the nodes is the writer and answers for the others. When
 * it ends in any way, another one takes over with the stored chain. Data in memory ends with the writer: transactions that wait
 * for a block, snapshots, the clock, filters. Requests under way are sent again to the next writer; those that are not idempotent
 * are answered with `OUTCOME_UNKNOWN`.
 *
 * All nodes of a store need the same options of `chain` (except for its endpoints), gas search and dictionary.
 *
 * @returns a node that shares nothing if there is no `storeName`, or if pages cannot reach each other; in the latter case it
 *   takes the store over from its writer
 * @throws PlumblineError `STORE_IN_USE` when the writer has other options; `STORE_TOO_NEW` when it has a newer version of
 *   plumbline; the errors of opening the node
 */
export async function openShared(
  options: NodeOptions,
  extras: InlineExtras,
  sharing: SharingOptions,
): Promise<NodeTransport> {
  const { open, rank = 'page', hungAfterMs = HUNG_AFTER_MS } = sharing;
  const environment = environmentOf(sharing.environment);
  if (options.storeName === undefined || extras.store !== undefined || environment === undefined) {
    return open(options, extras);
  }
  const { storeName } = options;
  const { locks, channel } = environment;
  const name = `plumbline-writer-${storeName}`;
  const openStore = () => environment.openStore(storeName, options);
  const node = new SharedNode(options.requestTimeoutMs ?? NODE_OPTIONS.requestTimeoutMs.or);
  const settings: Omit<PeerSettings, 'election'> = {
    name,
    rank,
    fingerprint: fingerprintOf(options),
    hungAfterMs,
    channel,
    activity: extras.activity ?? (rank === 'page' ? surroundingActivity() : NEVER_ACTIVE),
    open: (own) => open(options, { ...extras, ...own }),
    onProgress: (progress) => extras.onProgress?.(progress),
  };
  const started = async (election: WriterElection) => {
    const peer = new Peer({ ...settings, election }, node);
    try {
      await peer.start();
      return peer;
    } catch (error) {
      await peer.close();
      throw error;
    }
  };
  const byLease = async () => {
    const { LeaseElection } = await import('./lease-election.js');
    return started(new LeaseElection(hungAfterMs, openStore));
  };
  let peer: Peer;
  try {
    // Locks that the browser refuses, as it may where cookies are blocked, are as good as none.
    peer = await (locks === undefined ? byLease() : started(new LockElection(locks, name, openStore)).catch(byLease));
  } catch {
    // An origin without locks and channels has no store either. Opening the node reports that.
    return open(options, extras);
  }
  try {
    await node.join(peer);
    // If this fails, `open` loads the code when it needs it.
    sharing.load?.(options).catch(() => {});
    return node;
  } catch (error) {
    await peer.close();
    throw error;
  }
}

/** @returns undefined where nodes cannot reach each other */
function environmentOf(given: Partial<SharingEnvironment> = {}): SharingEnvironment | undefined {
  if (typeof BroadcastChannel === 'undefined' || (given.openStore === undefined && indexedDatabases() === undefined)) {
    return undefined;
  }
  return {
    locks: webLocks(),
    channel: (name) => new BroadcastChannel(name),
    openStore: async (name, { storage }) => {
      const { openIdbStore } = await import('../../store/idb-store.js');
      return openIdbStore(name, { durability: storage?.durability });
    },
    ...given,
  };
}
