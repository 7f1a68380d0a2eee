import { requireLength } from '../primitives/bytes.js';

/** What was asked for, and the root the answer is held against. */
export interface ProofRequest {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each, in the order of the request. */
  readonly storageKeys: readonly Uint8Array[];
  /** Root of the state, 32 bytes, from a source the caller trusts. */
  readonly stateRoot: Uint8Array;
}

/** @throws PlumblineError `INVALID_LENGTH` */
export function checkRequest({ address, storageKeys, stateRoot }: ProofRequest): void {
  requireLength('address', address, 20);
  requireLength('stateRoot', stateRoot, 32);
  for (const key of storageKeys) requireLength('storage key', key, 32);
}
