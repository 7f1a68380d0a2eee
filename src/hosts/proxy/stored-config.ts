import { openDB } from 'idb';
import { PlumblineError } from '../../errors.js';
import type { NodeOptions } from '../options/options.js';
import type { ProxyConfig } from './config.js';
import { optionSecretsOf, type Secret, urlOf, withoutSecrets } from './secrets.js';
import { type StoredTarget, storeTargets } from './targets.js';

/** A configuration as the worker stores it: without keys. */
export interface StoredConfig {
  readonly format: typeof FORMAT;
  /** 16 bytes. */
  readonly salt: Uint8Array;
  readonly targets: readonly StoredTarget[];
  readonly forward: boolean;
  readonly fallback: 'network' | 'none';
  /** URLs are replaced by their origins, keys by empty strings, headers by none. */
  readonly node: NodeOptions;
  readonly missing: readonly MissingSecret[];
}

/** A part that was left out. `target` is its index if it is one of the targets; then a request for that target restores it. */
export interface MissingSecret {
  readonly path: Secret['path'];
  readonly target?: number;
}

/** 1 had names of headers and folders of URLs as they are. */
const FORMAT = 2;
const DATABASE = 'plumbline-rpc-proxy';
const TABLE = 'configs';
const TIMEOUT_MS = 10_000;

/** The configuration without keys. @param salt - 16 bytes; random when left out */
export async function storedForm(
  { targets, forward, fallback, node }: ProxyConfig,
  salt: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): Promise<StoredConfig> {
  const secrets = optionSecretsOf(node);
  const missing = secrets.map(({ path, value }) => {
    const target = targets.indexOf(typeof value === 'string' ? (urlOf(value)?.href ?? '') : '');
    return target < 0 ? { path } : { path, target };
  });
  const stored = await storeTargets(targets, salt);
  return { format: FORMAT, salt, targets: stored, forward, fallback, node: withoutSecrets(node, secrets), missing };
}

/**
 * Stores the configuration of a scope, or deletes it.
 *
 * @throws PlumblineError `STORE_UNAVAILABLE`
 */
export function storeConfig(scope: string, config: StoredConfig | undefined): Promise<void> {
  return inDatabase(async (database) => {
    if (config === undefined) await database.delete(TABLE, scope);
    else await database.put(TABLE, config, scope);
  });
}

/**
 * Reads the configuration of a scope. Undefined when there is none, or when it has another format.
 *
 * @throws PlumblineError `STORE_UNAVAILABLE`
 */
export function loadConfig(scope: string): Promise<StoredConfig | undefined> {
  return inDatabase(async (database) => {
    const config = (await database.get(TABLE, scope)) as StoredConfig | undefined;
    return config?.format === FORMAT ? config : undefined;
  });
}

type Database = Awaited<ReturnType<typeof openDB>>;

async function inDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(`it did not answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  // A browser that blocks storage may throw where `indexedDB` is read.
  const opening = (async () =>
    openDB(DATABASE, 1, { upgrade: (database) => void database.createObjectStore(TABLE) }))();
  try {
    return await Promise.race([late, opening.then(work)]);
  } catch (error) {
    throw error instanceof PlumblineError ? error : unavailable('it cannot be opened', error);
  } finally {
    clearTimeout(timer);
    opening.then((database) => database.close()).catch(() => {});
  }
}

function unavailable(reason: string, cause?: unknown): PlumblineError<'STORE_UNAVAILABLE'> {
  const message = `the proxy's database ${DATABASE} is not available: ${reason}; check that the browser allows storage`;
  return new PlumblineError('STORE_UNAVAILABLE', message, { reason }, { cause });
}
