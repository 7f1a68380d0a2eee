import { requireLength } from '../primitives/bytes.js';

/** The requested account and slots, and the state root to verify the answer against. */
export interface ProofRequest {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each, in the order of the request. */
  readonly storageKeys: readonly Uint8Array[];
  /** State root, 32 bytes, from a source that the caller trusts. */
  readonly stateRoot: Uint8Array;
}

/** Checks the lengths of a request. @throws PlumblineError `INVALID_LENGTH` */
export function checkRequest({ address, storageKeys, stateRoot }: ProofRequest): void {
  requireLength('address', address, 20);
  requireLength('stateRoot', stateRoot, 32);
  for (const key of storageKeys) requireLength('storage key', key, 32);
}
