import { NEVER_ACTIVE, surroundingActivity } from '../../scheduling/activity.js';
import type { InlineExtras } from '../options/inline-extras.js';
import type { NodeOptions } from '../options/options.js';
import { REQUEST_TIMEOUT_MS } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import { environmentOf, type SharingEnvironment } from './environment.js';
import { fingerprintOf } from './fingerprint.js';
import { Member } from './candidate.js';
import type { Rank } from './messages.js';
import { LockOffice, type Office } from './writer-election.js';
import { SharedNode } from './shared-node.js';

const HUNG_AFTER_MS = 10_000;

/** How nodes share a store. */
export interface SharingOptions {
  /** Opens the node of a writer, on the store in `extras`. It is called again each time the turn to write comes. */
  readonly open: (options: NodeOptions, extras: InlineExtras) => Promise<NodeTransport>;
  /** Loads what `open` needs later, where that is loaded at all; a node that others answer for may be offline by then. */
  readonly load?: (options: NodeOptions) => Promise<unknown>;
  /**
   * `background`, for what the browser may stop while pages go on (service workers): it lets a page's node write as soon as
   * there is one, and does not keep a light node polling unless `extras.activity` says so. `page` when left out.
   */
  readonly rank?: Rank;
  /**
   * For how long a writer may be silent, while others wait for it, before one of them takes its place, ms; 10 000 when left
   * out.
   */
  readonly hungAfterMs?: number;
  /** Instead of the browser's. */
  readonly environment?: Partial<SharingEnvironment>;
}

/**
 * Opens a node on a store that other pages and workers use too: one of them writes, and answers for the others. When it
 * ends, however that comes about, another takes over from what is stored; what lives in memory alone (transactions that
 * wait for a block, snapshots, the clock, filters) ends with the writer. Requests under way are asked for again, but
 * those that would happen twice: they are answered with `OUTCOME_UNKNOWN`.
 *
 * Options of `chain` (but for where data comes from), the gas search and which dictionary it is have to be those of the
 * others.
 *
 * @returns a node of its own for one that is not to be stored under a name, or where pages cannot reach each other; that takes
 *   the store over from whoever had it
 * @throws PlumblineError `STORE_IN_USE` when the writer has other options, `STORE_TOO_NEW`; of opening the node
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
  let office: Office;
  if (locks === undefined) {
    const { LeaseOffice } = await import('./lease-election.js');
    office = new LeaseOffice(hungAfterMs, openStore);
  } else {
    office = new LockOffice(locks, name, openStore);
  }
  const node = new SharedNode(options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
  const settings = {
    name,
    rank,
    fingerprint: fingerprintOf(options),
    hungAfterMs,
    office,
    channel,
    activity: extras.activity ?? (rank === 'page' ? surroundingActivity() : NEVER_ACTIVE),
    open: (own: Pick<InlineExtras, 'store' | 'storeFailure' | 'activity' | 'onProgress'>) =>
      open(options, { ...extras, ...own }),
    onProgress: (progress: Parameters<NonNullable<InlineExtras['onProgress']>>[0]) => extras.onProgress?.(progress),
  };
  let member: Member | undefined;
  try {
    member = new Member(settings, node);
    await member.start();
  } catch {
    await member?.close();
    // Neither locks nor channels for this origin: then there is no store either, and opening the node says so.
    return open(options, extras);
  }
  try {
    await node.join(member);
    // It is tried again when it is needed.
    sharing.load?.(options).catch(() => {});
    return node;
  } catch (error) {
    await member.close();
    throw error;
  }
}
