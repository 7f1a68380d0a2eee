import { isPlumblineError, type PlumblineError } from '../errors.js';

/** Why a store cannot be used, or no longer. */
export type StoreFailure = 'STORE_QUOTA_EXCEEDED' | 'STORE_UNAVAILABLE' | 'STORE_TOO_NEW' | 'STORE_CORRUPT';

/** Something of a store that was damaged or gone when it was opened, and has been made again from what else was there. */
export interface StoreRepair {
  readonly table: string;
  readonly reason: string;
}

/** Whether what a node learns outlives it. Plain data. */
export interface StoreStatus {
  /** `durable`: all that is to be kept is stored. `memory`: it ends with the node, or may. */
  readonly mode: 'durable' | 'memory';
  /** Code of the error that ended `durable`; left out for a node that was given no store. */
  readonly reason?: StoreFailure;
  /** The error's message. */
  readonly message?: string;
  /**
   * First block of a devnet that is not stored; left out while none is known of, and for light nodes, whose store is a cache.
   */
  readonly since?: number;
  /** What was made again as the store was opened; left out for nothing. */
  readonly repaired?: readonly StoreRepair[];
}

/** Told each time the status changes. */
export type StoreStatusListener = (status: StoreStatus) => void;

/** The status of one node's store, and who wants to know of its changes. */
export class StoreHealth {
  readonly listeners = new Set<StoreStatusListener>();
  private current: StoreStatus;

  constructor(mode: StoreStatus['mode']) {
    this.current = { mode };
  }

  get status(): StoreStatus {
    return this.current;
  }

  /** All is stored again. */
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

  /** Where what is stored ends has changed, and nothing else. */
  since(block: number): void {
    if (this.current.mode === 'memory' && this.current.since !== block) this.change({ ...this.current, since: block });
  }

  /** Something was made again. */
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

/** Whether an error is of the store, and what needs it can do without it. */
export function isStoreFailure(error: unknown): error is PlumblineError<StoreFailure> {
  return (
    isPlumblineError(error, 'STORE_QUOTA_EXCEEDED') ||
    isPlumblineError(error, 'STORE_UNAVAILABLE') ||
    isPlumblineError(error, 'STORE_TOO_NEW') ||
    isPlumblineError(error, 'STORE_CORRUPT')
  );
}
