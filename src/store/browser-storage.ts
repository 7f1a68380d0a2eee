/**
 * What a browser may lack or refuse. Where cookies are blocked, reading `indexedDB` or `navigator.locks` can throw: that is as if they
 * were missing.
 */

export function indexedDatabases(): IDBFactory | undefined {
  return orMissing(() => globalThis.indexedDB);
}

/** Web Locks. Each request of them may still be refused. */
export function webLocks(): LockManager | undefined {
  return orMissing(() => globalThis.navigator.locks);
}

function orMissing<Value>(read: () => Value | null | undefined): Value | undefined {
  try {
    return read() ?? undefined;
  } catch {
    return undefined;
  }
}
