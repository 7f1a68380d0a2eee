import { isPlumblineError, type PlumblineError } from '../errors.js';

/** Code of the error because of which a store cannot be used. */
export type StoreFailure = 'STORE_QUOTA_EXCEEDED' | 'STORE_UNAVAILABLE' | 'STORE_TOO_NEW' | 'STORE_CORRUPT';

/** Part of a store that was damaged or missing when it was opened, and was rebuilt from the rest. */
export interface StoreRepair {
  readonly table: string;
  readonly reason: string;
}

/** Whether the data of a node is stored. Plain data. */
export interface StoreStatus {
  /** `durable`: everything is stored. `memory`: some or all data ends with the node. */
  readonly mode: 'durable' | 'memory';
  /** Code of the error that ended `durable`. Left out for a node without a store. */
  readonly reason?: StoreFailure;
  /** The error's message. */
  readonly message?: string;
  /**
   * First block of a devnet that is not stored. Left out if no such block is known. Also left out for light nodes, because their store
   * is a cache.
   */
  readonly since?: number;
  /** Parts that were rebuilt when the store was opened. Left out if there were none. */
  readonly repaired?: readonly StoreRepair[];
}

/** Called each time the status changes. */
export type StoreStatusListener = (status: StoreStatus) => void;

/** The status of one node's store, and the listeners to its changes. */
export class StoreHealth {
  readonly listeners = new Set<StoreStatusListener>();
  private current: StoreStatus;

  constructor(mode: StoreStatus['mode']) {
    this.current = { mode };
  }

  get status(): StoreStatus {
    return this.current;
  }

  /** Everything is stored again. */
  durable(): void {
    if (this.current.mode !== 'durable') this.change({ mode: 'durable', ...this.repairs() });
  }

  /** @param since - first block that is not stored */
  memory(error: PlumblineError<StoreFailure>, since?: number): void {
    const { mode, reason } = this.current;
    if (mode === 'memory' && reason === error.code && this.current.since === since) return;
    const { code, message } = error;
    this.change({ mode: 'memory', reason: code, message, ...(since !== undefined && { since }), ...this.repairs() });
  }

  /** Changes only the first block that is not stored. */
  since(block: number): void {
    if (this.current.mode === 'memory' && this.current.since !== block) this.change({ ...this.current, since: block });
  }

  /** Adds a part that was rebuilt. */
  repaired(repair: StoreRepair): void {
    this.change({ ...this.current, repaired: [...(this.current.repaired ?? []), repair] });
  }

  private repairs(): Pick<StoreStatus, 'repaired'> {
    return this.current.repaired === undefined ? {} : { repaired: this.current.repaired };
  }

  private change(status: StoreStatus): void {
    this.current = status;
    for (const listener of this.listeners) listener(status);
  }
}

/** Whether an error is of the store, so that a node can go on without it. */
export function isStoreFailure(error: unknown): error is PlumblineError<StoreFailure> {
  return (
    isPlumblineError(error, 'STORE_QUOTA_EXCEEDED') ||
    isPlumblineError(error, 'STORE_UNAVAILABLE') ||
    isPlumblineError(error, 'STORE_TOO_NEW') ||
    isPlumblineError(error, 'STORE_CORRUPT')
  );
}
