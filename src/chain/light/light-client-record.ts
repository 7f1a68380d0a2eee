import { sha256 } from '@noble/hashes/sha2.js';
import type { LightClientStore } from '../../consensus/rules.js';
import { storeFromBytes, storeToBytes } from '../../consensus/stored.js';
import { isPlumblineError } from '../../errors.js';
import type { BeaconNetwork } from '../../networks/network.js';
import { concatBytes, copyBytes, equalBytes } from '../../primitives/bytes.js';
import type { BudgetedTable } from '../../store/budgeted-table.js';

/** The state of the light client, and the checkpoint that it comes from. */
export interface FollowedState {
  readonly store: LightClientStore;
  /** Root of the trusted beacon block that it began with, 32 bytes. */
  readonly checkpoint: Uint8Array;
}

/** Bytes of the checksum, and of the root behind it. */
const HASH_BYTES = 32;

/**
 * Stores the state of the light client for later sessions: about 51 KB. It is as safe as the storage of the origin. Damage is
 * detected, and costs one bootstrap.
 */
export class LightClientRecord {
  private readonly key: string;

  constructor(
    private readonly table: BudgetedTable | undefined,
    private readonly network: BeaconNetwork,
  ) {
    this.key = `consensus ${network.name} ${network.genesisValidatorsRoot}`;
  }

  /** @returns undefined if there is none that can be used */
  async load(): Promise<FollowedState | undefined> {
    return this.read(await this.table?.get(this.key));
  }

  /**
   * Never replaces a state of the same checkpoint by an older one, also when another page writes at the same time. A contradiction
   * counts as newer than all.
   */
  async save(state: FollowedState): Promise<void> {
    const record = concatBytes(state.checkpoint, storeToBytes(this.network, state.store));
    const bytes = concatBytes(sha256(record), record);
    if (this.table === undefined) return;
    await replaceEntry(this.table, this.key, (held) => {
      const before = this.read(held);
      return before !== undefined && isNewer(before, state) ? undefined : bytes;
    });
  }

  private read(bytes: Uint8Array | undefined): FollowedState | undefined {
    if (bytes === undefined) return undefined;
    const [checksum, record] = [bytes.subarray(0, HASH_BYTES), copyBytes(bytes, HASH_BYTES)];
    if (!equalBytes(sha256(record), checksum)) return undefined;
    try {
      const store = storeFromBytes(this.network, copyBytes(record, HASH_BYTES));
      return { store, checkpoint: copyBytes(record, 0, HASH_BYTES) };
    } catch {
      return undefined;
    }
  }
}

/** Whether the first of two states of one checkpoint is newer. States of different checkpoints are not compared. */
function isNewer(one: FollowedState, other: FollowedState): boolean {
  if (!equalBytes(one.checkpoint, other.checkpoint)) return false;
  const [a, b] = [one.store, other.store];
  if (b.contradiction !== undefined) return false;
  if (a.contradiction !== undefined) return true;
  const [slot, otherSlot] = [a.finalized.beacon.slot, b.finalized.beacon.slot];
  if (slot !== otherSlot) return slot > otherSlot;
  if ((a.next === undefined) !== (b.next === undefined)) return b.next === undefined;
  return a.optimistic.beacon.slot > b.optimistic.beacon.slot;
}

/** Most times that an entry is written again because another node was faster. */
const MAX_TRIES = 100;

/**
 * Stores an entry that several nodes write, at once: the value is made from what the store holds when it is written. An error of the
 * store is reported, not thrown.
 *
 * @param change - gives the new value for the one in the store, which may be undefined; undefined leaves it as it is
 */
export async function replaceEntry(
  table: BudgetedTable,
  key: string,
  change: (held: Uint8Array | undefined) => Uint8Array | undefined,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const held = await table.read(key);
    const isUnreadable = held === 'unreadable';
    const value = change(isUnreadable ? undefined : held);
    if (value === undefined) return;
    if (isUnreadable) return table.put(key, value);
    try {
      return await table.replace(key, held, value);
    } catch (error) {
      // Another node has written the entry since the read.
      if (!isPlumblineError(error, 'STORE_TAKEN_OVER')) return table.writer.failed(error);
    }
  }
}
