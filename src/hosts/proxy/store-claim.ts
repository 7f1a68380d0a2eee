import { differences, type Fingerprint, fingerprintOf, storeInUse } from '../options/fingerprint.js';
import type { NodeOptions } from '../options/options.js';

/** What the name of a page's lock says: which store its proxy uses, and with which options. */
interface Claim {
  readonly storeName: string;
  readonly fingerprint: Fingerprint;
  /** Different for each claim. */
  readonly id: string;
}

const PREFIX = 'plumbline-proxy ';

/** By scope: the claim of this page, and what ends it. */
const held = new Map<string, { readonly id: string; readonly end: () => void }>();

/**
 * Claims the store of a proxy for this page, by a Web Lock, until `endProxyClaim` or the end of the page. The options of a worker are
 * those of the page that registered it last, so another chain on the store of an open page would end that page's chain.
 *
 * @param scope - of the worker
 * @returns to be called with whether the proxy was registered: then an earlier claim for the scope ends, else this one
 * @throws PlumblineError `STORE_IN_USE` while an open page uses the store with other options
 */
export async function claimProxyStore(scope: string, options: NodeOptions): Promise<(isRegistered: boolean) => void> {
  const before = held.get(scope);
  const claim = { storeName: options.storeName!, fingerprint: fingerprintOf(options), id: crypto.randomUUID() };
  // A browser that refuses locks refuses storage too, which the worker reports.
  const end = await holdLock(PREFIX + JSON.stringify(claim)).catch(() => undefined);
  if (end === undefined) return () => {};
  const { held: locks = [] } = await navigator.locks.query();
  for (const { name } of locks) {
    const other = claimOf(name);
    if (other === undefined || other.storeName !== claim.storeName || other.id === before?.id) continue;
    const different = differences(other.fingerprint, claim.fingerprint);
    if (different.length === 0) continue;
    end();
    throw storeInUse(different);
  }
  return (isRegistered) => {
    if (!isRegistered) return end();
    endProxyClaim(scope);
    held.set(scope, { id: claim.id, end });
  };
}

/** Takes back this page's claim for a scope. */
export function endProxyClaim(scope: string): void {
  held.get(scope)?.end();
  held.delete(scope);
}

/** Waits for a lock, which nothing else has. @returns a function that gives it back */
async function holdLock(name: string): Promise<() => void> {
  let end = () => {};
  const untilEnd = new Promise<void>((resolve) => {
    end = resolve;
  });
  await new Promise<void>((resolve, reject) => {
    const hold = () => {
      resolve();
      return untilEnd;
    };
    navigator.locks.request(name, hold).catch(reject);
  });
  return end;
}

/** @returns undefined for the lock of other code, which may have any name */
function claimOf(name: string | undefined): Claim | undefined {
  if (!name?.startsWith(PREFIX)) return undefined;
  try {
    const claim = JSON.parse(name.slice(PREFIX.length)) as Partial<Claim> | null;
    return typeof claim?.fingerprint === 'object' && claim.fingerprint !== null ? (claim as Claim) : undefined;
  } catch {
    return undefined;
  }
}
