import { PlumblineError } from '../errors.js';

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
export function requireLength(what: string, bytes: Uint8Array, expected: number): void {
  if (bytes.length === expected) return;
  const message = `${what}: expected ${expected} bytes, got ${bytes.length}`;
  throw new PlumblineError('INVALID_LENGTH', message, { what, expected: String(expected), actual: bytes.length });
}

/** @throws PlumblineError `INVALID_LENGTH` */
export function checkRequest({ address, storageKeys, stateRoot }: ProofRequest): void {
  requireLength('address', address, 20);
  requireLength('stateRoot', stateRoot, 32);
  for (const key of storageKeys) requireLength('storage key', key, 32);
}
