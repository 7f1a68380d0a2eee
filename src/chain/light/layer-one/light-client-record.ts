import { sha256 } from '@noble/hashes/sha2.js';
import type { BeaconNetwork } from '../../../consensus/networks/beacon-network.js';
import type { LightClientStore } from '../../../consensus/rules/store.js';
import { storeFromBytes, storeToBytes } from '../../../consensus/stored.js';
import { concatBytes, equalBytes } from '../../../primitives/bytes.js';
import type { BudgetedTable } from '../../../store/budgeted-table.js';

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
    const bytes = await this.table?.get(this.key);
    if (bytes === undefined) return undefined;
    const [checksum, record] = [bytes.subarray(0, HASH_BYTES), bytes.slice(HASH_BYTES)];
    if (!equalBytes(sha256(record), checksum)) return undefined;
    try {
      const store = storeFromBytes(this.network, record.slice(HASH_BYTES));
      return { store, checkpoint: record.slice(0, HASH_BYTES) };
    } catch {
      return undefined;
    }
  }

  /** Never replaces a state of the same checkpoint by an older one, which another page may have written. */
  async save({ store, checkpoint }: FollowedState): Promise<void> {
    if (this.table === undefined) return;
    const held = await this.load();
    const isOlder = held !== undefined && store.finalized.beacon.slot < held.store.finalized.beacon.slot;
    if (isOlder && store.contradiction === undefined && equalBytes(checkpoint, held.checkpoint)) return;
    const record = concatBytes(checkpoint, storeToBytes(this.network, store));
    await this.table.put(this.key, concatBytes(sha256(record), record));
  }
}
