import { PlumblineError } from '../../../errors.js';

export function storeCorrupt(reason: string, cause?: unknown): PlumblineError<'STORE_CORRUPT'> {
  const details = { table: 'blocks', reason };
  return new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, details, { cause });
}

/** Error for a stored chain with another genesis, chain id or hash scheme. */
export function anotherGenesis(): PlumblineError<'STORE_CORRUPT'> {
  return storeCorrupt(
    'it began from another genesis, chain id or hash scheme; open it with its own settings, or use another store name',
  );
}

/** Error for a devnet that is not stored, or not completely. */
export function notStoredError(reason: string): PlumblineError<'STORE_UNAVAILABLE'> {
  return new PlumblineError('STORE_UNAVAILABLE', `the devnet is not stored: ${reason}`, { reason });
}
